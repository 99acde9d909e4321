/** The dashboard's page. The screen is most of the script, and only those who open a pane load it. */
import { bundlePage } from "../../pages/bundlePage.mjs";

await bundlePage({ name: "dashboard/page", scripts: { page: "main.tsx" }, packages: ["preact", "@xterm/xterm"] });
