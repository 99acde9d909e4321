/** The device's page; screens, the editor and conversations come when the first pane of theirs is shown. */
import { bundlePage } from "../../pages/bundlePage.mjs";

await bundlePage({
  name: "freshell/page",
  scripts: { page: "deviceMain.tsx", beat: "device/beatWorker.ts" },
  packages: ["preact", "@xterm/xterm", "valibot"],
});
