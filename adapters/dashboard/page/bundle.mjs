/** The dashboard's page. xterm is most of the script, and is loaded only with the first pane. */
import { bundlePage } from "../../pages/bundlePage.mjs";

await bundlePage({
  name: "dashboard/page",
  scripts: { page: "main.tsx" },
  packages: ["preact", "@xterm/xterm"],
  worker: "serviceWorker.ts",
});
