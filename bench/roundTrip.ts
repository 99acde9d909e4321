/**
 * How long input takes to come back, and how fast tmux replies: send → echo of six bytes through a raw-mode program, a
 * command that does nothing, and many such commands in one go.
 */
import { ControlConnection } from "../daemon/connection/controlConnection.ts";
import { openPipeTransport } from "../daemon/host/clients/pipeTransport.ts";
import { openPtyTransport } from "../daemon/host/clients/ptyTransport.ts";
import type { OpenTransport } from "../daemon/host/clients/transport.ts";
import { pollUntilSeen, tmuxProcess } from "./baseline.ts";
import { ECHO, naiveEcho, naiveReady, nextToken, READY, subprocessEcho } from "./echoBench.ts";
import { check, compare, compareTrials, type Contender, type Emit, timed, type Trial, trialOf } from "./figures.ts";
import { QUIET_SERVER } from "./naiveClient.ts";
import {
  benchEnvironment,
  detachedPane,
  naivePane,
  ownedPane,
  type OwnedPane,
  type PrivateSocket,
  privateSocket,
  SESSION,
} from "./privateServer.ts";

const NOOP = "display-message -p beat";
const BURST = 5_000;
const TRANSPORTS = [
  ["-CC", openPtyTransport],
  ["-C", openPipeTransport],
] as const;

export async function run(emit: Emit): Promise<void> {
  await echoFigures(emit);
  await commandFigures(emit);
}

const ECHO_TURNS = { trials: 8, rounds: 25, perRound: 10, warmUp: 300 };
const PROCESS_TURNS = { rounds: 5, perRound: 10, warmUp: 3 };

async function echoFigures(emit: Emit): Promise<void> {
  for (const [flag, open] of TRANSPORTS) {
    const comparison = { bench: "roundTrip", figure: `send to echo, ${flag}`, unit: "ms" };
    const openTrial = async (): Promise<Trial> => {
      const ours = await ownedPane(ECHO, open);
      const naive = await naivePane(ECHO, open);
      await ourReady(ours);
      await naiveReady(naive);
      return trialOf([ourEcho(ours), naiveEcho(naive, `naive ${flag} client`)], [ours, naive]);
    };
    await compareTrials(comparison, openTrial, ECHO_TURNS, emit);
  }
  await using detached = detachedPane(ECHO);
  await pollUntilSeen(detached.socketPath, READY);
  await using ours = await ownedPane(ECHO);
  await ourReady(ours);
  const comparison = { bench: "roundTrip", figure: "send to echo, -CC", unit: "ms" };
  await compare(comparison, [ourEcho(ours), subprocessEcho(detached)], PROCESS_TURNS, emit);
}

async function ourReady({ server, pane, source }: OwnedPane): Promise<void> {
  while (source.outputSeq < READY.length) await server.capture(pane);
}

const utf8 = new TextEncoder();

/** From the call of `input` to the subscriber that has the bytes; the receipt is waited for outside the time. */
function ourEcho({ server, pane, source }: OwnedPane): Contender {
  return {
    name: "ours",
    sample: async () => {
      const bytes = utf8.encode(nextToken());
      const from = source.outputSeq;
      let seenMs = 0;
      const seen = new Promise<void>((resolve) => {
        const unsubscribe = source.subscribe({
          advanced: (_from, to) => {
            if (to < from + bytes.length) return;
            const slice = source.read(from);
            check(slice.kind === "bytes" && Buffer.compare(slice.bytes, bytes) === 0, "the echo is not what was sent");
            seenMs = performance.now();
            unsubscribe();
            resolve();
          },
          gap: () => undefined,
          exited: () => undefined,
          closed: () => undefined,
        });
      });
      const startMs = performance.now();
      const sent = server.input(pane, [{ kind: "text", bytes }]);
      await Promise.all([sent, seen]);
      return seenMs - startMs;
    },
  };
}

const NOOP_TURNS = { trials: 4, rounds: 25, perRound: 10, warmUp: 300 };
const BURST_TURNS = { trials: 4, rounds: 3, perRound: 1, warmUp: 2 };

async function commandFigures(emit: Emit): Promise<void> {
  for (const [flag, open] of TRANSPORTS) {
    const trial =
      (measure: (command: () => Promise<string>) => () => Promise<number>): (() => Promise<Trial>) =>
      async () => {
        const ours = await bareConnection(open);
        const naive = await naivePane(["cat"], open);
        return trialOf(
          [
            { name: "ours", sample: measure(() => ourNoop(ours)) },
            { name: `naive ${flag} client`, sample: measure(() => naive.client.command(NOOP)) },
          ],
          [ours, naive],
        );
      };
    const noop = { bench: "roundTrip", figure: `no-op command, ${flag}`, unit: "ms" };
    await compareTrials(noop, trial(once), NOOP_TURNS, emit);
    const pipelined = { bench: "roundTrip", figure: `pipelined commands, ${flag}`, unit: "commands/s" };
    await compareTrials(pipelined, trial(burst), BURST_TURNS, emit);
  }
  await using ours = await bareConnection(openPtyTransport);
  await using detached = detachedPane(["cat"]);
  const contenders: [Contender, Contender] = [
    { name: "ours", sample: once(() => ourNoop(ours)) },
    { name: "subprocess per command", sample: once(() => subprocessNoop(detached)) },
  ];
  await compare({ bench: "roundTrip", figure: "no-op command, -CC", unit: "ms" }, contenders, PROCESS_TURNS, emit);
}

const utf8Decoder = new TextDecoder();

const ourNoop = async ({ connection }: BareConnection): Promise<string> =>
  utf8Decoder.decode((await connection.command(NOOP)).body);

const once = (command: () => Promise<string>) => (): Promise<number> =>
  timed(async () => check((await command()).trimEnd() === "beat", "not the command's reply"));

const subprocessNoop = ({ socketPath }: PrivateSocket): Promise<string> =>
  tmuxProcess(socketPath, ["display-message", "-t", SESSION, "-p", "beat"]);

const burst = (command: () => Promise<string>) => async (): Promise<number> => {
  const ms = await timed(() => Promise.all(Array.from({ length: BURST }, command)));
  return (BURST * 1_000) / ms;
};

interface BareConnection extends AsyncDisposable {
  readonly connection: ControlConnection;
}

/** A control connection without hub, panes or supervisor: what replies to commands. */
async function bareConnection(open: OpenTransport): Promise<BareConnection> {
  const socket = privateSocket();
  const connection = new ControlConnection({
    open,
    spawn: {
      tmux: "tmux",
      args: ["-u", "-f", "/dev/null", "-S", socket.socketPath, ...QUIET_SERVER, "new-session", "cat"],
      env: benchEnvironment,
      cwd: "/",
    },
    onOutput: () => undefined,
    onNotification: () => undefined,
    onChunkEnd: () => undefined,
    onClosed: () => undefined,
  });
  await connection.command(NOOP);
  return {
    connection,
    [Symbol.asyncDispose]: async () => {
      connection.close();
      await socket[Symbol.asyncDispose]();
    },
  };
}
