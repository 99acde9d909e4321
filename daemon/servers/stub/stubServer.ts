/**
 * A `TmuxServer` in memory: sessions of one pane, in which each input job appends one line and nothing is run. It behaves
 * like the add-in's stub (docs/contracts/addin.md §3, "Stub mode"), and everything it holds is bounded: sessions, lines and
 * bytes per pane. A pane's stream carries the same lines, so waits work as on a real pane.
 */
import { randomBytes } from "node:crypto";
import { AppError, invalidArgument, shuttingDown } from "../../../protocol/errors.ts";
import type { PaneId, SessionId } from "../../../protocol/ids.ts";
import { DEFAULT_RING_BYTES, MAX_INPUT_BYTES } from "../../../protocol/limits.ts";
import { unknownProcesses } from "../../host/unknownProcesses.ts";
import type { PaneForeground } from "../../tmux/processes.ts";
import { requirePasteText } from "../../panes/input/pasteText.ts";
import { headOf, type OutputSource } from "../../tmux/outputSource.ts";
import { userOptionOf } from "../paneUserOptions.ts";
import { byName } from "../inventory/inventoryStore.ts";
import { Listeners } from "../listeners.ts";
import { ServerLayout } from "../layout/serverLayout.ts";
import { runStubOperation } from "./stubLayout.ts";
import { type BoundedLines, makeStubSession, type StubSession } from "./stubSession.ts";
import type {
  CreateSession,
  PaneInfo,
  ServerCounters,
  ServerEvent,
  ServerStatus,
  SessionInfo,
  WindowInfo,
} from "../../tmux/inventory.ts";
import type {
  Capture,
  CaptureOptions,
  InputOptions,
  InputPart,
  InputReceipt,
  PaneDetails,
  Snapshot,
} from "../../tmux/io.ts";
import type { TmuxServer } from "../../tmux/tmuxServer.ts";

/** Bound on sessions: more than anyone creates by hand, few enough to contain a runaway loop. */
const MAX_STUB_SESSIONS = 256;
/** tmux's own bound on a window's width and height. */
const MAX_SIZE = 10_000;

