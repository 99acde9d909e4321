/** Runs in a pane: for each byte typed it waits, prints `late-AT.` and notes the moment: `lateText FILE DELAY_MS…`. */
import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { unixMsNow } from "./peerDriver.ts";

const [path = "", ...delays] = process.argv.slice(2);
process.stdin.setRawMode(true);
process.stdout.write("ready!\r\n");
let at = 0;
process.stdin.on("data", () => {
  void print(at);
  at += 1;
});

async function print(mine: number): Promise<void> {
  await delay(Number(delays[mine]));
  const printedMs = unixMsNow();
  process.stdout.write(`late-${mine}.\r\n`);
  appendFileSync(path, `${mine} ${printedMs}\n`);
}
