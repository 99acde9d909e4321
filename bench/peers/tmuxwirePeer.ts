/** tmuxwire as programs use it: a daemon, its unix socket and the typed client. The daemon's CPU time is this process's. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient, type PaneClient, TmuxwireError } from "../../adapters/client/client.ts";
import { unixFetch } from "../../adapters/serving/unixFetch.ts";
import { check } from "../figures.ts";
import { END_OF_LINES, INTERRUPT_MS, LineCount, PeerTask, peerToken, unixMsNow } from "./peerDriver.ts";
import { TMUXWIRE } from "./peerFiles.ts";

/** The stand-in program looks like Claude Code. */
const PROFILE = "claude";
const READY_WITHIN_MS = 2_000;

const task = new PeerTask();
const runtime = join(task.directory, "run");
mkdirSync(runtime, { mode: 0o700 });
const tmuxSocketPath = join(runtime, "tmuxwire/tmux.sock");
const env = {
  PATH: process.env["PATH"] ?? "",
  HOME: task.directory,
  XDG_RUNTIME_DIR: runtime,
  XDG_STATE_HOME: join(task.directory, "state"),
  TMUXWIRE_PORT: "0",
  SHELL: "/bin/sh",
};
const daemon = spawn(process.execPath, [TMUXWIRE, "serve", "--only", "native"], {
  env,
  stdio: ["ignore", "pipe", "inherit"],
});
process.once("exit", () => {
  daemon.kill("SIGTERM");
  // A daemon's server outlives it.
  spawnSync("tmux", ["-S", tmuxSocketPath, "kill-server"]);
});
// Its other lines come before this one: nobody listens then.
let printed = "";
for await (const chunk of daemon.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
  printed += chunk;
  if (printed.includes("listening on unix:")) break;
}
daemon.stdout.resume();
task.say("tmux", tmuxSocketPath);
const server = createClient({
  url: "http://localhost",
  token: readFileSync(join(task.directory, "state/tmuxwire/token"), "utf8").trim(),
  fetch: unixFetch(join(runtime, "tmuxwire/tmuxwire.sock")),
}).server("main");

async function startPane(): Promise<PaneClient> {
  const { activePane } = await server.createSession({ command: task.argv, cols: 90, rows: 24 });
  check(activePane !== null, "the session has no pane");
  return server.pane(activePane);
}

/** Hands on what a pane prints from now on; resolves once that has begun. */
function followed(pane: PaneClient, onText: (text: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const handOn = async (): Promise<void> => {
      for await (const event of pane.follow()) {
        if (event.kind === "open") resolve();
        else if (event.kind === "output") onText(Buffer.from(event.bytes).toString("latin1"));
      }
    };
    handOn().catch(reject);
  });
}

async function echo(pane: PaneClient): Promise<void> {
  await pane.wait({ pattern: { literal: "ready!" }, from: "tail:10" });
  let echoed = "";
  let onPrinted: () => void = () => undefined;
  await followed(pane, (piece) => {
    echoed += piece;
    onPrinted();
  });
  await task.begin();
  for (let at = 0; at < task.count; at += 1) {
    const token = peerToken();
    echoed = "";
    const startMs = performance.now();
    let endMs = 0;
    const seen = new Promise<void>((resolve) => {
      onPrinted = () => {
        if (!echoed.includes(token)) return;
        endMs = performance.now();
        resolve();
      };
    });
    await Promise.all([pane.type(token), seen]);
    task.say("sample", endMs - startMs);
  }
}

async function text(pane: PaneClient): Promise<void> {
  await pane.wait({ pattern: { literal: "ready!" }, from: "tail:10" });
  await task.begin();
  for (let at = 0; at < task.count; at += 1) {
    const { position } = await pane.type("g");
    await pane.wait({ pattern: { literal: `late-${at}.` }, from: position });
    task.say("known", at, unixMsNow());
  }
}

async function run(pane: PaneClient): Promise<void> {
  await pane.wait({ pattern: { literal: "$ " }, from: "tail:10" });
  await task.begin();
  for (let at = 0; at < task.count; at += 1) {
    const command = (await task.heard()) ?? "";
    const startMs = performance.now();
    const { exitCode, output } = await pane.run(command);
    task.say("ran", performance.now() - startMs, exitCode ?? -1, Buffer.from(output).toString("hex"));
  }
}

async function follow(): Promise<void> {
  const counts: LineCount[] = [];
  while (counts.length < task.count) {
    const count = new LineCount();
    await followed(await startPane(), (piece) => count.piece(piece));
    counts.push(count);
  }
  await task.begin();
  await task.heard();
  for (const { seen } of counts) task.say("seen", seen);
}

async function lines(pane: PaneClient): Promise<void> {
  const count = new LineCount();
  let onEnd: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  await followed(pane, (piece) => {
    count.piece(piece);
    if (piece.includes(END_OF_LINES)) onEnd();
  });
  await task.begin();
  const startMs = performance.now();
  await pane.keys(["Enter"]);
  await ended;
  task.say("sample", performance.now() - startMs);
  task.say("seen", count.seen);
}

async function prompts(pane: PaneClient): Promise<void> {
  const launch = async (line: string): Promise<void> => {
    await pane.keys(["C-c"]);
    await delay(INTERRUPT_MS);
    await pane.type(line, { enter: true });
  };
  const prompt = async (given: string): Promise<string> => {
    // The others wait for a screen that is still. `submit` says why it cannot be, if this does not come.
    await pane.wait({ ready: true, timeoutMs: READY_WITHIN_MS }).catch(() => undefined);
    try {
      return `delivered ${(await pane.submit(given, { profile: PROFILE })).outcome}`;
    } catch (error) {
      if (!(error instanceof TmuxwireError)) throw error;
      const reason = error.details?.["state"] ?? error.details?.["reason"];
      return `refused ${typeof reason === "string" ? reason : error.code}`;
    }
  };
  await pane.wait({ pattern: { literal: "$ " }, from: "tail:10" });
  await task.serve(launch, prompt);
}

const JOBS: Readonly<Record<string, (pane: PaneClient) => Promise<void>>> = { echo, text, run, lines, prompts };

if (task.job === "follow") await follow();
else await JOBS[task.job]!(await startPane());
if (task.job !== "prompts") await task.end();
if (daemon.kill("SIGTERM")) await once(daemon, "exit");
process.exit(0);
