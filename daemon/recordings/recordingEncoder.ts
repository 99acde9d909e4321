/**
 * Encodes the recording of one pane: turns the events of its stream into lines until the pane ends, the recording is stopped
 * or a limit is reached. Lines are passed on whole, so the written part is a valid recording at any time. A gap in the output
 * becomes a marker before the screen from which the output continues.
 */
import { CastEncoder, type CastVersion } from "../../protocol/text/asciicast.ts";
import { type ExitStatus, shellStatusOf } from "../tmux/outputSource.ts";

/** Why a recording ended. */
export const CAST_ENDS = {
  pane: "the pane closed",
  stopped: "it was stopped",
  size: "it reached its size limit",
  age: "it reached its time limit",
  daemon: "the daemon stopped",
  connection: "the connection was lost",
  failed: "it could not be written",
} as const;
export type CastEnd = keyof typeof CAST_ENDS;

interface RecordingEncoderOptions {
  readonly version: CastVersion;
  readonly maxBytes: number;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly startedUnixMs: number;
  readonly title?: string | undefined;
  /** Whether typed input is recorded too; the first line says so. */
  readonly input: boolean;
  readonly write: (line: string) => void;
  /** Called once, after the last line. */
  readonly onEnd: (end: CastEnd) => void;
}

interface Source {
  readonly server: string;
  readonly pane: string;
}

interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** Reserved for the markers at the end, which are written even past the limit. */
const END_BYTES = 512;

export class RecordingEncoder {
  readonly #options: RecordingEncoderOptions;
  readonly #encoder: CastEncoder;
  #startMs: number | undefined;
  #size: Size = { cols: 0, rows: 0 };
  #bytes = 0;
  #gaps = 0;
  #exit: ExitStatus | undefined;
  #end: CastEnd | undefined;

  constructor(options: RecordingEncoderOptions) {
    this.#options = options;
    this.#encoder = new CastEncoder(options.version);
  }

  /** Bytes passed on so far. */
  get bytes(): number {
    return this.#bytes;
  }

  get gaps(): number {
    return this.#gaps;
  }

  get ended(): CastEnd | undefined {
    return this.#end;
  }

  get isOpen(): boolean {
    return this.#startMs !== undefined;
  }

  /** Milliseconds since it was opened. */
  get elapsedMs(): number {
    return this.#startMs === undefined ? 0 : this.#options.nowMs() - this.#startMs;
  }

  /** Call first, with the size of the screen. */
  open({ server, pane }: Source, { cols, rows }: Size): void {
    const { nowMs, startedUnixMs, title, input } = this.#options;
    const source = { server, pane, ...(input ? ({ input } as const) : {}) };
    this.#startMs = nowMs();
    this.#size = { cols, rows };
    this.#put(this.#encoder.header({ cols, rows, startedUnixMs, source, title }));
  }

  output(bytes: Uint8Array): void {
    this.#exit = undefined;
    this.#put(this.#encoder.output(this.elapsedMs, bytes));
  }

  input({ bytes, missedBytes = 0 }: { readonly bytes: Uint8Array; readonly missedBytes?: number | undefined }): void {
    if (missedBytes > 0) this.#put(this.#encoder.marker(this.elapsedMs, `input: ${missedBytes} bytes are missing`));
    this.#put(this.#encoder.input(this.elapsedMs, bytes));
  }

  snapshot(size: Size, bytes: Uint8Array): void {
    this.resized(size);
    this.#put(this.#encoder.screen(this.elapsedMs, bytes));
  }

  resized({ cols, rows }: Size): void {
    if (cols === this.#size.cols && rows === this.#size.rows) return;
    this.#size = { cols, rows };
    this.#put(this.#encoder.resize(this.elapsedMs, cols, rows));
  }

  /** Takes positions in their text form. */
  gap({ from, to, reason }: { readonly from: string; readonly to: string; readonly reason: string }): void {
    this.#gaps += 1;
    this.#put(this.#encoder.marker(this.elapsedMs, `gap: output from ${from} to ${to} is missing (${reason})`));
  }

  exited(exit: ExitStatus): void {
    this.#exit = exit;
    this.#put(this.#encoder.marker(this.elapsedMs, `exit: ${exitWords(exit)}`));
  }

  /** Safe to call twice; the first call counts. */
  end(end: CastEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    if (this.isOpen) {
      const atMs = this.elapsedMs;
      this.#write(this.#encoder.marker(atMs, `end: ${CAST_ENDS[end]}`));
      const status = shellStatusOf(this.#exit);
      if (status !== undefined) this.#write(this.#encoder.exit(atMs, status));
    }
    this.#options.onEnd(end);
  }

  #put(line: string): void {
    if (this.#end !== undefined || line === "") return;
    if (this.#bytes + Buffer.byteLength(line) > this.#options.maxBytes - END_BYTES) this.end("size");
    else this.#write(line);
  }

  #write(line: string): void {
    if (line === "") return;
    this.#bytes += Buffer.byteLength(line);
    this.#options.write(line);
  }
}

const exitWords = ({ exitCode, signal }: ExitStatus): string =>
  signal !== undefined ? `signal ${signal}` : exitCode !== undefined ? `status ${exitCode}` : "status not known";
