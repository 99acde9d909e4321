/**
 * At a user's pace: agents and people send something every 20 to 200 ms, and by then everything on the way has gone cold.
 * Every way of sending and seeing on a pane of its own, in turns within one run, after a pause; against the least relay
 * there is (`relay.ts`), a control client in this process, and two subprocesses. 0 ms is the closed loop.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { openPtyTransport } from "../daemon/host/clients/ptyTransport.ts";
import { captureLines, pollUntilSeen, sendText } from "./baseline.ts";
import { ASKS_FOR_CAPTURE, ECHO, naiveEcho, naiveReady, nextToken, READY, seenMs } from "./echoBench.ts";
import { check, type Contender, type Emit, figureOf, quantile, timed } from "./figures.ts";
import { type EchoDaemon, echoDaemon, openSocket, ourCapture, ourEcho } from "./native.ts";
import { forkBench } from "./nativeProcess.ts";
import { detachedPane, naivePane, ROWS } from "./privateServer.ts";

const WARM_UP = 200;
/** Samples of each subject, and how many it takes before the next one has its turn. */
const PACES = [
  { pauseMs: 0, samples: 500, perRound: 50 },
  { pauseMs: 20, samples: 300, perRound: 20 },
  { pauseMs: 100, samples: 120, perRound: 10 },
  { pauseMs: 200, samples: 60, perRound: 10 },
] as const;
/** Of fewer samples the hundredth part is a matter of one of them. */
const MIN_SAMPLES_FOR_P99 = 100;
const ARMED_WITHIN_MS = 10;

interface Subject extends Contender {
  /** Names of the subjects it is measured against. */
  readonly against: readonly string[];
}

export async function run(emit: Emit): Promise<void> {
  await using relay = await openRelay();
  await using naive = await naivePane(ECHO, openPtyTransport);
  await naiveReady(naive);
  await using detached = detachedPane(ECHO);
  await pollUntilSeen(detached.socketPath, READY);
  await using both = await echoDaemon();
  await using sse = await echoDaemon();
  await using captured = await echoDaemon();
  await using waited = await echoDaemon();
  const { client, pane } = naive;
  const subjects: readonly Subject[] = [
    { ...relay.echo, against: [] },
    { ...relay.capture, against: [] },
    { ...naiveEcho(naive, NAIVE), against: [] },
    {
      name: RAW_CAPTURE,
      against: [],
      sample: () => timed(async () => check((await client.command(`capture-pane -p -t ${pane}`)) !== "", "no screen")),
    },
    {
      name: PROCESSES,
      against: [],
      sample: () =>
        timed(async () => {
          await sendText(detached.socketPath, nextToken());
          check((await captureLines(detached.socketPath, ROWS)).length > 0, "no capture");
        }),
    },
    { ...(await ourEcho(both, "WebSocket both ways")), against: [RELAY, NAIVE, PROCESSES] },
    { ...(await ourEcho(sse, "POST, SSE")), against: [RELAY, NAIVE, PROCESSES] },
    { ...ourCapture(captured), name: "ours, HTTP capture", against: [RELAY, RELAY_CAPTURE, NOTHING, RAW_CAPTURE] },
    { ...nothing(captured), against: [] },
    ...(await told(waited)),
  ];
  for (const { sample } of subjects) for (let at = 0; at < WARM_UP; at += 1) await sample();
  for (const pace of PACES) report(pace, subjects, await samplesAt(pace, subjects), emit);
}

const RELAY = "least relay";
const RELAY_CAPTURE = "least relay, capture";
const NAIVE = "naive -CC client";
const RAW_CAPTURE = "capture on a naive -CC client";
const PROCESSES = "subprocess send-keys + capture-pane";
const NOTHING = "ours, HTTP request for nothing";
const SUBSCRIBER = "ours, text written to WebSocket subscriber";

type Pace = (typeof PACES)[number];

