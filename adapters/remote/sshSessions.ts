/**
 * Sessions on a host that has no tmuxwire: each is a channel of one ssh connection, and sshd counts them (`MaxSessions`, 10
 * unless its owner says otherwise). So they are counted here, too: before the tenth another connection is made, a login of its
 * own. Where sshd takes fewer, that is learned from its refusal, before anything was run.
 */
import { openPiped } from "../../daemon/host/clients/pipeTransport.ts";
import type { Transport } from "../../daemon/host/clients/transport.ts";
import type { Timer } from "../../daemon/time/clock.ts";
import { AppError, toAppError } from "../../protocol/errors.ts";
import { commandArguments, terminalArguments } from "./sshArguments.ts";
import { type CommandEnd, SESSION_REFUSED, stays } from "./sshFailure.ts";
import { connectedInTime, type SshMaster, type SshMasterOptions, startMaster } from "./sshMaster.ts";

/** One fewer than sshd's own default. */
const SESSIONS_EACH = 9;
const MAX_CONNECTIONS = 8;
/** A further connection without sessions is kept for so long. */
const IDLE_MS = 60_000;
/** After a login that was refused no other is tried for so long: it could lock the account. */
const NO_LOGIN_MS = 600_000;
/** How often a refusal is taken for a session that has ended here and not yet on the host: it is gone in milliseconds. */
const MAX_TRIES = 20;
const MAX_ERROR_CHARS = 4_096;
/** Start-up files of the host's shell may print before it. */
const MAX_BEFORE_MARK_BYTES = 65_536;
/** What may be written before the session has begun; control clients wait for tmux's first words. */
const MAX_WAITING_CHARS = 65_536;

/** The first line of every session that stays; what follows is the session's output. A terminal adds CR. */
export const SESSION_MARK = "tmuxwire-session";
const MARK_LINE = new RegExp(`(?:^|\\n)${SESSION_MARK}\r?\n`);

interface Connection {
  readonly master: SshMaster;
  used: number;
  /** How many sessions it takes at once. */
  room: number;
  /** Sessions that sshd has begun and that go on, and the most that there were. */
  begun: number;
  mostBegun: number;
  idle: Timer | undefined;
}

interface SessionOptions {
  /** Prints `SESSION_MARK` first. */
  readonly line: string;
  readonly hasTerminal: boolean;
  readonly onData: (chunk: Uint8Array) => void;
  readonly onClose: () => void;
}

export class SshSessions {
  readonly #options: SshMasterOptions;
  readonly #connections: Connection[];
  readonly #closing = new AbortController();
  #connecting: Promise<void> | undefined;
  #lastNumber = 1;
  #noLogin: { readonly error: AppError; readonly untilMs: number } | undefined;

  /** @param first connected; its end is told to whoever opened it */
  constructor(options: SshMasterOptions, first: SshMaster) {
    this.#options = options;
    this.#connections = [connectionOf(first, SESSIONS_EACH)];
  }

  /** Runs a line to its end. @throws AppError DAEMON_UNREACHABLE, RESOURCE_LIMIT */
  async run(line: string, timeoutMs?: number): Promise<CommandEnd> {
    for (let tries = 1; ; tries += 1) {
      // oxlint-disable-next-line no-await-in-loop -- the next try follows a refusal
      const connection = await this.#take();
      let end: CommandEnd;
      try {
        // oxlint-disable-next-line no-await-in-loop
        end = await connection.master.run(commandArguments(connection.master.controlPath, line), timeoutMs);
      } finally {
        this.#release(connection);
      }
      if (!SESSION_REFUSED.test(end.stderr)) {
        connection.mostBegun = Math.max(connection.mostBegun, 1);
        return end;
      }
      this.#refused(connection, tries);
    }
  }

