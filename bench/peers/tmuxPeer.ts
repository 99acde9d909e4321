/**
 * tmux as scripts use it: a process per command, and a look at the screen every 100 ms. With `PEER_WAY=pipe` panes are
 * followed by `pipe-pane` into files, which are read as they grow.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { tmuxProcess } from "../baseline.ts";
import {
  END_OF_LINES,
  HISTORY_LINES,
  INTERRUPT_MS,
  LineCount,
  PAUSE_MS,
  PeerTask,
  peerToken,
  POLL_MS,
  polled,
  QUIET_MS,
  ranOf,
  unixMsNow,
  withStatus,
} from "./peerDriver.ts";

const task = new PeerTask();
const socketPath = join(task.directory, "tmux.sock");
const isPiped = process.env["PEER_WAY"] === "pipe";

const tmux = (...args: readonly string[]): Promise<string> => tmuxProcess(socketPath, args);
const type = (keys: string): Promise<string> => tmux("send-keys", "-t", "peer", "-l", "--", keys);
const enter = (): Promise<string> => tmux("send-keys", "-t", "peer", "Enter");
const screen = (): Promise<string> => tmux("capture-pane", "-p", "-t", "peer");
const history = (pane: string): Promise<string> => tmux("capture-pane", "-p", "-t", pane, "-S", `-${HISTORY_LINES}`);

const startPane = (): Promise<string> =>
  tmux(
    "-f",
    "/dev/null",
    "new-session",
    "-d",
    "-P",
    "-F",
    "#{pane_id}",
    "-s",
    "peer",
    "-x",
    "90",
    "-y",
    "24",
    ...task.argv,
  );

/** Reads a file that `pipe-pane` appends to, whatever is new in it. */
function pipeReader(path: string, onText: (text: string) => void): { read(): void; close(): void } {
  const fd = openSync(path, "a+");
  const buffer = Buffer.alloc(65_536);
  let at = 0;
  return {
    read: () => {
      for (;;) {
        const read = readSync(fd, buffer, 0, buffer.length, at);
        if (read === 0) return;
        at += read;
        onText(buffer.toString("latin1", 0, read));
      }
    },
    close: () => closeSync(fd),
  };
}

async function echo(): Promise<void> {
  await polled(async () => (await screen()).includes("ready!"));
  await task.begin();
  for (let at = 0; at < task.count; at += 1) {
    const token = peerToken();
    const startMs = performance.now();
    await type(token);
    await polled(async () => (await screen()).includes(token));
    task.say("sample", performance.now() - startMs);
  }
}

async function text(): Promise<void> {
  await polled(async () => (await screen()).includes("ready!"));
  await task.begin();
  for (let at = 0; at < task.count; at += 1) {
    await type("g");
    await polled(async () => (await screen()).includes(`late-${at}.`));
    task.say("known", at, unixMsNow());
  }
}

/** `wait-for` tells when the command has ended; the screen and its history say how. */
async function run(): Promise<void> {
  await polled(async () => (await screen()).includes("$"));
  await task.begin();
  for (let at = 0; at < task.count; at += 1) {
    const command = (await task.heard()) ?? "";
    const startMs = performance.now();
    await type(`${withStatus(command)}; tmux -S ${socketPath} wait-for -S peer-${at}`);
    await enter();
    await tmux("wait-for", `peer-${at}`);
    const { status, hex } = ranOf(await tmux("capture-pane", "-p", "-J", "-t", "peer", "-S", "-"), command);
    task.say("ran", performance.now() - startMs, status, hex);
  }
}

async function follow(): Promise<void> {
  const panes = [await startPane()];
  while (panes.length < task.count) {
    panes.push(await tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "peer", ...task.argv));
  }
  const over = new AbortController();
  const followers = panes.map((name, at) => {
    const pane = name.trim();
    const count = new LineCount();
    const path = join(task.directory, `pipe-${at}`);
    const reader = isPiped ? pipeReader(path, (piece) => count.piece(piece)) : undefined;
    const look = async (): Promise<void> => {
      if (reader === undefined) count.screen(await history(pane));
      else reader.read();
    };
    const open = async (): Promise<void> => {
      if (isPiped) await tmux("pipe-pane", "-t", pane, `exec cat >> ${path}`);
    };
    const loop = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await look();
        await delay(POLL_MS);
      }
      await look();
      reader?.close();
    };
    return { count, open, loop };
  });
  for (const { open } of followers) await open();
  await task.begin();
  const running = followers.map(({ loop }) => loop());
  await task.heard();
  over.abort();
  await Promise.all(running);
  for (const { count } of followers) task.say("seen", count.seen);
}

async function lines(): Promise<void> {
  const path = join(task.directory, "pipe-lines");
  const count = new LineCount();
  let isOver = false;
  const reader = isPiped
    ? pipeReader(path, (piece) => {
        isOver ||= piece.includes(END_OF_LINES);
        count.piece(piece);
      })
    : undefined;
  if (isPiped) await tmux("pipe-pane", "-t", "peer", `exec cat >> ${path}`);
  await task.begin();
  const startMs = performance.now();
  await enter();
  await polled(async () => {
    if (reader === undefined) {
      const captured = await history("peer");
      count.screen(captured);
      isOver = captured.includes(END_OF_LINES);
    } else reader.read();
    return isOver;
  });
  reader?.close();
  task.say("sample", performance.now() - startMs);
  task.say("seen", count.seen);
}

/** Waits for a screen that is still, types, pauses, and presses Enter. */
async function prompt(given: string): Promise<string> {
  let before = await screen();
  for (let stillMs = 0; stillMs < QUIET_MS; stillMs += POLL_MS) {
    await delay(POLL_MS);
    const now = await screen();
    if (now !== before) stillMs = -POLL_MS;
    before = now;
  }
  await type(given);
  await delay(PAUSE_MS);
  await enter();
  return "delivered";
}

async function launch(line: string): Promise<void> {
  await tmux("send-keys", "-t", "peer", "C-c");
  await delay(INTERRUPT_MS);
  await type(line);
  await enter();
}

const JOBS: Readonly<Record<string, () => Promise<void>>> = { echo, text, run, follow, lines };

task.say("tmux", socketPath);
if (task.job !== "follow") await startPane();
if (task.job === "prompts") await task.serve(launch, prompt);
else {
  await JOBS[task.job]!();
  await task.end();
}
process.exit(0);
