/** A pane that a test prints in through its terminal, without a program in between, and whose ring is full. */
import { openSync, writeSync } from "node:fs";
import type { ServerClient } from "../../../adapters/client/client.ts";

/** More than a ring and the buffer behind it hold (`DEFAULT_RING_BYTES`). */
const FILL_BYTES = 1_400_000;
const PARTS = 20;
const TIMEOUT_MS = 20_000;

/** The descriptor of its terminal; the caller closes it. */
export async function filledPane(server: ServerClient, name: string): Promise<number> {
  await server.createSession({ name, command: ["sleep", "100000"] });
  const pane = server.pane(name);
  const fd = openSync((await pane.info()).tty, "w");
  const filling = Buffer.alloc(FILL_BYTES / PARTS, `${"x".repeat(69)}\n`);
  for (let part = 0; part < PARTS; part += 1) {
    for (let at = 0; at < filling.length;) at += writeSync(fd, filling, at);
  }
  const end = `${name} is full`;
  writeSync(fd, `${end}\n`);
  await pane.wait({ pattern: { literal: end }, from: "tail:100", timeoutMs: TIMEOUT_MS });
  return fd;
}
