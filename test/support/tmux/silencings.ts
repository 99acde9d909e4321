/**
 * Somebody makes tmux keep output from our clients without a word to us, and how long it takes until a hole is declared; and
 * panes of which nothing is kept back, in which none may be declared.
 */
import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { deferred } from "../clock/deferred.ts";
import { eventually } from "../clock/eventually.ts";
import { guestFixture, userClient, userSession } from "./guestFixture.ts";
import { ownedFixture, type PrivateSocket } from "./ownedFixture.ts";
import { DEAF } from "./output.ts";
import { script } from "./panePrograms.ts";

const run = promisify(execFile);

/**
 * `alone`: a guest with one client, which carries the only session, so that tmux may not read what is off for it; `guest`:
 * one of several sessions is followed; `attached`: a person looks at it, too.
 */
export type SilencedKind = "owned" | "alone" | "guest" | "attached";

/** What is typed for each of our clients. */
const SILENCINGS = {
  off: (pane: string) => ["refresh-client", "-A", `${pane}:off`],
  "no-output": () => ["refresh-client", "-f", "no-output"],
  suspended: () => ["suspend-client"],
  "read-only": () => ["refresh-client", "-f", "read-only"],
  unlimited: () => ["refresh-client", "-f", "!pause-after"],
} as const;
export type Silencing = keyof typeof SILENCINGS;

/** How the pane prints. */
const PRINTERS = {
  steady: `let n = 0; setInterval(() => console.log("line " + (n += 1)), 10);`,
  paced: `let n = 0; setInterval(() => console.log("line " + (n += 1)), 400);`,
  redrawn: `let n = 0; setInterval(() => process.stdout.write("\\x1b[H" + "frame " + (n += 1)), 80);`,
  flood: `let n = 0; const more = () => { process.stdout.write("line " + (n += 1) + "x".repeat(900) + "\\r\\n", () => setImmediate(more)); }; more();`,
} as const;
export type Printer = keyof typeof PRINTERS;

interface Scene extends AsyncDisposable {
  readonly server: TmuxServer;
  readonly socket: PrivateSocket;
  readonly pane: PaneId;
}

