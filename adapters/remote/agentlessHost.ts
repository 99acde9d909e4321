/**
 * One other machine that has tmux and no tmuxwire: its servers are served by this daemon itself, whose control clients run
 * there as sessions of ssh. Nothing is known of its processes, as of any machine that reports none (docs/platforms.md), and a
 * connection that is lost is a new epoch, with a declared gap.
 */
import { basename } from "node:path";
import { hostAway } from "../../daemon/connection/connectionErrors.ts";
import type { Host, HostClients } from "../../daemon/host/host.ts";
import type { TransportOptions } from "../../daemon/host/clients/transport.ts";
import { remoteScript } from "../../daemon/host/clients/launcher.ts";
import { unknownHost } from "../../daemon/host/unknownHost.ts";
import { OWN_SERVER_NAME } from "../../daemon/ops/daemonConfig.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { within } from "../../daemon/time/within.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { NativeCheckedHost, NativeHost } from "../../protocol/api/native/nativeHosts.ts";
import { AppError } from "../../protocol/errors.ts";
import { shellWord } from "../../protocol/text/shellWord.ts";
import { type AgentlessConnection, withOrigin } from "./agentlessConnection.ts";
import type { HostRecord } from "./hostBook.ts";
import type { HostLink } from "./hostLink.ts";
import { nameOn } from "./hostNames.ts";
import { ASKED_WITHIN_MS, describeHost } from "./remoteHost.ts";
import { requireProgram, scriptLine } from "./sshArguments.ts";
import { SESSION_MARK } from "./sshSessions.ts";

/** The user's own tmux there. */
const USERS = "default";
/** The socket of the server that is this daemon's. */
const OWN_SOCKET = "tmuxwire";
/** Names of sockets that can be named here. */
const SOCKET_NAME = /^[\w.-]{1,64}$/;

/** Start-up files may print before it. */
const BEHIND_MARK = `echo; echo ${SESSION_MARK}; exec "$@"`;
type AgentlessLink = Pick<
  HostLink<AgentlessConnection>,
  "state" | "current" | "connection" | "check" | "subscribe" | "retry" | "close" | "forget"
>;

interface AgentlessHostOptions {
  readonly record: HostRecord;
  readonly link: AgentlessLink;
  /** Of its control clients (`withOrigin`). */
  readonly origin: string;
  readonly clock: Clock;
  /** Opens a server of the host: its user's, or one of our own. */
  readonly open: (place: ServerPlace) => Promise<TmuxServer>;
  /** Those of all machines, by name: its own are added and removed. */
  readonly servers: Map<string, TmuxServer>;
}

export interface ServerPlace {
  readonly host: Host;
  /** As it is called here. */
  readonly name: string;
  readonly socketPath: string;
  readonly tmux: string;
  readonly isOwned: boolean;
}

export class AgentlessHost {
  readonly record: HostRecord;
  readonly link: AgentlessLink;
  readonly #options: AgentlessHostOptions;
  readonly #machine: Host;
  readonly #opening = new Map<string, Promise<void>>();
  readonly #opened = new Map<string, TmuxServer>();
  readonly #stopFollowing: () => void;
  #checking: Promise<number | null> | undefined;

  constructor(options: AgentlessHostOptions) {
    const { record, link, origin } = options;
    this.record = record;
    this.link = link;
    this.#options = options;
    this.#machine = machineOver(record, link, origin);
    this.#stopFollowing = link.subscribe(({ kind }) => {
      // What runs there is served without being asked for. Failures are told to whoever asks.
      const sockets = kind === "connected" ? (link.current?.host.sockets ?? []) : [];
      if (sockets.includes(USERS)) this.reach(USERS).catch(() => undefined);
      if (sockets.includes(OWN_SOCKET)) this.reach(OWN_SERVER_NAME).catch(() => undefined);
    });
  }

  get name(): string {
    return this.record.name;
  }

  /**
   * Opens a server of the host, unless it is open, and connects to the host if need be.
   * @param bare its name there: that of its socket
   * @throws AppError NOT_FOUND, DAEMON_UNREACHABLE with `details.state`; the reason of `whileWaiting`, if the host was away
   */
  async reach(bare: string, whileWaiting?: () => AbortSignal): Promise<void> {
    const signal = this.link.current === undefined ? whileWaiting?.() : undefined;
    await this.link.connection(signal);
    let opening = this.#opening.get(bare);
    if (opening === undefined) {
      opening = this.#open(bare).catch((error: unknown) => {
        this.#opening.delete(bare);
        throw error;
      });
      this.#opening.set(bare, opening);
    }
    await opening;
    signal?.throwIfAborted();
  }

  /** The host is connected, and the server is open. */
  isReached(bare: string): boolean {
    return this.#opened.has(bare) && this.link.current !== undefined;
  }

  /** As it is now. */
  async check(): Promise<NativeCheckedHost> {
    const { link } = this;
    const isConnected = link.state.kind === "connected";
    // Each takes a session, and a machine that is late has enough of them: they share one.
    const asked = isConnected ? (this.#checking ??= this.#ask()) : Promise.resolve(null);
    const answer = await within<number | null>(this.#options.clock, ASKED_WITHIN_MS, null, (resolve) => {
      void asked.then(resolve);
    });
    const roundTripMs = answer === null ? null : Math.round(answer);
    const servers = link.state.kind === "connected" ? this.#opened.size : null;
    return { ...this.describe(), roundTripMs, servers, agents: null };
  }

  describe(): NativeHost {
    return describeHost(this.record, this.link.state);
  }

  /** It is served no longer. */
  forget(): Promise<void> {
    return this.#leave(() => this.link.forget());
  }

  close(): Promise<void> {
    return this.#leave(() => this.link.close());
  }

  #ask(): Promise<number | null> {
    const asked = this.link.check().catch(() => null);
    return asked.finally(() => (this.#checking = undefined));
  }

  async #open(bare: string): Promise<void> {
    const { link, name, record } = this;
    const { open, servers } = this.#options;
    const { host } = await link.connection();
    const isOwned = bare === OWN_SERVER_NAME;
    // Sockets that came since are not listed.
    const isThere = isOwned || bare === USERS || host.sockets.includes(bare) || (await this.#isThere(bare));
    if (!isThere) {
      throw new AppError(
        "NOT_FOUND",
        `there is no tmux socket ${JSON.stringify(bare)} in ${host.socketDirectory} on ${name}; run \`tmuxwire servers\``,
      );
    }
    const server = await open({
      host: this.#machine,
      name: nameOn(name, bare),
      socketPath: `${host.socketDirectory}/${isOwned ? OWN_SOCKET : bare}`,
      tmux: record.program ?? "tmux",
      isOwned,
    });
    this.#opened.set(bare, server);
    servers.set(nameOn(name, bare), server);
  }

  async #isThere(bare: string): Promise<boolean> {
    if (!SOCKET_NAME.test(bare)) return false;
    const { host, sessions } = await this.link.connection();
    const { code } = await sessions.run(`test -S ${shellWord(`${host.socketDirectory}/${bare}`)}`);
    return code === 0;
  }

  /** Its servers are served no longer; what runs there goes on. */
  async #leave(endLink: () => Promise<void>): Promise<void> {
    this.#stopFollowing();
    await this.#closeServers();
    await endLink();
    // Those that were being opened have failed with the link, or are open.
    await Promise.allSettled(this.#opening.values());
    await this.#closeServers();
  }

  async #closeServers(): Promise<void> {
    const opened = [...this.#opened];
    this.#opened.clear();
    for (const [bare] of opened) this.#options.servers.delete(nameOn(this.name, bare));
    await Promise.all(opened.map(([, server]) => server.close()));
  }
}

