/** Records the golden transcripts anew from the tmux on this machine: `node test/golden/record.mjs [scene …]`. */
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const recorder = await runnerImport(fileURLToPath(new URL("../support/tmux/recordGolden.ts", import.meta.url)));
await recorder.module.recordGolden(import.meta.dirname, process.argv.slice(2));
