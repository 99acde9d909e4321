/**
 * One control client: sends commands, pairs guard blocks with them, and passes on output and notifications in the order tmux
 * wrote them. Everything from a chunk to its handlers is synchronous. A connection is used once; the supervisor opens the
 * next one.
 */
import { joinGroup } from "../../protocol/command/build.ts";
import type { ForeignRowFormat, RowFormat } from "../../protocol/command/rowFormat.ts";
import { AppError, toAppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { Notification } from "../../protocol/control/notifications.ts";
import { ControlParser, type GuardBlock, type ReplyShape } from "../../protocol/control/parser.ts";
import { clip } from "../../protocol/text/clip.ts";
import { CommandQueue, type Outcome, type Reply, type Settle } from "./commandQueue.ts";
import { faulty } from "./connectionErrors.ts";
import { createNonce, nonceCommand } from "./framing.ts";
import { USUAL_TMUX, type TmuxFeatures } from "./tmuxFeatures.ts";
import type { OpenTransport, Transport, TransportOptions } from "../host/clients/transport.ts";

const NONE: ReplyShape = { kind: "none" };
const OURS: ReplyShape = { kind: "ours" };
const MAX_REASON_CHARS = 200;
const utf8 = new TextDecoder();

interface ControlConnectionOptions {
  readonly open: OpenTransport;
  readonly spawn: Omit<TransportOptions, "onData" | "onClose">;
  /** Escaped pane output, `line[from, to)`, a view valid during the call. */
  readonly onOutput: (paneNumber: number, line: Uint8Array, from: number, to: number) => void;
  readonly onNotification: (notification: Notification) => void;
  /** Called after each chunk, when everything in it has been passed on. */
  readonly onChunkEnd: () => void;
  /** Called once, after every caller has been settled with this error. */
  readonly onClosed: (error: AppError) => void;
}

/** How tmux refuses the commands of a read-only client (cmd-queue.c). */
const READ_ONLY = "client is read-only";

export class ControlConnection {
  /** The server's features; known after `introduce`. */
  features: TmuxFeatures = USUAL_TMUX;
  readonly #options: ControlConnectionOptions;
  readonly #queue = new CommandQueue();
  readonly #parser: ControlParser;
  readonly #transport: Transport;
  #outgoing: string[] = [];
  #flushScheduled = false;
  /**
   * True once the block of the attach command has been seen. The start of control mode alone is too early: a command written
   * then can be executed before the attach, in whichever session tmux picks (2 in 60).
   */
  #attaching = false;
  #received = false;
  #replies = 0;
  /** tmux numbers the commands of all clients, and its own work, in the order in which it executes them. */
  #number: number | undefined;
  #othersCommands = 0;
  #exitReason: string | undefined;
  #exited = false;
  #closed: AppError | undefined;

  constructor(options: ControlConnectionOptions) {
    this.#options = options;
    this.#parser = new ControlParser({
      output: options.onOutput,
      expect: () => this.#queue.expect(),
      block: (block) => {
        this.#count(block);
        if (!block.client) {
          this.#attaching = true;
          if (!block.ok) this.#complaint(utf8.decode(block.body));
          return;
        }
        this.#replies += 1;
        this.#queue.reply(block);
        // Our client was made read-only. The next heartbeat would notice, but until then every command would fail.
        if (!block.ok && utf8.decode(block.body).trim() === READ_ONLY) this.close(faulty("it was made read-only"));
      },
      notification: (notification) => {
        if (notification.kind === "exit") {
          this.#exitReason ??= notification.reason ?? "detached";
          this.#exited = true;
          return;
        }
        if (notification.kind === "other") this.#complaint(notification.text);
        options.onNotification(notification);
      },
    });
    this.#transport = options.open({
      ...options.spawn,
      onData: (chunk) => this.#receive(chunk),
      onClose: () => this.close(this.#lost()),
    });
  }

  get pid(): number {
    return this.#transport.pid;
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** The number of replies received; a change means that tmux is alive. */
  get replies(): number {
    return this.#replies;
  }

  /**
   * How many commands tmux has executed for others, as of the last reply. If it has not grown, nobody has done anything.
   * tmux's own work counts, too.
   */
  get othersCommands(): number {
    return this.#othersCommands;
  }

  get pendingCommands(): number {
    return this.#queue.pending;
  }

  /** One command whose reply has no body, or a body of ids and numbers. `settle` runs in the turn of the reply. */
  send(command: string, shape: "none" | "ours", settle: Settle): void {
    this.#write(`${command}\n`, [shape === "none" ? NONE : OURS], settle);
  }

  /** Several commands as one step: one reply each, or one error. No reply may begin with `%` (its shape is "none"). */
  sendGroup(commands: readonly string[], settle: Settle): void {
    this.#write(
      `${joinGroup(commands)}\n`,
      commands.map(() => NONE),
      settle,
    );
  }

  /**
   * One command whose reply holds foreign text. `build` gets the nonce to put into its rows; the reply's trailer is
   * `trailerFormat` expanded for `target`, in the same step.
   */
  sendForeign(
    build: (nonce: string) => string,
    trailer: { readonly format: string; readonly target: PaneId } | undefined,
    settle: (outcome: Outcome, nonce: string) => void,
  ): void {
    const nonce = createNonce();
    this.#write(
      `${build(nonce)}\n${nonceCommand(nonce, trailer?.format ?? "", trailer?.target)}\n`,
      [{ kind: "foreign", nonce }],
      (outcome) => settle(outcome, nonce),
    );
  }

  /** `send`, as a promise. @throws AppError TMUX_COMMAND_FAILED, RESOURCE_LIMIT, CONNECTION_LOST */
  async command(command: string, shape: "none" | "ours" = "ours"): Promise<Reply> {
    const [reply] = await settled((settle) => this.send(command, shape, settle));
    return reply!;
  }

  /** Sends a command and decodes the rows that it prints in this format. */
  async rows<Row>(
    rows: Pick<RowFormat<Row, never>, "format" | "decode">,
    build: (format: string) => string,
  ): Promise<Row[]> {
    return rows.decode((await this.command(build(rows.format))).body);
  }

  group(commands: readonly string[]): Promise<readonly Reply[]> {
    return settled((settle) => this.sendGroup(commands, settle));
  }

  /** The same, for rows that hold foreign text. */
  async foreignRows<Row>(rows: ForeignRowFormat<Row>, build: (format: string) => string): Promise<Row[]> {
    const { body, nonce } = await this.foreign((fresh) => build(rows.format(fresh)));
    return rows.decode(body, nonce);
  }

  /** `sendForeign` as a promise; for formats, not for captures. */
  async foreign(build: (nonce: string) => string): Promise<{ readonly body: Uint8Array; readonly nonce: string }> {
    let used = "";
    const [reply] = await settled((settle) => this.sendForeign((nonce) => build((used = nonce)), undefined, settle));
    return { body: this.features.meant(reply!.body), nonce: used };
  }

  /** tmux has been silent too long: callers fail now, and late replies still find their slots. */
  abandonPending(error: AppError): void {
    this.#queue.abandonAll(error);
  }

  /** Ends the client; everything pending is settled with `error` at once. Safe to call twice. */
  close(error = new AppError("CONNECTION_LOST", "the connection to tmux was closed")): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    this.#outgoing = [];
    this.#parser.end();
    this.#transport.close();
    this.#queue.failAll(error);
    this.#options.onClosed(error);
  }

  #write(text: string, shapes: readonly ReplyShape[], settle: Settle): void {
    if (this.#closed !== undefined) throw this.#closed;
    this.#queue.add(shapes, Buffer.byteLength(text), settle);
    if (!this.#received || this.#flushScheduled) {
      this.#outgoing.push(text);
      return;
    }
    // The first command of a turn is written at once, so that tmux begins; the rest follow in one write.
    this.#flushScheduled = true;
    this.#transport.write(text);
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#flushScheduled = false;
    if (this.#outgoing.length === 0) return;
    const text = this.#outgoing.join("");
    this.#outgoing = [];
    this.#transport.write(text);
  }

  #count({ client, number, lastNumber }: GuardBlock): void {
    const before = this.#number ?? number - 1;
    const ours = !client ? 0 : number === lastNumber ? 1 : 2;
    this.#othersCommands += Math.max(0, lastNumber - before - ours);
    // A hook's block inside a foreign reply is passed on after it.
    this.#number = Math.max(before, lastNumber);
  }

  #receive(chunk: Uint8Array): void {
    if (this.#closed !== undefined) return;
    try {
      this.#parser.push(chunk);
    } catch (error) {
      // A limit was exceeded or pairing was lost, so nothing after this can be trusted.
      this.close(toAppError(error));
      return;
    }
    this.#options.onChunkEnd();
    // Nothing follows, and the pty may take a while to report its end.
    if (this.#exited) this.close(this.#lost());
    if (!this.#received && this.#attaching) {
      this.#received = true;
      this.#flush();
    }
  }

  /** Text before tmux's first reply says why it cannot start. Later text may come from anyone and is not kept. */
  #complaint(text: string): void {
    if (this.#replies === 0 && !text.startsWith("%")) this.#exitReason ??= clip(text.trim(), MAX_REASON_CHARS);
  }

  #lost(): AppError {
    const reason = this.#exitReason ?? "the control client ended";
    return new AppError("CONNECTION_LOST", `the connection to tmux was lost (${reason}); reconnecting`, {
      details: { reason, tmux: this.#exitReason },
    });
  }
}

function settled(send: (settle: Settle) => void): Promise<readonly Reply[]> {
  return new Promise((resolve, reject) => {
    send((outcome) => {
      if ("error" in outcome) reject(outcome.error);
      else resolve(outcome.replies);
    });
  });
}