/**
 * Arguments of tmux with the socket by its name (`-L`): then tmux itself makes its directory, and refuses one that others may
 * use (tmux.c `make_label`). All sockets are in the directory where it looks for names.
 */
function withLabel(args: readonly string[]): readonly string[] {
  const at = args.indexOf("-S");
  return at < 0 ? args : args.toSpliced(at, 2, "-L", basename(args[at + 1] ?? ""));
}

/** The machine as the daemon's servers see it. */
function machineOver({ name, program = "tmux" }: HostRecord, link: AgentlessLink, origin: string): Host {
  const tmux = requireProgram(program);
  const away = (): AppError => {
    const { kind, message } = link.state;
    return hostAway(message ?? `${name} is not connected; run \`tmuxwire hosts\``, { host: name, state: kind });
  };
  const line = (mode: string, { args, tmuxVersion }: TransportOptions): string => {
    const words = withLabel(args).map((word) => shellWord(withOrigin(word, origin)));
    return scriptLine(remoteScript(SESSION_MARK, tmuxVersion), tmux, mode, ...words);
  };
  const session = (mode: string, hasTerminal: boolean, options: TransportOptions) => {
    const sessions = link.current?.sessions;
    const { onData, onClose } = options;
    if (sessions !== undefined) return sessions.open({ line: line(mode, options), hasTerminal, onData, onClose });
    setImmediate(onClose);
    return { pid: -1, write: () => undefined, close: () => undefined };
  };
  const clients: HostClients = {
    open: (options) => session("-CC", true, options),
    openShort: (options) => session("-C", false, options),
    openDirect: undefined,
    hold: undefined,
    run: async (_file, args, _env, { timeoutMs }) => {
      const sessions = link.current?.sessions;
      if (sessions === undefined) return { failure: { code: "EHOSTUNREACH", message: away().message }, stdout: "" };
      try {
        const command = scriptLine(BEHIND_MARK, tmux, ...withLabel(args).map(shellWord));
        const { code, stdout: printed, stderr } = await sessions.run(command, timeoutMs);
        const [, ...behind] = printed.split(`\n${SESSION_MARK}\n`);
        const stdout = behind.join(`\n${SESSION_MARK}\n`);
        return code === 0 ? { stdout } : { failure: { code, message: stderr }, stdout };
      } catch (error) {
        return { failure: { code: "EHOSTUNREACH", message: (error as Error).message }, stdout: "" };
      }
    },
  };
  const { sockets, ...rest } = unknownHost(clients);
  return {
    ...rest,
    sockets: {
      ...sockets,
      exists: () => (link.current === undefined ? undefined : true),
      // tmux does (`withLabel`).
      prepare: async () => undefined,
      requireOwn: (path, uid) => {
        const own = link.current?.host.uid;
        if (uid === undefined || own === undefined || uid === own) return;
        throw new AppError(
          "CONFIGURATION_INVALID",
          `the tmux server at ${path} on ${name} belongs to user ${uid}, not to you`,
        );
      },
      connect: async () => (link.current === undefined ? { accepts: false, errno: undefined, why: away() } : undefined),
      // The host is back.
      watch: (_directory, listener) => {
        const close = link.subscribe(({ kind }) => kind === "connected" && listener(null));
        return { close };
      },
    },
  };
}
