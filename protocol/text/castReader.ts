/**
 * Reads a recording line by line: asciicast 2 and 3, from any program. A truncated last line is ignored; any other line that
 * is not an event is an error.
 */
import { type AppError, invalidArgument } from "../errors.ts";
import type { CastVersion } from "./asciicast.ts";
import { parseJson } from "./jsonObject.ts";

export interface CastSize {
  readonly cols: number;
  readonly rows: number;
}

export interface RecordedEvent {
  /** Seconds since the beginning. */
  readonly atSec: number;
  readonly code: string;
  readonly data: string;
}

/** For a recording that does not state its size. */
const USUAL_SIZE: CastSize = { cols: 80, rows: 24 };

export class CastReader {
  readonly #name: string;
  #version: CastVersion | undefined;
  #size = USUAL_SIZE;
  #lines = 0;
  #atSec = 0;
  #broken: AppError | undefined;

  /** @param name of the recording, for error messages */
  constructor(name: string) {
    this.#name = name;
  }

  /** The screen's size at the beginning. */
  get size(): CastSize {
    return this.#size;
  }

  /**
   * Undefined for a line that is not an event: the header, comments of version 3, a truncated line.
   * @throws AppError INVALID_ARGUMENT
   */
  take(line: string): RecordedEvent | undefined {
    if (this.#broken !== undefined) throw this.#broken;
    this.#lines += 1;
    if (line.trim() === "" || (this.#version === 3 && line.startsWith("#"))) return undefined;
    const json = parseJson(line);
    if (this.#version === undefined) {
      this.#begin(json);
      return undefined;
    }
    const [time, code, data] = Array.isArray(json) && json.length === 3 ? (json as unknown[]) : [];
    if (typeof time !== "number" || !(time >= 0) || typeof code !== "string" || typeof data !== "string") {
      this.#broken = this.#error(`: line ${this.#lines} is not an event of a recording`);
      return undefined;
    }
    this.#atSec = this.#version === 2 ? time : this.#atSec + time;
    return { atSec: this.#atSec, code, data };
  }

  /** Call after the last line. @throws AppError INVALID_ARGUMENT */
  end(): void {
    if (this.#version === undefined) throw this.#error(" is empty");
  }

  #begin(json: unknown): void {
    const { version, width, height, term } = (json ?? {}) as Readonly<Record<string, unknown>>;
    if (version !== 2 && version !== 3) throw this.#error(" is not an asciicast file of version 2 or 3");
    this.#version = version;
    const size = (version === 2 ? { cols: width, rows: height } : term) as Partial<CastSize> | undefined;
    if (isCount(size?.cols) && isCount(size.rows)) this.#size = { cols: size.cols, rows: size.rows };
  }

  #error(words: string): AppError {
    return invalidArgument(`${this.#name}${words}`);
  }
}

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value) && value > 0;

/** The size in an `r` event; undefined if it is invalid. */
export function castSize(data: string): CastSize | undefined {
  const [cols, rows] = data.split("x").map(Number);
  return isCount(cols) && isCount(rows) ? { cols, rows } : undefined;
}
