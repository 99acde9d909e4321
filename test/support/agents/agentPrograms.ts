/**
 * Agent programs for tests: real programs in a pane (test/fixtures/agents) that behave as the agents of docs/agentFacts.md
 * do, and say what they received and when they changed.
 *
 * A whole fixture:
 *
 *     await using agent = await guestAgent("dialog", { options: { busyMs: 0 } });   // the user's server, with a person
 *     await using agent = await ownedAgent("piLike");                               // a server of ours
 *     agent.server, agent.pane, agent.person.type("…")
 *
 * Or a channel, and the program started in any way one likes:
 *
 *     await using channel = await AgentChannel.open(directory);
 *     const argv = channel.argv("inkPrompt", { busyMs: 200 });   // for createSession, new-session, a worker's argv
 *     await channel.next("ready");
 *
 * Then `await channel.tell("busy" | "idle" | "ask" | "say" | "exit", {…})`, answered once its effect is on its way to the
 * terminal; `channel.next(event, from)` for what happens; `channel.submits()` for the exact texts that were submitted.
 * Events: `ready`, `state` {state}, `read` {text}, `paste` {text}, `submit` {text}, `queued` {text}, `held`, `dialog` {dialog, kind},
 * `key` {key}, `answer` {answers | rejected}, `tool` {tool: "ran"}, `interrupted`, `swallowedEnter`, `shell`, `slash`,
 * `exit` {status}. Each has `atUnixMs`, comparable with `unixMs()` here.
 *
 * `ask` takes `kind`: `permission` (default), `select`, `multi`, `both` (a select, then a multi, then a page to confirm),
 * and parts of the first page to replace: `{question, options, detail, title}`. Options of the command line are in
 * agentCore.mjs: `busyMs` (0: until `idle`), `whileBusy`, `swallow`, `placeholderLines`, `placeholderChars`, `holdAskMs`; `drawAfterMs`, `enterGapMs`, `startMs` (until then what is entered is `dropped`), `endsBy` and `lingerMs` in
 * the apps; `loses` (so many prompts are shown and `lost`), `stallMs` (how long the program gets no time once it has drawn a paste), `spinMs` (how long it is at something else once it has read Enter), `stillMs` (so long it draws nothing once it has emptied its box); `explicit: "off"` leaves OSC 7501 out of `codexLike`.
 */
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { guestFixture, paneOf, userClient, type UserClient, userSession } from "../tmux/guestFixture.ts";
import { ownedFixture, type PrivateSocket } from "../tmux/ownedFixture.ts";
import { Waiters } from "../clock/waiters.ts";
import type { Host } from "../../../daemon/host/host.ts";

const AGENT_NAMES = [
  "inkPrompt",
  "dialog",
  "swallowEnter",
  "placeholder",
  "neverDraws",
  "queues",
  "codexLike",
  "geminiLike",
  "opencodeLike",
  "piLike",
] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

/** Each fixture's profile, as the readiness engine names them. */
export const AGENT_PROFILES: Readonly<Record<AgentName, string>> = {
  inkPrompt: "claude",
  dialog: "claude",
  swallowEnter: "claude",
  placeholder: "claude",
  neverDraws: "claude",
  queues: "claude",
  codexLike: "codex",
  geminiLike: "gemini",
  opencodeLike: "opencode",
  piLike: "pi",
};

export const AGENT_DIRECTORY = join(import.meta.dirname, "../../fixtures/agents");

/** This moment on the clock of `atUnixMs`. */
export const unixMs = (): number => performance.timeOrigin + performance.now();

export interface AgentEntry {
  readonly atUnixMs: number;
  readonly event: string;
  readonly text?: string;
  readonly state?: "idle" | "busy" | "asking";
  readonly dialog?: number;
  readonly [field: string]: unknown;
}

type AgentCommand = "busy" | "idle" | "ask" | "say" | "reset" | "exit" | "deaf" | "stall" | "unhandle";

type Match = string | ((entry: AgentEntry) => boolean);

let channels = 0;

export class AgentChannel implements AsyncDisposable {
  readonly log: AgentEntry[] = [];
  readonly logFile: string;
  readonly #socketPath: string;
  readonly #server: Server;
  readonly #waiters = new Waiters();
  readonly #programs = new Set<Socket>();
  #program: Socket | undefined;
  #lastCommand = 0;

