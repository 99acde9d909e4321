/** The device's page; screens, the editor and conversations are loaded with their first pane. */
import { bundlePage } from "../../pages/bundlePage.mjs";

await bundlePage({
  name: "freshell/page",
  scripts: { page: "deviceMain.tsx", heartbeat: "device/heartbeatWorker.ts" },
  packages: [
    "preact",
    "@xterm/xterm",
    "valibot",
    "@codemirror/commands",
    "@codemirror/language",
    "@codemirror/search",
    "@codemirror/state",
    "@codemirror/view",
    "@lezer/common",
    "@lezer/highlight",
    "@marijn/find-cluster-break",
    "crelt",
    "style-mod",
    "w3c-keyname",
  ],
});
