/**
 * One terminal: its identity, its program's present pane, its output as one stream, and what its clients do with it by tmux's own
 * commands.
 */
import type { InferOutput } from "valibot";
import { AnsiStripper, stripRoom } from "../../../daemon/panes/vt/ansi.ts";
import type { InputPart, Snapshot } from "../../../daemon/tmux/io.ts";
import { shellStatusOf, slicesOf } from "../../../daemon/tmux/outputSource.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type {
  MadeFor,
  TerminalCaptureResponse,
  terminalCaptureSchema,
  TerminalEntry,
  TerminalMode,
} from "../../../protocol/api/freshell/freshellHttp.ts";
import { keyTokenParts } from "../../../protocol/api/freshell/keyTokens.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Position } from "../../../protocol/position.ts";
import { encodeUtf8 } from "../../../protocol/text/utf8.ts";
import { SNAPSHOT_HISTORY_LINES } from "../freshellLimits.ts";
import type { TerminalSource } from "./terminalSource.ts";

/** What stays the same for a terminal's lifetime. */
export interface TerminalIdentity {
  readonly id: string;
  readonly createdAt: number;
  readonly mode: TerminalMode;
  /** As requested. */
  readonly shell: string;
  readonly cwd: string;
  readonly title: string;
  readonly resumeSessionId: string | undefined;
}

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

type CaptureRequest = InferOutput<typeof terminalCaptureSchema>;

