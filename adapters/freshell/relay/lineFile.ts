/**
 * An append-only file of whole lines: a line torn by a full disk or a killed process is truncated. Readable by its owner
 * alone. Past its size it is rotated, and the oldest is removed.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../../../daemon/time/clock.ts";

interface LineFileOptions {
  readonly path: string;
  readonly maxBytes: number;
  /** Including the rotated ones. */
  readonly files: number;
  readonly clock: Clock;
}

const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
const NEWLINE = 0x0a;
const CHECK_EVERY_MS = 100;
/** A torn line is shorter. */
const LAST_LINE_BYTES = 65_536;

export class LineFile {
  readonly #options: LineFileOptions;
  #file: { readonly fd: number; size: number } | undefined;
  #checkMs = 0;

  constructor(options: LineFileOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#file?.size ?? 0;
  }

  /** Checks that it can be opened. @throws NodeJS.ErrnoException */
  ready(): void {
    this.#opened();
  }

  /** The whole line or nothing of it. @throws NodeJS.ErrnoException */
  append(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    let file = this.#opened();
    if (file.size > 0 && file.size + bytes.length > this.#options.maxBytes) file = this.#rotated();
    const { fd, size } = file;
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(fd, bytes, written);
      file.size = size + bytes.length;
    } catch (error) {
      ftruncateSync(fd, size);
      throw error;
    }
  }

  /** The whole lines of the last so many bytes. @throws NodeJS.ErrnoException */
  tail(bytes: number): readonly string[] {
    const { fd, size } = this.#opened();
    const from = Math.max(0, size - bytes);
    const lines = read(fd, from, size - from)
      .toString("utf8")
      .split("\n");
    return lines.slice(from === 0 ? 0 : 1).filter((line) => line !== "");
  }

  /** @throws NodeJS.ErrnoException */
  clear(): void {
    const file = this.#opened();
    ftruncateSync(file.fd, 0);
    file.size = 0;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file.fd);
    this.#file = undefined;
  }

  #opened(): { readonly fd: number; size: number } {
    if (this.#file !== undefined && !this.#isRemoved(this.#file.fd)) return this.#file;
    this.close();
    const { path } = this.#options;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Refuses a link, and does not block on a FIFO.
    const fd = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      const found = fstatSync(fd);
      if (!found.isFile()) throw new Error(`${path} is not a regular file`);
      if ((found.mode & 0o777) !== 0o600) fchmodSync(fd, 0o600);
      this.#file = { fd, size: wholeLines(fd, found.size) };
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    return this.#file;
  }

  /** A removed file could not be read. Checked now and then: a check per line would double its cost. */
  #isRemoved(fd: number): boolean {
    const nowMs = this.#options.clock.nowMs();
    if (nowMs < this.#checkMs) return false;
    this.#checkMs = nowMs + CHECK_EVERY_MS;
    return fstatSync(fd).nlink === 0;
  }

  #rotated(): { readonly fd: number; size: number } {
    const { path, files } = this.#options;
    this.close();
    const nameOf = (at: number): string => (at === 0 ? path : `${path}.${at}`);
    for (let at = files - 1; at > 0; at -= 1) {
      try {
        renameSync(nameOf(at - 1), nameOf(at));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
    return this.#opened();
  }
}

/** Its size without an unfinished last line. */
function wholeLines(fd: number, size: number): number {
  const from = Math.max(0, size - LAST_LINE_BYTES);
  const whole = from + read(fd, from, size - from).lastIndexOf(NEWLINE) + 1;
  if (whole < size) ftruncateSync(fd, whole);
  return whole;
}

function read(fd: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, from + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}