  /** A session that stays. Never throws: one that cannot begin closes. */
  open(options: SessionOptions): Transport {
    const { line, hasTerminal, onData, onClose } = options;
    let inner: Transport | undefined;
    let waiting = "";
    let isClosed = false;
    const begin = async (tries = 1): Promise<void> => {
      const connection = await this.#take();
      if (isClosed) {
        this.#release(connection);
        onClose();
        return;
      }
      const { master } = connection;
      const words = hasTerminal ? terminalArguments : commandArguments;
      let errors = "";
      let hasBegun = false;
      const behind = behindMark(() => {
        hasBegun = true;
        connection.begun += 1;
        connection.mostBegun = Math.max(connection.mostBegun, connection.begun);
      });
      inner = openPiped({
        file: "ssh",
        args: words(master.controlPath, line),
        env: { ...master.env, TERM: "dumb" },
        cwd: "/",
        onData: (chunk) => {
          const output = behind(chunk);
          if (output === "never") inner?.close();
          else if (output.length > 0) onData(output);
        },
        onErrors: (chunk) => (errors = (errors + Buffer.from(chunk).toString("utf8")).slice(-MAX_ERROR_CHARS)),
        onClose: () => {
          inner = undefined;
          this.#release(connection);
          if (hasBegun) connection.begun -= 1;
          if (!hasBegun && !isClosed && SESSION_REFUSED.test(errors)) {
            this.#refused(connection, tries);
            begin(tries + 1).catch(onClose);
          } else onClose();
        },
      });
      if (waiting !== "") inner.write(waiting);
    };
    begin().catch(onClose);
    return {
      // That of ssh says nothing about the host.
      pid: -1,
      write: (text) => {
        if (inner !== undefined) inner.write(text);
        else if (waiting.length < MAX_WAITING_CHARS) waiting += text;
        else isClosed = true;
      },
      close: () => {
        isClosed = true;
        inner?.close();
      },
    };
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) {
      this.#closing.abort(new AppError("DAEMON_UNREACHABLE", `the connection to ${this.#options.name} is closed`));
    }
    await this.#connecting?.catch(() => undefined);
    for (const { idle } of this.#connections) idle?.cancel();
    await Promise.all(this.#connections.map(({ master }) => master.end()));
  }

  async #take(): Promise<Connection> {
    for (;;) {
      this.#closing.signal.throwIfAborted();
      const free = this.#connections.find(({ used, room }) => used < room);
      if (free !== undefined) {
        free.idle?.cancel();
        free.used += 1;
        return free;
      }
      this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
      // oxlint-disable-next-line no-await-in-loop -- others may take what it has
      await this.#connecting;
    }
  }

  #release(connection: Connection): void {
    const { clock } = this.#options;
    connection.used -= 1;
    if (connection.used > 0 || connection === this.#connections[0] || this.#closing.signal.aborted) return;
    connection.idle = clock.callAt(clock.nowMs() + IDLE_MS, () => this.#end(connection));
  }

  /** It takes as many as are open now, or as it is known to take: of those that have ended, sshd may not know yet. */
  #refused(connection: Connection, tries: number): void {
    connection.room = Math.max(connection.used, tries < MAX_TRIES ? connection.mostBegun : 0);
  }

  #end(connection: Connection): void {
    const at = this.#connections.indexOf(connection);
    if (at > 0) this.#connections.splice(at, 1);
    void connection.master.end();
  }

  /** @throws AppError RESOURCE_LIMIT, DAEMON_UNREACHABLE */
  async #connect(): Promise<void> {
    const options = this.#options;
    const { clock } = options;
    const { signal } = this.#closing;
    signal.throwIfAborted();
    const [first] = this.#connections as [Connection];
    const used = this.#connections.reduce((sum, connection) => sum + connection.used, 0);
    const rooms = this.#connections.every(({ room }) => room === 0);
    if (first.master.isLoggedIn || rooms || this.#connections.length >= MAX_CONNECTIONS) {
      throw new AppError(
        "RESOURCE_LIMIT",
        `${used} sessions are open on ${options.name}, and ${first.master.isLoggedIn ? "a second connection would have to log in again" : "no further one is taken"}: use fewer of its tmux sessions at once, or install tmuxwire there, which needs one`,
        { details: { host: options.name } },
      );
    }
    if (this.#noLogin !== undefined && clock.nowMs() < this.#noLogin.untilMs) throw this.#noLogin.error;
    this.#lastNumber += 1;
    const lost = (): void => this.#end(connection);
    const master = await startMaster(options, lost, signal, this.#lastNumber);
    const connection = connectionOf(master, first.room);
    try {
      await connectedInTime(options, signal, () => master.connected());
    } catch (error) {
      await master.end();
      const failure = toAppError(error);
      if (stays(failure)) this.#noLogin = { error: failure, untilMs: clock.nowMs() + NO_LOGIN_MS };
      throw error;
    }
    master.opened();
    this.#connections.push(connection);
  }
}

const connectionOf = (master: SshMaster, room: number): Connection => ({
  master,
  used: 0,
  room,
  begun: 0,
  mostBegun: 0,
  idle: undefined,
});

/**
 * What follows the mark; the same chunk where nothing has to be cut.
 * @returns of a chunk what is to be passed on; `never`: too much came without the mark
 */
function behindMark(onMark: () => void): (chunk: Uint8Array) => Uint8Array | "never" {
  let before: Buffer | undefined = Buffer.alloc(0);
  return (chunk) => {
    if (before === undefined) return chunk;
    before = Buffer.concat([before, chunk]);
    const match = MARK_LINE.exec(before.toString("latin1"));
    if (match === null) return before.length > MAX_BEFORE_MARK_BYTES ? "never" : new Uint8Array(0);
    onMark();
    const rest = before.subarray(match.index + match[0].length);
    before = undefined;
    return rest;
  };
}
