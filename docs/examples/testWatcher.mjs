// Prints when a test watcher's tests turn red or green: node testWatcher.mjs PANE
// It misses no summary, not even one printed between two waits: each wait continues where the previous one ended.
import { readFileSync } from "node:fs";
import { createClient } from "tmuxwire/client";

const url = process.env.TMUXWIRE_URL ?? "http://127.0.0.1:7420";
const tokenFile = process.env.TMUXWIRE_TOKEN_FILE ?? `${process.env.HOME}/.local/state/tmuxwire/token`;
const token = readFileSync(tokenFile, "utf8").trim();
const pane = createClient({ url, token })
  .server("main")
  .pane(process.argv[2] ?? "tests");

let from = "tail:1000";
let before;
for (;;) {
  let answer;
  try {
    answer = await pane.wait({ pattern: { regex: "\\d+ passed|\\d+ failed" }, from, timeoutMs: 3_600_000 });
  } catch (error) {
    // An hour without a test run is not an error; stop once the pane is gone.
    if (error.code === "TIMEOUT") continue;
    if (error.code === "NOT_FOUND") break;
    throw error;
  }
  const [{ text, to }] = answer.matched;
  const state = text.endsWith("failed") ? "red" : "green";
  if (state !== before) console.log(`${state}: ${text}`);
  before = state;
  from = to;
}
