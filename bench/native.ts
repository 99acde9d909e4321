/**
 * The native API over loopback against what it stands on: input by HTTP until its echo comes on a stream, against the same
 * on the least control client there is, and against two subprocesses; and a screen captured over HTTP.
 */
import { WebSocket } from "ws";
import { decodeStreamFrame, STREAM_PROTOCOL } from "../protocol/api/native/nativeFrames.ts";
import { openPtyTransport } from "../daemon/host/clients/ptyTransport.ts";
import { captureLines, pollUntilSeen, tmuxProcess } from "./baseline.ts";
import { ECHO, naiveEcho, naiveReady, nextToken, READY, seenMs, subprocessEcho } from "./echoBench.ts";
import {
  check,
  compare,
  compareTrials,
  type Comparison,
  type Contender,
  type Emit,
  timed,
  type Trial,
  trialOf,
} from "./figures.ts";
import { nativeProcess, type NativeProcess } from "./nativeProcess.ts";
import { detachedPane, naivePane, type PrivateSocket, privateSocket, ROWS, SESSION } from "./privateServer.ts";
import { RawHttp } from "./rawHttp.ts";

/** A daemon lives for weeks: its code is compiled by the time anybody asks. That takes some thousand requests. */
const WARM_UP = 4_000;
const TURNS = { trials: 3, rounds: 10, perRound: 50, warmUp: WARM_UP };
/** After a thousand processes it takes a few hundred requests until caches and cores are ours again. */
const SUBPROCESS_TURNS = { trials: 3, rounds: 2, perRound: 1_000, warmUp: 20 };

export async function run(emit: Emit): Promise<void> {
  const echo = (way: Way) => ({ bench: "native", figure: `input to echo, ${way}`, unit: "ms" });
  for (const way of ["POST, SSE", "POST, WebSocket", "WebSocket both ways"] as const) {
    const open = async (): Promise<Trial> => {
      const ours = await echoDaemon();
      const naive = await naivePane(ECHO, openPtyTransport);
      await naiveReady(naive);
      return trialOf([await ourEcho(ours, way), naiveEcho(naive, "naive -CC client")], [ours, naive]);
    };
    await compareTrials(echo(way), open, TURNS, emit);
  }
  await using detached = detachedPane(ECHO);
  await pollUntilSeen(detached.socketPath, READY);
  for (const way of ["POST, SSE", "WebSocket both ways"] as const) {
    await againstProcesses(echo(way), (ours) => ourEcho(ours, way), subprocessEcho(detached), emit);
  }
  const capture: Contender = {
    name: "subprocess capture-pane",
    sample: () => timed(() => captureLines(detached.socketPath, ROWS)),
  };
  const comparison = { bench: "native", figure: "GET capture, visible screen", unit: "ms" };
  await againstProcesses(comparison, async (ours) => ourCapture(ours), capture, emit);
  await longCaptures(emit);
}

/** Lines of a pane that keeps more of them than any capture asks for. */
const LONG_LINES = 25_000;
const LONG_READY = "all printed";
const LONG = [
  "sh",
  "-c",
  `stty -echo; seq -f 'line %.0f of what a program has printed, as long as a usual line' ${LONG_LINES}; echo ${LONG_READY}; exec cat`,
];
const LONG_TURNS = { rounds: 8, perRound: 15, warmUp: 60 };

async function longCaptures(emit: Emit): Promise<void> {
  const keepAll = (socket: PrivateSocket): string =>
    socket.tmux("set-option", "-g", "history-limit", String(2 * LONG_LINES));
  await using ours = await daemonWith(LONG, LONG_READY, keepAll);
  await using detached = detachedPane(["cat"]);
  keepAll(detached);
  detached.tmux("new-session", "-d", "-s", "long", "-x", "80", "-y", String(ROWS), ...LONG);
  const captured = (lines: number): Promise<string> =>
    tmuxProcess(detached.socketPath, ["capture-pane", "-p", "-t", "long", "-S", String(-lines)]);
  while (!(await captured(1)).includes(LONG_READY));
  for (const lines of [5_000, 20_000]) {
    const subprocess: Contender = {
      name: "subprocess capture-pane",
      sample: () => timed(async () => check((await captured(lines)).split("\n").length >= lines, "cut")),
    };
    const figure = `GET capture, ${lines.toLocaleString("en")} lines`;
    await compare({ bench: "native", figure, unit: "ms" }, [ourCapture(ours, lines), subprocess], LONG_TURNS, emit);
  }
}

