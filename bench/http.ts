/**
 * The add-in's requests over loopback HTTP to a daemon in a process of its own, against subprocesses and against the
 * least bridge that serves the same requests with subprocesses and a poll every 120 ms (`baseline.ts`).
 */
import { openSync, closeSync, writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { type BridgeResponse, Connections, type DaemonProcess, startDaemon } from "./addinDaemon.ts";
import { againstOneProcess } from "./addinOperations.ts";
import { captureLines, pollUntilSeen, sendText, startBridge } from "./baseline.ts";
import {
  check,
  compare,
  compareTrials,
  type Contender,
  type Emit,
  figureOf,
  quantile,
  takeTurns,
  timed,
  type Trial,
  trialOf,
} from "./figures.ts";
import { detachedPane, type PrivateSocket, SESSION } from "./privateServer.ts";

/** A screenful, and what the add-in asks for when it says nothing. */
const SCREEN_LINES = 20;
const CAPTURED_LINES = 200;
const CONCURRENT = 8;
/** A daemon lives for weeks: its code is compiled by the time anybody asks. That takes some thousand requests. */
const WARM_UP_REQUESTS = 10_000;
/** A screen that does not show the echo within this many captures will not. */
const MAX_LOOKS = 1_000;
const WARM_UP_WAITS = 1_000;
const HOLD_DETECTION_P99_MS = 10;
const READY = "ready!";
/** As much as the add-in may ask for, and a screen. */
const HISTORY_LINES = 5_100;
/** History to capture, then a program that sends back every byte as it is. */
const PROGRAM = `seq -f 'line %.0f of the output of a program' ${HISTORY_LINES}; stty raw -echo; printf ${READY}; exec cat`;

export async function run(emit: Emit): Promise<void> {
  await using bridged = detachedPane(["sh", "-c", PROGRAM]);
  await pollUntilSeen(bridged.socketPath, READY);
  await using daemon = await warmDaemon();
  const ours: Endpoint = { name: "ours", post: (body) => daemon.connections.post(body) };
  // What is promised comes first: whoever has seen enough may end the rest.
  await againstOneProcess(ours.post, bridged.socketPath, nextToken, emit);
  {
    await using second = await warmDaemon();
    await using third = await warmDaemon();
    for (const lines of [SCREEN_LINES, CAPTURED_LINES]) {
      await sendAndCapture(bridged, [daemon, second, third], lines, emit);
    }
  }
  await using bridge = await startBridge(bridged.socketPath);
  using bridgeConnections = new Connections(bridge.port);
  const theirs: Endpoint = { name: "subprocess bridge, poll 120 ms", post: (body) => bridgeConnections.post(body) };
  await operations(ours, theirs, emit);
  // Last: its lines push those out of the history that the others capture.
  await detection(watched(ours, daemon.socket), watched(theirs, bridged), emit);
}

interface Endpoint {
  readonly name: string;
  readonly post: (body: object) => Promise<BridgeResponse>;
}

let tokens = 0;
/** Six digits never sent before, over those of the last time: the history stays as it is, however many are sent. */
const nextToken = (): string => `\r${100_000 + (tokens += 1)}`;

async function sendOne(connections: Connections, lines: number): Promise<void> {
  const token = nextToken();
  let { output } = await connections.post({ action: "send_and_capture", session: SESSION, lines, text: token });
  // A program that the machine has kept waiting echoes after our capture: its user looks again, in the same time.
  for (let looks = 0; !joined(output).includes(token.trim()); looks += 1) {
    check(looks < MAX_LOOKS, "no echo in the captures");
    ({ output } = await connections.post({ action: "capture_pane", session: SESSION, lines }));
  }
}

interface WarmDaemon extends AsyncDisposable {
  readonly socket: PrivateSocket;
  readonly connections: Connections;
}

async function warmDaemon(): Promise<WarmDaemon> {
  const daemon = await startDaemon();
  await startProgram(daemon);
  const connections = new Connections(daemon.port);
  for (let count = 0; count < WARM_UP_REQUESTS; count += 1) await sendOne(connections, SCREEN_LINES);
  return {
    socket: daemon.socket,
    connections,
    [Symbol.asyncDispose]: async () => {
      connections[Symbol.dispose]();
      await daemon[Symbol.asyncDispose]();
    },
  };
}

/** Each trial on a daemon of its own (`compareTrials`). */
async function sendAndCapture(
  bridged: PrivateSocket,
  daemons: readonly WarmDaemon[],
  lines: number,
  emit: Emit,
): Promise<void> {
  // Two processes, and no look for the echo, which ours waits for.
  const subprocess: Contender = {
    name: "subprocess send-keys + capture-pane",
    sample: () =>
      timed(async () => {
        await sendText(bridged.socketPath, nextToken());
        check((await captureLines(bridged.socketPath, lines)).length > lines, "no capture");
      }),
  };
  const trials = daemons.map(({ connections }) =>
    trialOf([{ name: "ours", sample: () => timed(() => sendOne(connections, lines)) }, subprocess], []),
  );
  const comparison = { bench: "http", figure: `send_and_capture, ${lines} lines`, unit: "ms" };
  const open = (): Promise<Trial> => Promise.resolve(trials.pop()!);
  // After a thousand processes it takes a few hundred requests until caches and cores are ours again.
  await compareTrials(comparison, open, { trials: trials.length, rounds: 2, perRound: 1_000, warmUp: 20 }, emit);
}

async function operations(ours: Endpoint, theirs: Endpoint, emit: Emit): Promise<void> {
  const both = (measure: (endpoint: Endpoint) => () => Promise<number>): [Contender, Contender] => [
    { name: ours.name, sample: measure(ours) },
    { name: theirs.name, sample: measure(theirs) },
  ];
  const capture = async (endpoint: Endpoint): Promise<void> => {
    const { output } = await endpoint.post({ action: "capture_pane", session: SESSION, lines: CAPTURED_LINES });
    check(output?.includes(`line ${HISTORY_LINES}`) === true, "not the screen");
  };
  const turns = { rounds: 10, perRound: 10, warmUp: 200 };
  const asked = (figure: string, body: () => object) =>
    compare(
      { bench: "http", figure, unit: "ms" },
      both((endpoint) => () => timed(async () => check((await endpoint.post(body())).ok, "refused"))),
      turns,
      emit,
    );
  const keys = ["Left", "Right", "Left", "Right"];
  await asked("list_sessions", () => ({ action: "list_sessions" }));
  await asked("send_keys, 4 keys", () => ({ action: "send_keys", session: SESSION, keys }));
  await compare(
    { bench: "http", figure: "capture_pane, 200 lines", unit: "ms" },
    both((endpoint) => () => timed(() => capture(endpoint))),
    turns,
    emit,
  );
  await asked("capture_pane, 5,000 lines", () => ({ action: "capture_pane", session: SESSION, lines: 5_000 }));
  await asked("send_and_capture", () => ({ action: "send_and_capture", session: SESSION, text: nextToken() }));
  await asked("send_keys, text and Enter", () => ({
    action: "send_keys",
    session: SESSION,
    text: nextToken(),
    enter: true,
  }));
  await asked("send_keys, Enter", () => ({ action: "send_keys", session: SESSION, enter: true }));
  const burst = 200;
  await compare(
    { bench: "http", figure: "capture_pane, 8 at a time", unit: "captures/s" },
    both((endpoint) => async () => {
      const worker = async (): Promise<void> => {
        for (let at = 0; at < burst / CONCURRENT; at += 1) await capture(endpoint);
      };
      const ms = await timed(() => Promise.all(Array.from({ length: CONCURRENT }, worker)));
      return (burst * 1_000) / ms;
    }),
    { rounds: 4, perRound: 1, warmUp: 2 },
    emit,
  );
}

interface Watched extends Endpoint {
  readonly socketPath: string;
  /** The pane's terminal: what is written here is output of the pane, without a program in between. */
  readonly tty: string;
}

const watched = (endpoint: Endpoint, socket: PrivateSocket): Watched => ({
  ...endpoint,
  socketPath: socket.socketPath,
  tty: socket.tmux("list-panes", "-t", `=${SESSION}:`, "-F", "#{pane_tty}").trim(),
});

/** From the text being written in the pane to the response in the client's hands. */
async function detection(ours: Watched, theirs: Watched, emit: Emit): Promise<void> {
  let marks = 0;
  const detect = async ({ post: ask, socketPath, tty }: Watched, quietMs: number): Promise<number> => {
    const mark = `mark-${(marks += 1)}-done`;
    const text = nextToken().trim();
    const wait = { action: "send_and_capture", session: SESSION, text, wait_for: `${mark}$`, timeout_ms: 5_000 };
    const responded = ask(wait).then((json) => ({ json, atMs: performance.now() }));
    // Only output after the send counts.
    await pollUntilSeen(socketPath, text);
    await delay(quietMs);
    const fd = openSync(tty, "w");
    const writtenMs = performance.now();
    writeSync(fd, `\r\n${mark}\r\n`);
    closeSync(fd);
    const { json, atMs } = await responded;
    check(json.ok && json.output?.includes(mark) === true, `the wait ended with ${json.error ?? "no match"}`);
    return atMs - writtenMs;
  };
  // A daemon has served some waits before; the bridge has nothing that would grow faster.
  for (let count = 0; count < WARM_UP_WAITS; count += 1) await detect(ours, 0);
  const contender = (endpoint: Watched): Contender => ({
    name: endpoint.name,
    // Evenly over two periods of the bridge's poll, so that its luck is average.
    sample: () => detect(endpoint, (marks * 97) % 240),
  });
  const comparison = { bench: "http", figure: "wait_for detection", unit: "ms" };
  const turns = { rounds: 8, perRound: 15, warmUp: 3 };
  const [oursMs = [], theirsMs = []] = await takeTurns([contender(ours), contender(theirs)], turns);
  emit(figureOf(comparison, oursMs, theirs.name, theirsMs));
  const p99 = { ...comparison, figure: "wait_for detection, p99" };
  emit(figureOf(p99, [quantile(oursMs, 0.99)], "hold", [HOLD_DETECTION_P99_MS]));
}

/** Tokens are cut by the screen's edge. */
const joined = (output: string | undefined): string => output?.replaceAll("\n", "") ?? "";

async function startProgram({ port }: DaemonProcess): Promise<void> {
  using connections = new Connections(port);
  const ask = async (body: object): Promise<BridgeResponse> => {
    const response = await connections.post({ session: SESSION, ...body });
    check(response.ok, response.error ?? "refused");
    return response;
  };
  await ask({ action: "create_session" });
  await ask({ action: "send_keys", text: PROGRAM, enter: true });
  while (!joined((await ask({ action: "capture_pane" })).output).endsWith(READY));
}