export interface StubServerOptions {
  readonly nowUnixMs: () => number;
  /** Called with a listener's error, for the log. */
  readonly onListenerError: (error: unknown) => void;
  readonly maxSessions?: number | undefined;
  /** Bytes of lines, and bytes of stream, kept per pane. */
  readonly retainBytes?: number | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class StubServer implements TmuxServer {
  readonly #options: StubServerOptions;
  readonly #epoch = randomBytes(6).toString("hex");
  readonly #sessions = new Map<PaneId, StubSession>();
  readonly #listeners: Listeners<ServerEvent>;
  readonly layout: ServerLayout;
  readonly processes = unknownProcesses;
  #made = 0;
  #outputBytes = 0;
  #closed = false;

  constructor(options: StubServerOptions) {
    this.#options = options;
    this.#listeners = new Listeners(options.onListenerError);
    this.layout = new ServerLayout({
      source: this,
      run: async (operation) => {
        this.#requireOpen();
        const result = await runStubOperation(this, [...this.#sessions.values()], operation);
        this.layout.changed();
        return result;
      },
      onListenerError: options.onListenerError,
    });
  }

  check(): Promise<ServerStatus> {
    return Promise.resolve(this.status());
  }

  status(): ServerStatus {
    const state = this.#closed ? "closed" : "ready";
    const epoch = this.#epoch;
    return { kind: "stub", state, tmuxVersion: undefined, socketPath: undefined, epoch, identity: "stub" };
  }

  sessions(): readonly SessionInfo[] {
    return Array.from(this.#sessions.values(), ({ info }) => info).sort(byName);
  }

  findSession(name: string): SessionInfo | undefined {
    return this.sessions().find((info) => info.name === name);
  }

  windows(): readonly WindowInfo[] {
    return Array.from(this.#sessions.values(), ({ window }) => window);
  }

  panes(): readonly PaneInfo[] {
    return Array.from(this.#sessions.values(), ({ pane }) => pane);
  }

  findPane(pane: PaneId): PaneInfo | undefined {
    return this.#sessions.get(pane)?.pane;
  }

  async createSession(request: CreateSession): Promise<SessionInfo> {
    this.#requireOpen();
    if (request.name === "") throw invalidArgument("a session needs a name");
    if (this.findSession(request.name) !== undefined) {
      throw new AppError("ALREADY_EXISTS", `Session already exists: ${request.name}`);
    }
    const maxSessions = this.#options.maxSessions ?? MAX_STUB_SESSIONS;
    if (this.#sessions.size >= maxSessions) {
      throw new AppError("RESOURCE_LIMIT", `the stub already has ${maxSessions} sessions: kill one first`);
    }
    const session = makeStubSession(request, {
      number: this.#made++,
      epoch: this.#epoch,
      retainBytes: this.#options.retainBytes ?? DEFAULT_RING_BYTES,
      createdSec: Math.floor(this.#options.nowUnixMs() / 1_000),
      onListenerError: this.#options.onListenerError,
    });
    this.#sessions.set(session.pane.id, session);
    this.#listeners.emit({ kind: "session-created", session: session.info.id });
    this.layout.changed();
    return session.info;
  }

  async killSession(id: SessionId): Promise<void> {
    this.#requireOpen();
    const session = [...this.#sessions.values()].find((candidate) => candidate.info.id === id);
    if (session === undefined) throw new AppError("NOT_FOUND", `no session ${id}`);
    this.#sessions.delete(session.pane.id);
    session.stream.close(new AppError("NOT_FOUND", `pane ${session.pane.id} is gone`));
    this.#listeners.emit({ kind: "pane-closed", pane: session.pane.id });
    this.#listeners.emit({ kind: "session-closed", session: id });
    this.layout.changed();
  }

  async input(pane: PaneId, parts: readonly InputPart[], options: InputOptions = {}): Promise<InputReceipt> {
    const session = this.#requirePane(pane);
    options.signal?.throwIfAborted();
    for (const part of parts) if (part.kind === "paste") requirePasteText(part.bytes);
    const line = lineOf(parts);
    if (line === "") return { position: headOf(session.stream) };
    const bytes = encoder.encode(`${line}\n`);
    if (bytes.length > MAX_INPUT_BYTES) {
      throw new AppError("RESOURCE_LIMIT", `the input is larger than ${MAX_INPUT_BYTES} bytes: send it in pieces`);
    }
    options.beforeWrite?.();
    const position = headOf(session.stream);
    session.stream.declareTyped(parts);
    session.lines.append(line, bytes.length);
    this.#outputBytes += bytes.length;
    session.stream.take(bytes);
    session.stream.announce();
    return { position };
  }

  async capture(id: PaneId, options: CaptureOptions = {}): Promise<Capture> {
    const session = this.#requirePane(id);
    options.signal?.throwIfAborted();
    return captureStub(session, options);
  }

  async snapshot(id: PaneId): Promise<Snapshot> {
    return snapshotStub(this.#requirePane(id));
  }

  async describePane(id: PaneId): Promise<PaneDetails> {
    return describeStub(this.#requirePane(id));
  }

  async foreground(id: PaneId): Promise<PaneForeground> {
    this.#requirePane(id);
    return { pid: undefined, command: "", processes: undefined };
  }

  async programIn(): Promise<undefined> {
    return undefined;
  }

  async resize(id: PaneId, cols: number, rows: number): Promise<void> {
    const session = this.#requirePane(id);
    if (![cols, rows].every((size) => Number.isInteger(size) && size >= 1 && size <= MAX_SIZE)) {
      throw invalidArgument(`a size must be 1 to ${MAX_SIZE} columns and rows`);
    }
    session.pane = { ...session.pane, cols, rows };
    session.window = { ...session.window, cols, rows };
    this.#listeners.emit({ kind: "pane-resized", pane: id, cols, rows });
    this.layout.changed();
  }

  async setPaneUserOption(id: PaneId, name: string, value: string | undefined): Promise<void> {
    const { userOptions } = this.#requirePane(id);
    const { option } = userOptionOf(name, value);
    if (value === undefined) userOptions.delete(option);
    else userOptions.set(option, value);
  }

  async paneUserOptions(name: string): Promise<ReadonlyMap<PaneId, string>> {
    this.#requireOpen();
    const { option } = userOptionOf(name, undefined);
    return new Map(
      [...this.#sessions].flatMap(([id, { userOptions }]) => {
        const value = userOptions.get(option);
        return value === undefined ? [] : [[id, value] as const];
      }),
    );
  }

  async terminals(): Promise<ReadonlyMap<SessionId, number>> {
    this.#requireOpen();
    return new Map();
  }

  counters(): ServerCounters {
    return { outputBytes: this.#outputBytes, pauses: 0 };
  }

  output(pane: PaneId): OutputSource {
    return this.#requirePane(pane).stream;
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    return this.#listeners.subscribe(listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const { stream } of this.#sessions.values()) stream.close(shuttingDown());
    this.#sessions.clear();
    this.#listeners.emit({ kind: "state", state: "closed" });
    this.#listeners.clear();
    this.layout.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #requireOpen(): void {
    if (this.#closed) throw shuttingDown();
  }

  #requirePane(pane: PaneId): StubSession {
    this.#requireOpen();
    const session = this.#sessions.get(pane);
    if (session === undefined) throw new AppError("NOT_FOUND", `no pane ${pane}`);
    return session;
  }
}

/** One job as the stub shows it: texts unchanged, each key as `<Key>`, separated by a space. */
function lineOf(parts: readonly InputPart[]): string {
  const tokens = parts.flatMap((part) =>
    part.kind === "keys" ? part.keys.map((key) => `<${key}>`) : [decoder.decode(part.bytes)],
  );
  return tokens.join(" ");
}

/** RIS: resets the terminal (ECMA-48). */
const FULL_RESET = "\u001bc";

/** The screen of a stub pane: its newest lines on a screen of its size, and the lines above as history. */
const captureStub = ({ lines, stream, pane }: StubSession, options: CaptureOptions): Capture => ({
  lines: isPrinted(options) ? wholeScreen(lines, pane, options) : lines.last(options.lines ?? pane.rows),
  position: headOf(stream),
  exact: true,
  cols: pane.cols,
  rows: pane.rows,
  cursor: { col: 0, row: Math.min(lines.count, pane.rows - 1) },
  alternateScreen: false,
  historyLines: historyOf(lines, pane),
});

function snapshotStub({ lines, stream, pane }: StubSession): Snapshot {
  const shown = lines.last(pane.rows - 1).map((line) => `${line}\r\n`);
  return {
    position: headOf(stream),
    exact: true,
    cols: pane.cols,
    rows: pane.rows,
    alternateScreen: false,
    data: encoder.encode(FULL_RESET + shown.join("")),
  };
}

const describeStub = ({ cwd, lines, pane }: StubSession): PaneDetails => ({
  command: "",
  cwd,
  title: pane.title,
  tty: "",
  historyLines: historyOf(lines, pane),
  alternateScreen: false,
  inMode: false,
});

const historyOf = ({ count }: BoundedLines, { rows }: PaneInfo): number => Math.max(0, count - rows);

const isPrinted = ({ whole, start }: CaptureOptions): boolean => whole === true || start !== undefined;

/** The screen with its blank rows, and the requested history above it. */
function wholeScreen(kept: BoundedLines, { rows }: PaneInfo, { lines = 0, start = -lines }: CaptureOptions): string[] {
  const above = start === "oldest" ? kept.count : Math.max(0, -start);
  const shown = kept.last(above + rows).slice(start === "oldest" ? 0 : Math.max(0, start));
  return [...shown, ...Array<string>(Math.max(0, rows - shown.length)).fill("")];
}