  private constructor(directory: string) {
    channels += 1;
    this.logFile = join(directory, `agent-${channels}.jsonl`);
    this.#socketPath = join(directory, `agent-${channels}.sock`);
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** @param directory for the socket and the log; short, because a socket's path may not be long. */
  static async open(directory: string): Promise<AgentChannel> {
    const channel = new AgentChannel(directory);
    await new Promise<void>((resolve) => channel.#server.listen(channel.#socketPath, resolve));
    return channel;
  }

  /** What to run in the pane. */
  argv(program: AgentName, options: Readonly<Record<string, string | number>> = {}): readonly string[] {
    const more = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const file = join(AGENT_DIRECTORY, `${program}.mjs`);
    return [process.execPath, file, "--log", this.logFile, "--control", this.#socketPath, ...more];
  }

  /** The same as an executable without arguments, for a file that has an agent's name. */
  executable(program: AgentName, options: Readonly<Record<string, string | number>> = {}): string {
    const [, file = "", ...words] = this.argv(program, options);
    return `#!${process.execPath}
process.argv.push(...${JSON.stringify(words)});
void import(${JSON.stringify(file)});
`;
  }

  /** The first entry at or after `from` that matches, now or when it comes. The test's own time-out ends a vain wait. */
  next(match: Match, from = 0): Promise<AgentEntry> {
    const matches = typeof match === "string" ? (entry: AgentEntry) => entry.event === match : match;
    let at = from;
    return this.#waiters.until(() => {
      for (; at < this.log.length; at += 1) if (matches(this.log[at]!)) return this.log[at];
      return undefined;
    });
  }

  /** The answer to a command; its entry, with what the program added. */
  async tell(command: AgentCommand, args: object = {}): Promise<AgentEntry> {
    this.#lastCommand += 1;
    const id = this.#lastCommand;
    const from = this.log.length;
    if (this.#program === undefined) throw new Error("the program has not connected: wait for `ready`");
    this.#program.write(`${JSON.stringify({ ...args, id, command })}\n`);
    return this.next((entry) => (entry.event === "did" && entry["id"] === id) || entry.event === "exit", from);
  }

  /** The texts that were submitted, in order. */
  submits(from = 0): readonly string[] {
    return this.log.slice(from).flatMap(({ event, text }) => (event === "submit" && text !== undefined ? [text] : []));
  }

  count(event: string, from = 0): number {
    return this.log.slice(from).filter((entry) => entry.event === event).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) program.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(socket: Socket): void {
    this.#program = socket;
    this.#programs.add(socket);
    let carry = "";
    socket.setEncoding("utf8");
    socket.on("error", () => undefined);
    socket.on("data", (chunk: string) => {
      const lines = (carry + chunk).split("\n");
      carry = lines.pop() ?? "";
      for (const line of lines) this.log.push(JSON.parse(line) as AgentEntry);
      this.#waiters.probe();
    });
  }
}

export interface AgentProgram extends AsyncDisposable {
  readonly server: TmuxServer;
  readonly socket: PrivateSocket;
  readonly pane: PaneId;
  readonly channel: AgentChannel;
}

export interface GuestAgent extends AgentProgram {
  /** Attached to the session in a terminal of their own. */
  readonly person: UserClient;
}

export interface AgentStart {
  /** What the guest knows of the machine; default: everything. */
  readonly host?: Host;
  readonly options?: Readonly<Record<string, string | number>>;
  readonly cols?: number;
  readonly rows?: number;
}

/** The program in a session of the user's own server, a person attached, a guest connected; once it takes prompts. */
export async function guestAgent(program: AgentName, start: AgentStart = {}): Promise<GuestAgent> {
  const { cols = 100, rows = 30 } = start;
  let channel: AgentChannel | undefined;
  const fixture = await guestFixture(
    async (socket) => {
      channel = await AgentChannel.open(socket.directory);
      userSession(socket, "agent", channel.argv(program, start.options));
    },
    start.host === undefined ? {} : { host: start.host },
  );
  if (channel === undefined) throw new Error("no channel");
  const { server, socket } = fixture;
  // One row is tmux's status line.
  const person = await userClient(socket, "agent", { cols, rows: rows + 1 });
  await channel.next("ready");
  const opened = channel;
  return {
    server,
    socket,
    pane: paneOf(server, "agent"),
    channel,
    person,
    [Symbol.asyncDispose]: async () => {
      await person.leave();
      await fixture[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

interface ShellStart extends Pick<AgentStart, "options"> {
  /** What the shell runs first. */
  readonly setUp?: (directory: string) => string;
}

/** The program as the job of an interactive shell, as people start it; once it takes prompts. */
export async function agentUnderShell(
  program: AgentName,
  shell: readonly string[],
  { options, setUp }: ShellStart = {},
): Promise<AgentProgram> {
  const fixture = await ownedFixture();
  const { server, socket } = fixture;
  const channel = await AgentChannel.open(socket.directory);
  const session = await server.createSession({ name: "agent", command: shell, cols: 100, rows: 30 });
  const pane = session.activePane!;
  const line = `${setUp === undefined ? "" : `${setUp(socket.directory)}\n`}${channel.argv(program, options).map(quoted).join(" ")}\n`;
  await server.input(pane, [{ kind: "text", bytes: Buffer.from(line) }]);
  await channel.next("ready");
  return {
    server,
    socket,
    pane,
    channel,
    [Symbol.asyncDispose]: async () => {
      await fixture[Symbol.asyncDispose]();
      await channel[Symbol.asyncDispose]();
    },
  };
}

/** The program in a session of a server of ours, once it takes prompts. */
export async function ownedAgent(program: AgentName, start: AgentStart = {}): Promise<AgentProgram> {
  const { cols = 100, rows = 30 } = start;
  const fixture = await ownedFixture();
  const { server, socket } = fixture;
  const channel = await AgentChannel.open(socket.directory);
  const command = channel.argv(program, start.options);
  const session = await server.createSession({ name: "agent", command, cols, rows });
  await channel.next("ready");
  if (session.activePane === undefined) throw new Error("no pane");
  return {
    server,
    socket,
    pane: session.activePane,
    channel,
    [Symbol.asyncDispose]: async () => {
      await fixture[Symbol.asyncDispose]();
      await channel[Symbol.asyncDispose]();
    },
  };
}