async function scene(
  kind: SilencedKind,
  command: readonly string[],
  options: { readonly heartbeatMs?: number | undefined } = {},
): Promise<Scene> {
  if (kind === "owned") {
    const fixture = await ownedFixture(options);
    const session = await fixture.server.createSession({ name: "one", command });
    await fixture.server.createSession({ name: "two", command: ["cat"] });
    return { ...fixture, pane: session.activePane!, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
  }
  const fixture = await guestFixture((socket) => {
    // The base is on the oldest session.
    if (kind === "guest") userSession(socket, "first");
    userSession(socket, "one", command);
  }, options);
  const user = kind === "attached" ? await userClient(fixture.socket, "one") : undefined;
  await eventually(() => fixture.server.findSession("one")?.activePane !== undefined);
  return {
    ...fixture,
    pane: fixture.server.findSession("one")!.activePane!,
    [Symbol.asyncDispose]: async () => {
      await user?.[Symbol.asyncDispose]();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

interface Silenced {
  readonly kind: SilencedKind;
  readonly printer: Printer;
  readonly silencing: Silencing;
  readonly rounds: number;
  readonly heartbeatMs?: number | undefined;
}

/** Milliseconds from the moment before the command is started to the hole, or to the end of the stream, each round at another moment of a second. */
export async function silencedMs(wanted: Silenced): Promise<readonly number[]> {
  const { kind, printer, silencing, rounds, heartbeatMs } = wanted;
  await using here = await scene(kind, script(PRINTERS[printer]), { heartbeatMs });
  const { server, socket, pane } = here;
  const tmux = async (...args: readonly string[]): Promise<string> =>
    (await run("tmux", ["-u", "-S", socket.socketPath, ...args])).stdout;
  const took: number[] = [];
  while (took.length < rounds) {
    const stream = { bytes: 0, isOver: false };
    const { promise: hole, resolve } = deferred();
    await eventually(() => server.status().state === "ready");
    const source = await opened(server, pane);
    const over = (): void => {
      stream.isOver = true;
      resolve();
    };
    const unsubscribe = source.subscribe({
      ...DEAF,
      advanced: (from, to) => void (stream.bytes += to - from),
      gap: over,
      closed: over,
    });
    const flows = async (): Promise<boolean> => {
      const from = stream.bytes;
      await eventually(() => stream.bytes > from || stream.isOver);
      return !stream.isOver;
    };
    // tmux says how our client is once a second; the first time a second after it has come.
    const isSteady = (await flows()) && (await delay(1_100 + ((took.length * 619) % 1_000), true)) && (await flows());
    // The last round's hole was declared before the connection was given up for what had made it.
    if (isSteady) {
      const names = (await tmux("list-clients", "-F", "#{client_control_mode} #{client_name}")).split("\n");
      const ours = names.filter((row) => row.startsWith("1 ")).map((row) => row.slice(2));
      const command = SILENCINGS[silencing](pane);
      const startMs = performance.now();
      // A client may be given up between two of them.
      await tmux(...ours.flatMap((name, at) => [...(at === 0 ? [] : [";"]), ...command, "-t", name])).catch(() => "");
      await hole;
      took.push(performance.now() - startMs);
    }
    unsubscribe();
  }
  return took;
}

async function opened(server: TmuxServer, pane: PaneId) {
  let source: ReturnType<TmuxServer["output"]> | undefined;
  await eventually(() => {
    try {
      source = server.output(pane);
      return true;
    } catch {
      return false;
    }
  });
  return source!;
}

/** Programs of panes of which nothing is kept back, and what they do to a window's times and to pauses. */
const UNDISTURBED = {
  bursts: `const more = () => { for (let n = 0; n < 1 + Math.random() * 40; n += 1) console.log("burst " + n); setTimeout(more, Math.random() ** 3 * 2_500); }; more();`,
  redrawn: PRINTERS.redrawn,
  seconds: `setInterval(() => console.log(new Date().toISOString()), 1_000);`,
  slow: `setInterval(() => console.log("now and then"), 2_700);`,
  quiet: ``,
} as const;

/**
 * What was declared in panes of which nothing was kept back, while somebody uses the server. Empty, or there is a fault.
 */
export async function falseHoles(kind: SilencedKind, seconds: number): Promise<readonly string[]> {
  await using here = await scene(kind, script(`${UNDISTURBED.bursts} setInterval(() => 0, 1_000);`));
  const { server, socket, pane } = here;
  const declared: string[] = [];
  const tmux = (...args: readonly string[]): Promise<unknown> =>
    run("tmux", ["-u", "-S", socket.socketPath, ...args]).catch(() => undefined);
  for (const [name, body] of Object.entries(UNDISTURBED)) {
    const [file = "", ...args] = script(`${body} setInterval(() => 0, 1_000);`);
    await tmux("new-window", "-d", "-t", "=one:", "-n", name, "--", file, ...args);
  }
  await tmux("split-window", "-d", "-t", pane, "--", "cat");
  const count = Object.keys(UNDISTURBED).length + 2;
  const inOne = (): readonly PaneId[] => {
    const windows = new Set(server.findSession("one")?.windows);
    return server
      .panes()
      .filter(({ window }) => windows.has(window))
      .map(({ id }) => id);
  };
  await eventually(() => inOne().length === count);
  for (const id of inOne()) {
    server.output(id).subscribe({
      ...DEAF,
      gap: () => void declared.push(`${id} gap`),
      closed: ({ message }) => void declared.push(`${id} closed: ${message}`),
    });
    await server.capture(id);
  }
  declared.length = 0;
  const endMs = performance.now() + seconds * 1_000;
  const acts = [
    ["display-message", "-t", "=one:", "hello"],
    ["copy-mode", "-t", pane],
    ["send-keys", "-X", "-t", pane, "cancel"],
    ["select-window", "-n", "-t", "=one:"],
    ["clear-history", "-t", pane],
    ["resize-window", "-t", "=one:", "-x", String(70 + Math.floor(Math.random() * 40))],
    ["refresh-client"],
    ["list-panes", "-a"],
    ["set-option", "-g", "@x", "y"],
  ];
  while (performance.now() < endMs) {
    await tmux(...acts[Math.floor(Math.random() * acts.length)]!);
    await delay(Math.random() * 300);
  }
  return [...declared];
}