async function againstProcesses(
  comparison: Comparison,
  contender: (daemon: EchoDaemon) => Promise<Contender>,
  processes: Contender,
  emit: Emit,
): Promise<void> {
  const open = async (): Promise<Trial> => {
    const daemon = await echoDaemon();
    const ours = await contender(daemon);
    for (let at = 0; at < WARM_UP; at += 1) await ours.sample();
    return trialOf([ours, processes], [daemon]);
  };
  await compareTrials(comparison, open, SUBPROCESS_TURNS, emit);
}

export interface EchoDaemon extends AsyncDisposable {
  readonly daemon: NativeProcess;
  readonly http: RawHttp;
  /** The pane's path. */
  readonly pane: string;
}

export const echoDaemon = (): Promise<EchoDaemon> => daemonWith(ECHO, READY);

async function daemonWith(
  command: readonly string[],
  ready: string,
  prepare?: (socket: PrivateSocket) => unknown,
): Promise<EchoDaemon> {
  const socket = privateSocket();
  const daemon = await nativeProcess(socket.socketPath);
  prepare?.(socket);
  const http = await RawHttp.open(daemon.port);
  const made = (await http.call("POST", "/v1/servers/main/sessions", { name: SESSION, command })) as {
    activePane: string;
  };
  const pane = `/v1/servers/main/panes/${made.activePane.slice(1)}`;
  await http.call("POST", `${pane}/wait`, { pattern: { literal: ready }, from: "tail:10" });
  return {
    daemon,
    http,
    pane,
    [Symbol.asyncDispose]: async () => {
      http[Symbol.dispose]();
      await daemon[Symbol.asyncDispose]();
      await socket[Symbol.asyncDispose]();
    },
  };
}

type Way = "POST, SSE" | "POST, WebSocket" | "WebSocket both ways";

/** From the input being written to the bytes on the stream; the response is waited for outside the time. */
export async function ourEcho({ daemon, http, pane }: EchoDaemon, way: Way): Promise<Contender> {
  let onBytes: (text: string) => void = () => undefined;
  const socket = way === "POST, SSE" ? undefined : await openSocket(daemon, pane, (text) => onBytes(text));
  if (socket === undefined) {
    const stream = await RawHttp.open(daemon.port);
    await stream.follow(`${pane}/stream`, (data) => onBytes(Buffer.from(data, "base64").toString("latin1")));
  }
  const number = pane.split("/").at(-1);
  return {
    name: `ours, ${way}`,
    sample: async () => {
      const token = nextToken();
      const parts = [{ kind: "text", text: token }];
      const seen = seenMs(token, (onText) => {
        onBytes = onText;
      });
      const startMs = performance.now();
      if (way === "WebSocket both ways") {
        socket?.send(JSON.stringify({ type: "input", id: Number(token), server: "main", pane: number, parts }));
      } else await http.call("POST", `${pane}/input`, { parts });
      return (await seen) - startMs;
    },
  };
}

export function openSocket({ port }: NativeProcess, pane: string, onBytes: (text: string) => void): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/stream`, [STREAM_PROTOCOL]);
    socket.once("error", reject);
    socket.once("open", () => {
      const number = pane.split("/").at(-1);
      socket.send(
        JSON.stringify({ type: "subscribe", id: 0, server: "main", pane: number, creditBytes: 1_000_000_000 }),
      );
    });
    socket.on("message", (data: Buffer, isBinary) => {
      if (!isBinary) resolve(socket);
      else onBytes(Buffer.from(decodeStreamFrame(data)!.bytes).toString("latin1"));
    });
  });
}

export const ourCapture = ({ http, pane }: EchoDaemon, wanted?: number): Contender => ({
  name: "ours",
  sample: () =>
    timed(async () => {
      const { lines } = (await http.call(
        "GET",
        `${pane}/capture${wanted === undefined ? "" : `?lines=${wanted}`}`,
      )) as {
        lines: string[];
      };
      check(wanted === undefined ? lines.length > 0 : lines.length === wanted, "not the lines asked for");
    }),
});
