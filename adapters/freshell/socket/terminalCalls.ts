/** A `/ws` client's calls on terminals after its hello: attachments, creates, waits. */
import type { ClientMessage, ClientMessageOf } from "../../../protocol/api/freshell/freshellWire.ts";
import type { DEVICE_MESSAGES } from "../../../protocol/api/freshell/rpc.ts";
import type { SESSION_MESSAGES } from "../../../protocol/api/freshell/sessions.ts";
import { AppError, toAppError } from "../../../protocol/errors.ts";
import { CREATES_WITHIN_MS, MAX_CREATES } from "../freshellLimits.ts";
import { sourceOf, waitFor } from "../freshellWaits.ts";
import type { Terminal } from "../terminals/terminal.ts";
import { textParts, typeInto } from "../terminals/terminalUse.ts";
import { Attachment } from "./attachment.ts";
import type { SocketClient } from "./socketClient.ts";

type CallMessage = Exclude<
  ClientMessage,
  { type: "hello" | "ping" | keyof typeof DEVICE_MESSAGES | keyof typeof SESSION_MESSAGES }
>;

export class TerminalCalls {
  readonly #client: SocketClient;
  readonly #attachments = new Map<string, Attachment>();
  readonly #waits = new Map<string, AbortController>();
  readonly #unwatch: () => void;
  #createdMs: readonly number[] = [];
  #isListDue = false;
  #isClosed = false;

  constructor(client: SocketClient) {
    this.#client = client;
    this.#unwatch = client.context.book.watch(() => this.#listChanged());
  }

  perform(message: CallMessage): void {
    const { context, send } = this.#client;
    const { book } = context;
    switch (message.type) {
      case "terminal.create":
        this.#create(message);
        return;
      case "terminal.attach":
        this.#withTerminal(message, (terminal) => this.#attach(terminal, undefined));
        return;
      case "terminal.detach":
        this.#withTerminal(message, (terminal) => this.#detach(terminal));
        return;
      case "terminal.input":
        this.#withTerminal(message, (terminal) => this.#input(terminal, message.data));
        return;
      case "terminal.resize":
        this.#withTerminal(message, (terminal) => this.#resize(terminal, message));
        return;
      case "terminal.kill":
        this.#withTerminal(message, (terminal) => this.#settle(book.kill(terminal), terminal.id));
        return;
      case "terminal.list":
        send({
          type: "terminal.list.response",
          requestId: message.requestId,
          terminals: book.list().map((terminal) => terminal.entry()),
        });
        return;
      case "terminal.meta.list":
        send({
          type: "terminal.meta.list.response",
          requestId: message.requestId,
          terminals: book.list().map(({ id, identity, lastActivityAt }) => ({
            terminalId: id,
            cwd: identity.cwd,
            updatedAt: lastActivityAt,
          })),
        });
        return;
      case "wait.start":
        void this.#wait(message);
        return;
      case "wait.cancel":
        this.#waits.get(message.requestId)?.abort(new AppError("CANCELLED", "the client has cancelled the wait"));
        this.#waits.delete(message.requestId);
        return;
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
    const terminal = this.#client.context.book.find(terminalId);
    if (terminal === undefined) this.#noSuchTerminal(terminalId);
    else use(terminal);
  }

  #noSuchTerminal(terminalId: string, message = "there is no such terminal; list the terminals again"): void {
    this.#client.fail("INVALID_TERMINAL_ID", message, { terminalId });
  }

  #create(message: ClientMessageOf<"terminal.create">): void {
    const { context, creator, fail } = this.#client;
    const { requestId } = message;
    const key = [creator, requestId];
    let made = context.creates.earlier(key, "");
    if (made === undefined) {
      if (message.restore !== true && !this.#mayCreate()) {
        fail(
          "RATE_LIMITED",
          `more than ${MAX_CREATES} terminals in ${CREATES_WITHIN_MS / 1_000} s; wait, and try again`,
          {
            requestId,
          },
        );
        return;
      }
      made = context.creates.run(key, "", () => context.book.create(message));
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
    const nowMs = this.#client.context.clock.nowMs();
    this.#createdMs = this.#createdMs.filter((atMs) => nowMs - atMs < CREATES_WITHIN_MS);
    if (this.#createdMs.length >= MAX_CREATES) return false;
    this.#createdMs = [...this.#createdMs, nowMs];
    return true;
  }

  #attach(terminal: Terminal, requestId: string | undefined): void {
    const client = this.#client;
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
      attachment = new Attachment({ client, terminal, requestId, onClosed });
      this.#attachments.set(terminal.id, attachment);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === "NOT_FOUND") this.#noSuchTerminal(terminal.id);
      else client.failed(error, { requestId, terminalId: terminal.id });
    }
  }

  #detach({ id }: Terminal): void {
    this.#attachments.get(id)?.close();
    this.#attachments.delete(id);
    this.#client.send({ type: "terminal.detached", terminalId: id });
  }

  #input(terminal: Terminal, data: string): void {
    const parts = data === "" ? [] : textParts(data);
    this.#settle(typeInto(this.#client.context.server, terminal, parts), terminal.id);
  }

  #resize(terminal: Terminal, { cols, rows }: ClientMessageOf<"terminal.resize">): void {
    this.#settle(this.#client.context.book.resize(terminal, { cols, rows }), terminal.id);
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
    const { context, send } = this.#client;
    const { type: _type, requestId, ...asked } = message;
    const wait = new AbortController();
    try {
      if (this.#waits.has(requestId)) {
        throw new AppError("INVALID_ARGUMENT", "this requestId is that of a wait that is under way; use another one");
      }
      const source = sourceOf(asked, context);
      this.#waits.set(requestId, wait);
      const result = await waitFor(context.waits, source, asked, wait.signal);
      send({ type: "wait.result", requestId, ok: true, result });
    } catch (error) {
      // A cancelled wait gets no response.
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
