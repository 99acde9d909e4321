/**
 * The other machines: a request that names something of theirs (`main@build`) is handed over to the daemon beside it, which
 * keeps what has to be next to a pane: positions, idempotency, the program that is addressed, waits. Nothing of that is
 * repeated here, so every guarantee is that of the daemon there. Servers of a machine without a daemon are this daemon's own,
 * under such a name.
 */
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { Clock, Timer } from "../../daemon/time/clock.ts";
import type { NativeCheckedHost } from "../../protocol/api/native/nativeHosts.ts";
import type { OperationName, OperationNames } from "../../protocol/api/operationRoutes.ts";
import { parse } from "../../protocol/api/parse.ts";
import { AppError, invalidArgument, shuttingDown } from "../../protocol/errors.ts";
import { fieldsOf } from "../../protocol/text/jsonObject.ts";
import { notFound } from "../../protocol/text/nearestName.ts";
import type { EventReader } from "../kit/streams/eventLog.ts";
import type { OtherMachines } from "../kit/streams/otherMachines.ts";
import type { Call, OperationRequest } from "../operations/operation.ts";
import { OPERATIONS } from "../operations/operationTable.ts";
import type { AgentlessHost } from "./agentlessHost.ts";
import { type HostRecord, MAX_HOSTS } from "./hostBook.ts";
import { HostAgents } from "./hostAgents.ts";
import { splitName, withNames } from "./hostNames.ts";
import { hostEventResponse } from "./hostStreams.ts";
import { requireDestination, requireProgram } from "./sshArguments.ts";
import type { HostLinkState } from "./hostLink.ts";
import { type Link, listIn, RemoteHost } from "./remoteHost.ts";

interface RemoteHostsOptions {
  /** Those of this machine; their names have precedence. */
  readonly servers: ReadonlyMap<string, TmuxServer>;
  readonly hosts: readonly HostRecord[];
  readonly link: (host: HostRecord) => Link;
  /** For a machine without a daemon. */
  readonly agentless: (host: HostRecord) => AgentlessHost;
  /** Keeps the list. */
  readonly save: (hosts: readonly HostRecord[]) => void;
  readonly clock: Clock;
}

interface Theirs {
  readonly host: RemoteHost;
  /** As they are called there. */
  readonly names: OperationNames;
  readonly input: unknown;
}

const CONNECT_EVERY_MS = 100;
/** One whose connection comes and goes does not have the others tried each time. */
const CONNECT_ALL_EVERY_MS = 10_000;

/** Lists of what all machines have, and the member that holds it. */
const LISTS: Readonly<Partial<Record<OperationName, string>>> = {
  listServers: "servers",
  listAgents: "agents",
  listMessages: "messages",
  listRecordings: "recordings",
  listWorktrees: "worktrees",
};

export class RemoteHosts implements OtherMachines {
  readonly #options: RemoteHostsOptions;
  readonly #hosts = new Map<string, RemoteHost | AgentlessHost>();
  /** Those that were removed and have not ended: one that is added under the name uses the same directory. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #listeners = new Set<(name: string, state: HostLinkState) => void>();
  #connecting: Timer | undefined;
  /** When all of them were last tried. */
  #connectedMs = -Infinity;
  #isClosed = false;

  constructor(options: RemoteHostsOptions) {
    this.#options = options;
    for (const record of options.hosts) this.#open(record);
  }