export class Terminal {
  readonly identity: TerminalIdentity;
  /** Its id in the engine's feeds, which know panes; it stays when the pane changes. */
  readonly key: PaneId;
  readonly source: TerminalSource;
  /** Undefined once the pane was closed by somebody: no more output follows. */
  pane: PaneId | undefined;
  /** The pane's own process. */
  panePid: number | undefined;
  /** Undefined until it has begun, and where the host does not know it. What has outlived a kill stays here. */
  program: ProcessMark | undefined;
  generation = 0;
  /** Stored in a pane option: `outputSeq` stays below it. */
  reservedSeq = 0;
  size: TerminalSize;
  lastActivityAt: number;
  clients = 0;
  /** The pane that it was made or respawned for; it may be shown in another one since. */
  madeFor: MadeFor | undefined;
  /** Whether a device's pane shows it: `unsure` while one is being made, `orphan` once that has failed. */
  place: "unsure" | "orphan" | undefined;
  /** A kill is under way: what is typed now would be lost. */
  isEnding = false;
  /** It was killed and cannot be found any more. */
  isForgotten = false;
  readonly #server: TmuxServer;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    server: TmuxServer,
    { identity, key, source, size }: Pick<Terminal, "identity" | "key" | "source" | "size">,
  ) {
    this.#server = server;
    this.identity = identity;
    this.key = key;
    this.source = source;
    this.size = size;
    this.lastActivityAt = identity.createdAt;
  }

  get id(): string {
    return this.identity.id;
  }

  get isRunning(): boolean {
    return this.source.exit === undefined;
  }

  /** Serializes changes of its program. @throws AppError NOT_FOUND when it was killed meanwhile */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(() => {
      if (this.isForgotten) throw unknownTerminal();
      return work();
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  entry(): TerminalEntry {
    const { id, title, mode, createdAt, cwd } = this.identity;
    const { exit, outputSeq, tailSeq } = this.source;
    const exitCode = shellStatusOf(exit);
    return {
      terminalId: id,
      title,
      mode,
      status: this.#status,
      createdAt,
      lastActivityAt: this.lastActivityAt,
      cwd,
      ...this.size,
      hasClients: this.clients > 0,
      pid: exit === undefined ? (this.program?.pid ?? this.panePid ?? null) : null,
      ...(exitCode === undefined ? {} : { exitCode }),
      bufferRef: { outputSeq, tailSeq },
      ...(this.place === "orphan" ? { orphan: true as const } : {}),
    };
  }

  /** Returns the position after which the input takes effect. @throws AppError INVALID_TARGET, RESOURCE_LIMIT, CONNECTION_LOST */
  async type(parts: readonly InputPart[]): Promise<number> {
    const pane = this.#runningPane();
    if (parts.length === 0) return this.source.outputSeq;
    const { position } = await this.#server.input(pane, parts);
    return this.#seqOf(pane, position) ?? this.source.outputSeq;
  }

  /** Sets the size of its screen; the last call wins. @throws AppError INVALID_TARGET, CONNECTION_LOST */
  async resize({ cols, rows }: TerminalSize): Promise<void> {
    await this.#server.resize(this.#runningPane(), cols, rows);
    this.size = { cols, rows };
  }

  /** @throws AppError UNSUPPORTED_CAPTURE_MODE, CONNECTION_LOST */
  async capture(asked: CaptureRequest): Promise<TerminalCaptureResponse> {
    const { source, pane } = this;
    const status = this.#status;
    if (pane === undefined) {
      return { lines: this.#retainedLines(asked), outputSeq: source.outputSeq, exact: true, ...this.size, status };
    }
    const { S: start, J: joinWrapped, e: ansi } = asked;
    const captured = await this.#server.capture(pane, { start: start ?? 0, joinWrapped, ansi });
    const { lines, historyLines, historyLimit, position, exact, cols, rows } = captured;
    if (typeof start === "number" && -start > historyLines) requireWhole(historyLines, historyLimit);
    const outputSeq = this.#seqOf(pane, position) ?? source.outputSeq;
    return { lines, outputSeq, exact, cols, rows, status };
  }

  /** History and screen; without a pane, the retained output. @throws AppError NOT_FOUND, INCONSISTENT_STATE, CONNECTION_LOST */
  async snapshot(): Promise<Snapshot> {
    const { pane, source, size } = this;
    const { epoch } = source;
    if (pane === undefined) {
      const data = Buffer.concat([Buffer.from("\u001bc"), ...this.#retained()]);
      const position = { epoch, outputSeq: source.outputSeq };
      return { position, exact: true, ...size, alternateScreen: false, data };
    }
    const asked = this.#server.snapshot(pane, { historyLines: SNAPSHOT_HISTORY_LINES });
    const snapshot = await asked.catch((error: unknown) => {
      if (this.pane === pane) throw error;
    });
    const outputSeq = snapshot && this.#seqOf(pane, snapshot.position);
    if (snapshot && outputSeq !== undefined) return { ...snapshot, position: { epoch, outputSeq } };
    throw new AppError("INCONSISTENT_STATE", "the terminal's program was replaced meanwhile; try again");
  }

  /** Undefined for one of a pane that was replaced meanwhile: the next one's output may be of the same epoch. */
  #seqOf(pane: PaneId, { epoch, outputSeq }: Position): number | undefined {
    return this.pane === pane || this.pane === undefined ? this.source.seqOf(epoch, outputSeq) : undefined;
  }

  get #status(): TerminalEntry["status"] {
    return this.isRunning ? "running" : "exited";
  }

  /** @throws AppError INVALID_TARGET */
  #runningPane(): PaneId {
    if (this.isEnding) throw new AppError("INVALID_TARGET", "the terminal is being killed; create another one");
    if (this.isRunning && this.pane !== undefined) return this.pane;
    throw new AppError(
      "INVALID_TARGET",
      "the terminal's program has ended; respawn the terminal, or create another one",
    );
  }

  /** All output that can still be read, in views that are valid until the turn ends. */
  *#retained(): Generator<Uint8Array> {
    for (const slice of slicesOf(this.source, this.source.tailSeq)) if (slice.kind === "bytes") yield slice.bytes;
  }

  /**
   * The screen is gone with the pane, and the retained output gives plain text without rows. All of it can be returned; captures
   * that need rows, wraps or colours cannot.
   * @throws AppError UNSUPPORTED_CAPTURE_MODE
   */
  #retainedLines({ S: start, J: joinWrapped, e: ansi }: CaptureRequest): readonly string[] {
    if (start !== "oldest" || joinWrapped || ansi) {
      throw new AppError(
        "UNSUPPORTED_CAPTURE_MODE",
        "the terminal's pane and its screen are gone: only the retained plain text is left; use -S - without -J and -e",
      );
    }
    const stripper = new AnsiStripper();
    const pieces = Array.from(this.#retained(), (bytes) => {
      const out = Buffer.allocUnsafe(stripRoom(bytes.length));
      return out.subarray(0, stripper.strip(bytes, out, 0, 0, { mark: () => undefined }));
    });
    const lines = Buffer.concat(pieces).toString("utf8").split("\n");
    if (lines.at(-1) === "") lines.pop();
    return lines;
  }
}

const textPart = (text: string): InputPart => ({ kind: "text", bytes: encodeUtf8(text) });

/** One job: no other sender's input comes between. */
export const textParts = (text: string): readonly InputPart[] => [textPart(text)];

export const tokenParts = (tokens: readonly string[], literal: boolean): readonly InputPart[] =>
  keyTokenParts(tokens, literal).map((part) => (part.kind === "keys" ? part : textPart(part.text)));

/**
 * A start before everything that is kept is the first line, as in tmux, unless tmux has dropped lines. tmux does not
 * report that: at the limit it drops a tenth, so with less than nine tenths nothing was dropped.
 */
function requireWhole(historyLines: number, limit: number | undefined): void {
  if (limit === undefined || historyLines < Math.floor(limit * 0.9)) return;
  throw new AppError(
    "UNSUPPORTED_CAPTURE_MODE",
    `the terminal keeps ${historyLines} lines of history and may have dropped older ones: use -S -${historyLines} at most, or -S - for all of it`,
    { details: { historyLines } },
  );
}

/** Does not quote the requested id: it may be anything. */
export const unknownTerminal = (): AppError =>
  new AppError("NOT_FOUND", "there is no such terminal; list the terminals again");
