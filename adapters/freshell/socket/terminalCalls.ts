/** A `/ws` client's calls on terminals after its hello: attachments, creates, waits. */
import type { ClientMessage, ClientMessageOf } from "../../../protocol/api/freshell/freshellWire.ts";
import type { DEVICE_MESSAGES } from "../../../protocol/api/freshell/rpc.ts";
import type { SESSION_MESSAGES } from "../../../protocol/api/freshell/sessions.ts";
import type { Once } from "../../../daemon/ops/once.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { AppError, invalidArgument, toAppError } from "../../../protocol/errors.ts";
import { CREATES_WITHIN_MS, MAX_CREATES } from "../freshellLimits.ts";
import { type WaitParts, waitOn } from "../freshellWaits.ts";
import { type Terminal, textParts } from "../terminals/terminal.ts";
import { Attachment } from "./attachment.ts";
import type { FrameShare } from "./outputFrames.ts";
import type { SocketClient } from "./socketClient.ts";

type CallMessage = Exclude<
  ClientMessage,
  { type: "hello" | "ping" | keyof typeof DEVICE_MESSAGES | keyof typeof SESSION_MESSAGES }
>;

interface TerminalParts extends WaitParts {
  readonly frames: FrameShare;
  readonly creates: { readonly terminals: Once<Terminal> };
  readonly clock: Clock;
  /** Key of its creates: the device's, or this connection's own. */
  readonly creator: string;
  readonly chunkBytes: number | undefined;
}

export class TerminalCalls {
  readonly #client: SocketClient;
  readonly #parts: TerminalParts;
  readonly #attachments = new Map<string, Attachment>();
  readonly #waits = new Map<string, AbortController>();
  readonly #unwatch: () => void;
  #createdMs: readonly number[] = [];
  #isListDue = false;
  #isClosed = false;

  constructor(client: SocketClient, parts: TerminalParts) {
    this.#client = client;
    this.#parts = parts;
    this.#unwatch = parts.terminals.watch(() => this.#listChanged());
  }