  /** Connects to those that are not, one after the other: each connection is a login. */
  connect(): void {
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    if (this.#connecting !== undefined || this.#isClosed || nowMs - this.#connectedMs < CONNECT_ALL_EVERY_MS) return;
    this.#connectedMs = nowMs;
    const next = (left: readonly (RemoteHost | AgentlessHost)[]): void => {
      const [host, ...others] = left.filter(
        ({ link }) => link.state.kind === "idle" || link.state.kind === "unreachable",
      );
      this.#connecting = undefined;
      if (host === undefined) return;
      host.link.retry();
      this.#connecting = clock.callAt(clock.nowMs() + CONNECT_EVERY_MS, () => next(others));
    };
    next(this.#sorted());
  }

  /**
   * The machine that has what is named, if it is another one.
   * @param operation whose input it is @throws AppError NOT_FOUND, INVALID_ARGUMENT
   */
  find(given: OperationNames, operation?: OperationName, wanted?: unknown): Theirs | undefined {
    const found = new Set<RemoteHost>();
    const names = this.#stripped(given, found);
    // Other operations have their names in the path.
    const hasNames = operation !== undefined && OPERATIONS[operation].scope === "daemon";
    const input = hasNames
      ? withNames(OPERATIONS[operation].input, wanted, (each) => this.#strip(each, found))
      : wanted;
    const [host, other] = found;
    if (host === undefined) return undefined;
    if (other === undefined) return { host, names, input };
    throw invalidArgument(`one request cannot be for ${host.name} and for ${other.name}; send two`);
  }

  /** Opens the server if it is one of a machine without a daemon. Undefined: nothing needs to be opened. @throws AppError */
  reach(server: string | undefined, whileWaiting?: Call["whileWaiting"]): Promise<void> | undefined {
    const found = server === undefined ? undefined : this.#agentless(server);
    return found === undefined || found.host.isReached(found.name)
      ? undefined
      : found.host.reach(found.name, whileWaiting);
  }

  isAgentless(server: string): boolean {
    return this.#agentless(server) !== undefined;
  }

  finds(names: OperationNames): boolean {
    return this.find(names) !== undefined;
  }

  handOver(name: OperationName, request: OperationRequest): Promise<object> | undefined {
    const theirs = this.find(request.names, name, request.input);
    // In a query, what is wrong might look right.
    if (theirs !== undefined && request.isChecked !== true) parse(OPERATIONS[name].input, request.input);
    return theirs?.host.perform(name, theirs.names, theirs.input, request);
  }

  async withTheirs(name: OperationName, { input }: OperationRequest, here: object): Promise<object> {
    const list = LISTS[name];
    if (list === undefined || this.#hosts.size === 0 || isFiltered(input)) return here;
    const hosts = this.#sorted();
    const answers = await Promise.all(
      hosts.map(async (host) => (host instanceof RemoteHost ? host.ask(name, input) : {})),
    );
    const all = [here, ...answers].flatMap((answer) => listIn(answer, list) ?? []);
    const unreachable = hosts.flatMap((host, at) => {
      const isAsked = host instanceof RemoteHost;
      const isLate = host.link.state.kind !== "connected" || (isAsked && listIn(answers[at], list) === undefined);
      return isLate ? [host.name] : [];
    });
    const unread = [here, ...answers]
      .map((answer) => Number(fieldsOf(answer)?.["unread"] ?? 0))
      .reduce((sum, count) => sum + count, 0);
    return {
      ...here,
      [list]: all,
      ...(unread === 0 ? {} : { unread }),
      ...(unreachable.length === 0 ? {} : { unreachable }),
    };
  }

  /** Called with every new state of a host's connection. Returns the unsubscribe function. */
  subscribe(listener: (name: string, state: HostLinkState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  readAgents(out: Parameters<OtherMachines["readAgents"]>[0]): EventReader {
    const hosts = {
      // Those without a daemon have no agents.
      all: () => this.#sorted().filter((host) => host instanceof RemoteHost),
      subscribe: (listener: (name: string) => void) => this.subscribe(listener),
    };
    return new HostAgents({ hosts, clock: this.#options.clock, out });
  }

  followPane(...[c, names, options]: Parameters<OtherMachines["followPane"]>): Promise<Response> {
    const theirs = this.find(names);
    if (theirs === undefined) throw new AppError("NOT_FOUND", `${names.server} is on no other machine`);
    const { server = "", pane = "" } = theirs.names;
    return hostEventResponse(c, theirs.host, {
      ...options,
      path: ["v1", "servers", server, "panes", pane, "stream"],
      lastEventId: c.req.header("last-event-id"),
      clock: this.#options.clock,
    });
  }

  list(): Promise<readonly NativeCheckedHost[]> {
    return Promise.all(this.#sorted().map((host) => host.check()));
  }

  async check(name: string, signal: AbortSignal | undefined): Promise<NativeCheckedHost> {
    const host = this.#host(name);
    await connected(host, signal);
    return host.check();
  }

  async add(record: HostRecord, signal: AbortSignal | undefined): Promise<NativeCheckedHost> {
    await this.#leaving.get(record.name)?.catch(() => undefined);
    if (this.#isClosed) throw shuttingDown();
    requireDestination(record.destination);
    if (record.program !== undefined) requireProgram(record.program);
    const { name } = record;
    if (this.#hosts.has(name)) {
      throw new AppError(
        "ALREADY_EXISTS",
        `there is a host ${JSON.stringify(name)} already; remove it with \`tmuxwire hosts rm ${name}\``,
      );
    }
    if (this.#hosts.size >= MAX_HOSTS) {
      throw new AppError(
        "RESOURCE_LIMIT",
        `${MAX_HOSTS} hosts are served at most; remove one with \`tmuxwire hosts rm NAME\``,
      );
    }
    this.#options.save([...this.#records(), record]);
    const host = this.#open(record);
    await connected(host, signal);
    return host.check();
  }

  async remove(name: string): Promise<void> {
    const host = this.#host(name);
    this.#options.save(this.#records().filter((record) => record.name !== name));
    this.#hosts.delete(name);
    const left = host.forget().finally(() => this.#leaving.delete(name));
    this.#leaving.set(name, left);
    await left;
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#connecting?.cancel();
    await Promise.all([...this.#hosts.values()].map((host) => host.close()));
  }

  #open(record: HostRecord): RemoteHost | AgentlessHost {
    const { agentless, link, clock } = this.#options;
    const host = record.agentless === true ? agentless(record) : new RemoteHost(record, link(record), clock);
    this.#hosts.set(record.name, host);
    // The network is back: the others need not wait for their next try.
    host.link.subscribe((state) => {
      for (const listener of this.#listeners) listener(record.name, state);
      if (state.kind === "connected") this.connect();
    });
    return host;
  }

  #records(): HostRecord[] {
    return [...this.#hosts.values()].map(({ record }) => record);
  }

  #sorted(): (RemoteHost | AgentlessHost)[] {
    return [...this.#hosts.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  #host(name: string): RemoteHost | AgentlessHost {
    const host = this.#hosts.get(name);
    if (host !== undefined) return host;
    throw notFound(`there is no host ${JSON.stringify(name)}; run \`tmuxwire hosts\``, name, this.#hosts.keys());
  }

  /** The machine without a daemon that has the server, and what that is called there. */
  #agentless(server: string): { readonly host: AgentlessHost; readonly name: string } | undefined {
    const split = splitName(server);
    const host = split === undefined ? undefined : this.#hosts.get(split.host);
    return split === undefined || host === undefined || host instanceof RemoteHost
      ? undefined
      : { host, name: split.name };
  }

  #stripped(names: OperationNames, found: Set<RemoteHost>): OperationNames {
    const stripped: { -readonly [Key in keyof OperationNames]: OperationNames[Key] } = { ...names };
    for (const key of ["server", "agent", "recording", "message"] as const) {
      const name = names[key];
      if (name !== undefined) stripped[key] = this.#strip(name, found);
    }
    // These may hold an `@` of their own: only a host's name is one.
    for (const key of ["pane", "worktree"] as const) {
      const name = names[key];
      const split = name === undefined ? undefined : splitName(name);
      if (split === undefined || !(this.#hosts.get(split.host) instanceof RemoteHost)) continue;
      if (key === "pane" && this.#options.servers.get(names.server ?? "")?.findSession(name!) !== undefined) continue;
      stripped[key] = this.#strip(name!, found);
    }
    return stripped;
  }

  /** @throws AppError NOT_FOUND */
  #strip(name: string, found: Set<RemoteHost>): string {
    const split = splitName(name);
    const host = split === undefined ? undefined : this.#host(split.host);
    // What a machine without a daemon has is here under this name.
    if (split === undefined || !(host instanceof RemoteHost)) return name;
    found.add(host);
    return split.name;
  }
}

/** Only of one server, or one agent: that is here. */
const isFiltered = (input: unknown): boolean =>
  typeof input === "object" &&
  input !== null &&
  ["server", "agent"].some((key) => (input as Record<string, unknown>)[key] !== undefined);

/** Until it is connected, or it is known why it is not. */
async function connected({ link }: RemoteHost | AgentlessHost, signal: AbortSignal | undefined): Promise<void> {
  link.retry();
  await link.connection(signal).catch(() => signal?.throwIfAborted());
}
