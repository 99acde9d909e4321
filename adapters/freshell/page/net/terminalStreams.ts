/**
 * The terminals that the page shows. Each is attached once, in however many panes; a pane that joins, and a new connection,
 * begin with a snapshot.
 */
import type { TerminalEntry } from "../../../../protocol/api/freshell/freshellHttp.ts";
import type { ServerMessage } from "../../../../protocol/api/freshell/freshellWire.ts";

export interface TerminalSink {
  /** All output so far; replaces what is shown. */
  attached(snapshot: string): void;
  output(data: string): void;
  exited(exitCode: number | null): void;
  /** There is no such terminal. */
  gone(): void;
  /** The connection has ended; `attached` follows when there is another. */
  lost(): void;
  /** Another page of this profile has given it this size. */
  sized(size: TerminalSize): void;
}

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

interface TerminalStreamsOptions {
  /** False: there is no connection. */
  readonly send: (message: object) => boolean;
  /** Undefined: the server knows no such terminal. @throws Refused */
  readonly find: (terminalId: string) => Promise<TerminalEntry | undefined>;
  /** To the other pages. */
  readonly onSized: (terminalId: string, size: TerminalSize) => void;
}

interface Stream {
  readonly sinks: Set<TerminalSink>;
  /** Set by this page; undefined if another page has set it since. */
  size?: TerminalSize | undefined;
}

export class TerminalStreams {
  readonly #options: TerminalStreamsOptions;
  readonly #streams = new Map<string, Stream>();

  constructor(options: TerminalStreamsOptions) {
    this.#options = options;
  }

  /** Returns the function that leaves. */
  join(terminalId: string, sink: TerminalSink, size: TerminalSize | undefined): () => void {
    const stream: Stream = this.#streams.get(terminalId) ?? { sinks: new Set() };
    this.#streams.set(terminalId, stream);
    stream.sinks.add(sink);
    if (size !== undefined) this.resize(terminalId, size);
    this.attach(terminalId);
    return () => {
      stream.sinks.delete(sink);
      if (stream.sinks.size > 0 || this.#streams.get(terminalId) !== stream) return;
      this.#streams.delete(terminalId);
      this.#send({ type: "terminal.detach", terminalId });
    };
  }

  /** For a fresh snapshot. */
  attach(terminalId: string): void {
    this.#send({ type: "terminal.attach", terminalId });
  }

  /** False: no connection, nothing was typed. */
  type(terminalId: string, data: string): boolean {
    return this.#send({ type: "terminal.input", terminalId, data });
  }

  resize(terminalId: string, size: TerminalSize): void {
    const stream = this.#streams.get(terminalId);
    if (stream !== undefined) stream.size = size;
    this.#send({ type: "terminal.resize", terminalId, ...size });
    this.#options.onSized(terminalId, size);
  }

  sizedElsewhere(terminalId: string, size: TerminalSize): void {
    const stream = this.#streams.get(terminalId);
    if (stream !== undefined) stream.size = undefined;
    this.#each(terminalId, (sink) => sink.sized(size));
  }

  /** There is a connection again. */
  ready(): void {
    for (const [terminalId, { size }] of this.#streams) {
      // Sizes set while disconnected are sent first, before the snapshot.
      if (size !== undefined) this.#send({ type: "terminal.resize", terminalId, ...size });
      this.attach(terminalId);
    }
  }

  lost(): void {
    for (const { sinks } of this.#streams.values()) for (const sink of sinks) sink.lost();
  }

  /** True: it was about a terminal that is shown. */
  handle(message: ServerMessage): boolean {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others are not about terminals that are shown
    switch (message.type) {
      case "terminal.attached":
        return this.#each(message.terminalId, (sink) => sink.attached(message.snapshot));
      case "terminal.output":
        // A snapshot follows a gap.
        return this.#each(message.terminalId, (sink) => {
          if (message.data !== "") sink.output(message.data);
        });
      case "terminal.exit":
        return this.#each(message.terminalId, (sink) => sink.exited(message.exitCode));
      case "error": {
        const { terminalId, code } = message;
        if (terminalId === undefined || code !== "INVALID_TERMINAL_ID") return false;
        void this.#probe(terminalId);
        return this.#streams.has(terminalId);
      }
      default:
        return false;
    }
  }

  /** An ended terminal is refused like a missing one. */
  async #probe(terminalId: string): Promise<void> {
    let found: TerminalEntry | undefined;
    try {
      found = await this.#options.find(terminalId);
    } catch {
      // Unknown without a response; the next connection asks again.
      return;
    }
    if (found === undefined) this.#each(terminalId, (sink) => sink.gone());
    else if (found.status === "exited") this.#each(terminalId, (sink) => sink.exited(found.exitCode ?? null));
  }

  #send(message: object): boolean {
    return this.#options.send(message);
  }

  #each(terminalId: string, call: (sink: TerminalSink) => void): boolean {
    const stream = this.#streams.get(terminalId);
    for (const sink of stream?.sinks ?? []) call(sink);
    return stream !== undefined;
  }
}