  perform(message: CallMessage): void {
    const { terminals } = this.#parts;
    switch (message.type) {
      case "terminal.create":
        return this.#create(message);
      case "terminal.attach":
        return this.#withTerminal(message, (terminal) => this.#attach(terminal, undefined));
      case "terminal.detach":
        return this.#withTerminal(message, (terminal) => this.#detach(terminal));
      case "terminal.input": {
        const parts = message.data === "" ? [] : textParts(message.data);
        return this.#withTerminal(message, (terminal) => this.#settle(terminal.type(parts), terminal.id));
      }
      case "terminal.resize":
        return this.#withTerminal(message, (terminal) => this.#settle(terminal.resize(message), terminal.id));
      case "terminal.kill":
        return this.#withTerminal(message, (terminal) => this.#settle(terminals.kill(terminal), terminal.id));
      case "terminal.list": {
        const entries = terminals.list().map((terminal) => terminal.entry());
        const { requestId } = message;
        return this.#client.send({ type: "terminal.list.response", requestId, terminals: entries });
      }
      case "terminal.meta.list":
        return this.#client.send({
          type: "terminal.meta.list.response",
          requestId: message.requestId,
          terminals: terminals.list().map(({ id, identity, lastActivityAt }) => ({
            terminalId: id,
            cwd: identity.cwd,
            updatedAt: lastActivityAt,
          })),
        });
      case "wait.start":
        return void this.#wait(message);
      case "wait.cancel":
        this.#waits.get(message.requestId)?.abort(new AppError("CANCELLED", "the client has cancelled the wait"));
        this.#waits.delete(message.requestId);
        return undefined;
    }
  }

  /** Safe to call twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unwatch();
    for (const wait of this.#waits.values()) wait.abort(new AppError("CANCELLED", "the client has left"));
    this.#waits.clear();
    for (const attachment of this.#attachments.values()) attachment.close();
    this.#attachments.clear();
  }

  #withTerminal({ terminalId }: { readonly terminalId: string }, use: (terminal: Terminal) => void): void {
    const terminal = this.#parts.terminals.find(terminalId);
    if (terminal === undefined) this.#noSuchTerminal(terminalId);
    else use(terminal);
  }

  #noSuchTerminal(terminalId: string, message = "there is no such terminal; list the terminals again"): void {
    this.#client.fail("INVALID_TERMINAL_ID", message, { terminalId });
  }

  #create(message: ClientMessageOf<"terminal.create">): void {
    const { terminals, creates, creator } = this.#parts;
    const { requestId } = message;
    const key = [creator, requestId];
    let made = creates.terminals.earlier(key, "");
    if (made === undefined) {
      if (message.restore !== true && !this.#mayCreate()) {
        const text = `more than ${MAX_CREATES} terminals in ${CREATES_WITHIN_MS / 1_000} s; wait, and try again`;
        this.#client.fail("RATE_LIMITED", text, { requestId });
        return;
      }
      made = creates.terminals.run(key, "", () => terminals.create(message));
    }
    void this.#created(made, requestId);
  }

  async #created(made: Promise<Terminal>, requestId: string): Promise<void> {
    try {
      const terminal = await made;
      if (this.#isClosed) return;
      if (terminal.isForgotten) this.#noSuchTerminal(terminal.id);
      else this.#attach(terminal, requestId);
    } catch (error) {
      const { message, details } = this.#client.faultOf(error);
      this.#client.fail("PTY_SPAWN_FAILED", message, { requestId, details });
    }
  }

  #mayCreate(): boolean {
    const nowMs = this.#parts.clock.nowMs();
    this.#createdMs = this.#createdMs.filter((atMs) => nowMs - atMs < CREATES_WITHIN_MS);
    if (this.#createdMs.length >= MAX_CREATES) return false;
    this.#createdMs = [...this.#createdMs, nowMs];
    return true;
  }

  #attach(terminal: Terminal, requestId: string | undefined): void {
    const known = this.#attachments.get(terminal.id);
    if (known?.alsoFor(requestId) === true) return;
    known?.close();
    this.#attachments.delete(terminal.id);
    let attachment: Attachment | undefined;
    const onClosed = (error: AppError | undefined): void => {
      if (this.#attachments.get(terminal.id) === attachment) this.#attachments.delete(terminal.id);
      if (error !== undefined) this.#noSuchTerminal(terminal.id, error.message);
    };
    try {
      attachment = new Attachment({ ...this.#parts, client: this.#client, terminal, requestId, onClosed });
      this.#attachments.set(terminal.id, attachment);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === "NOT_FOUND") this.#noSuchTerminal(terminal.id);
      else this.#client.failed(error, { requestId, terminalId: terminal.id });
    }
  }

  #detach({ id }: Terminal): void {
    this.#attachments.get(id)?.close();
    this.#attachments.delete(id);
    this.#client.send({ type: "terminal.detached", terminalId: id });
  }

  /** Reports only a failure. */
  #settle(work: Promise<unknown>, terminalId: string): void {
    work.catch((thrown: unknown) => {
      const error = toAppError(thrown);
      const isGone = error.code === "NOT_FOUND" || error.code === "INVALID_TARGET";
      if (isGone) this.#noSuchTerminal(terminalId, error.message);
      else this.#client.failed(error, { terminalId });
    });
  }

  async #wait(message: ClientMessageOf<"wait.start">): Promise<void> {
    const { type: _type, requestId, ...asked } = message;
    const wait = new AbortController();
    try {
      if (this.#waits.has(requestId)) {
        throw invalidArgument("a wait with this requestId is in progress; use another one");
      }
      const run = waitOn(asked, this.#parts);
      this.#waits.set(requestId, wait);
      const result = await run(wait.signal);
      this.#client.send({ type: "wait.result", requestId, ok: true, result });
    } catch (error) {
      // A cancelled wait gets no response.
      const { send } = this.#client;
      if (!wait.signal.aborted) send({ type: "wait.result", requestId, ok: false, error: this.#client.faultOf(error) });
    } finally {
      if (this.#waits.get(requestId) === wait) this.#waits.delete(requestId);
    }
  }

  /** Once per turn, for all changes in it. */
  #listChanged(): void {
    if (this.#isListDue) return;
    this.#isListDue = true;
    setImmediate(() => {
      this.#isListDue = false;
      if (!this.#isClosed) this.#client.send({ type: "terminal.list.updated" });
    });
  }
}