async function samplesAt({ pauseMs, samples, perRound }: Pace, subjects: readonly Subject[]): Promise<number[][]> {
  const taken = subjects.map((): number[] => []);
  for (let round = 0; round < samples / perRound; round += 1) {
    for (const [index, { sample }] of subjects.entries()) {
      // The first of a turn meets caches that another subject has filled.
      await sample();
      for (let at = 0; at < perRound; at += 1) {
        if (pauseMs > 0) await delay(pauseMs);
        taken[index]!.push(await sample());
      }
    }
  }
  return taken;
}

function report({ pauseMs }: Pace, subjects: readonly Subject[], taken: readonly number[][], emit: Emit): void {
  const samplesOf = (name: string): readonly number[] => taken[subjects.findIndex((one) => one.name === name)]!;
  const pause = pauseMs === 0 ? "no pause" : `a pause of ${pauseMs} ms`;
  for (const { name, against } of subjects) {
    for (const other of against) {
      const figure = { bench: "pace", figure: `${name}, ${pause}`, unit: "ms" };
      const [ours, theirs] = [samplesOf(name), samplesOf(other)];
      emit(figureOf(figure, ours, other, theirs));
      if (other !== RELAY || ours.length < MIN_SAMPLES_FOR_P99) continue;
      const worst = (samples: readonly number[]): readonly number[] => [quantile(samples, 0.99)];
      emit(figureOf({ ...figure, figure: `${figure.figure}, p99` }, worst(ours), other, worst(theirs)));
    }
  }
}

interface Relay extends AsyncDisposable {
  readonly echo: Contender;
  readonly capture: Contender;
}

async function openRelay(): Promise<Relay> {
  const child = forkBench("relay", []);
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  await once(socket, "open");
  let onText: (text: string) => void = () => undefined;
  socket.on("message", (data: Buffer) => onText(data.toString("utf8")));
  const echo = async (): Promise<number> => {
    const token = nextToken();
    const seen = seenMs(token, (listener) => {
      onText = listener;
    });
    const startMs = performance.now();
    socket.send(token);
    return (await seen) - startMs;
  };
  const capture = (): Promise<number> =>
    timed(async () => {
      const screen = new Promise<string>((resolve) => {
        onText = resolve;
      });
      socket.send(ASKS_FOR_CAPTURE);
      check((await screen) !== "", "no screen");
    });
  return {
    echo: { name: RELAY, sample: echo },
    capture: { name: RELAY_CAPTURE, sample: capture },
    [Symbol.asyncDispose]: async () => {
      socket.terminate();
      child.disconnect();
      await once(child, "exit");
    },
  };
}

const nothing = ({ http }: EchoDaemon): Contender => ({
  name: NOTHING,
  sample: () => timed(() => http.call("GET", "/livez")),
});

/** What is written to the pane's terminal until a wait for it is told, and until a subscriber of the stream has it. */
async function told(daemon: EchoDaemon): Promise<readonly Subject[]> {
  const { tty } = (await daemon.http.call("GET", daemon.pane)) as { tty?: string };
  check(tty !== undefined, "the pane has no terminal");
  const write = (text: string): number => {
    const fd = openSync(tty, "w");
    const writtenMs = performance.now();
    writeSync(fd, text);
    closeSync(fd);
    return writtenMs;
  };
  let onBytes: (text: string) => void = () => undefined;
  await openSocket(daemon.daemon, daemon.pane, (text) => onBytes(text));
  const subscriber: Contender = {
    name: SUBSCRIBER,
    sample: async () => {
      const token = nextToken();
      const seen = seenMs(token, (listener) => {
        onBytes = listener;
      });
      const writtenMs = write(token);
      return (await seen) - writtenMs;
    },
  };
  const waiter: Contender = {
    name: "ours, text written to HTTP wait",
    sample: async () => {
      const token = nextToken();
      const responded = daemon.http
        .call("POST", `${daemon.pane}/wait`, { pattern: { literal: token } })
        .then(() => performance.now());
      // The wait is armed by then, and as cold as the program that prints.
      await delay(ARMED_WITHIN_MS);
      const writtenMs = write(token);
      return (await responded) - writtenMs;
    },
  };
  return [
    { ...subscriber, against: [] },
    { ...waiter, against: [SUBSCRIBER] },
  ];
}
