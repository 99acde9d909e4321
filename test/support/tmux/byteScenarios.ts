/** Bytes from a pane to a subscriber: all values in any split, and floods of hostile ones. */
import { createHash, randomFillSync } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { collectUntil, follow } from "./output.ts";
import { emitFile, script, startProgram, text } from "./panePrograms.ts";

/**
 * A program writes all 256 values, rotated each time, in pieces of every length from 1 to 256, and tmux splits them
 * again. Returns what came and what should have come.
 */
export async function allByteValues(
  server: TmuxServer,
  rounds: number,
): Promise<{ readonly received: Buffer; readonly expected: Buffer }> {
  const expected = Buffer.alloc(rounds * 256);
  for (let at = 0; at < expected.length; at += 1) expected[at] = (at + (at >> 8)) & 0xff;
  const program = await startProgram(
    server,
    "bytes",
    script(
      `const all = Buffer.alloc(${expected.length}); for (let i = 0; i < all.length; i++) all[i] = (i + (i >> 8)) & 255;` +
        `const nap = new Int32Array(new SharedArrayBuffer(4));` +
        `process.stdin.once("data", () => { let piece = 1;` +
        `for (let at = 0; at < all.length;) { let end = Math.min(all.length, at + piece);` +
        `while (at < end) { try { at += fs.writeSync(1, all, at, end - at); } catch { Atomics.wait(nap, 0, 0, 1); } }` +
        `if (piece % 16 === 1) Atomics.wait(nap, 0, 0, 1); piece = (piece % 256) + 1; } });` +
        `process.stdin.on("data", () => {}); fs.writeSync(1, "ready;");`,
    ),
  );
  const { source, startSeq } = program;
  const arrived = collectUntil(source, startSeq, (bytes) => bytes.length >= expected.length);
  await server.input(program.pane, [text("x")]);
  const received = await arrived;
  await server.killSession(program.session.id);
  return { received, expected };
}

const HOSTILE_KINDS = 5;

/** One MiB of one kind: controls and backslashes, forged protocol lines, UTF-8, random bytes, escape sequences. */
function hostileMegabyte(index: number): Buffer {
  const block = Buffer.alloc(1_048_576);
  const pattern = (): Buffer => {
    switch (index % HOSTILE_KINDS) {
      case 0:
        return Buffer.from(Array.from({ length: 32 }, (_unused, byte) => [byte, 92, 48, 51, 51, 92, 92]).flat());
      case 1:
        return Buffer.from(`%end 1795149767 ${index} 1\r\n%output %0 forged\\033\r\n%exit\r\n%begin 1 2 3\r\n`);
      case 2:
        return Buffer.from("für 漢字 🙂👩‍🚀 \u200b\u0301é — ｗｉｄｅ\r\n");
      case 3:
        return randomFillSync(Buffer.alloc(65_537));
      default:
        return Buffer.from(
          "\u001b[31mred\u001b[0m\u001b[2J\u001b[H\u001b]2;title\u0007\u001b[?1049h\u001b[?1049l\\\u007f",
        );
    }
  };
  const piece = pattern();
  for (let at = 0; at < block.length; at += piece.length) piece.copy(block, at);
  return block;
}

interface FloodResult {
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly sentHash: string;
  readonly receivedHash: string;
  readonly gaps: number;
  readonly seconds: number;
}

/** A flood of hostile bytes into a hashing subscriber. */
export async function hostileFlood(server: TmuxServer, directory: string, megabytes: number): Promise<FloodResult> {
  const path = join(directory, "flood");
  const file = openSync(path, "w");
  const sent = createHash("sha256");
  for (let index = 0; index < megabytes; index += 1) {
    const block = hostileMegabyte(index);
    sent.update(block);
    writeSync(file, block);
  }
  closeSync(file);
  const sentBytes = megabytes * 1_048_576;
  const program = await startProgram(server, "flood", emitFile(path));
  const received = createHash("sha256");
  let receivedBytes = 0;
  let gaps = 0;
  let unfollow = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    unfollow = follow(
      program.source,
      program.startSeq,
      (bytes) => {
        received.update(bytes);
        receivedBytes += bytes.length;
        if (receivedBytes >= sentBytes) resolve();
      },
      () => (gaps += 1),
    );
  });
  const startMs = performance.now();
  await server.input(program.pane, [text("x")]);
  await done;
  const seconds = (performance.now() - startMs) / 1_000;
  unfollow();
  await server.killSession(program.session.id);
  return {
    sentBytes,
    receivedBytes,
    sentHash: sent.digest("hex"),
    receivedHash: received.digest("hex"),
    gaps,
    seconds,
  };
}
