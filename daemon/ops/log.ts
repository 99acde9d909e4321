/**
 * The log: one JSON object per line, `{ t, level, event, … }`. `event` is a fixed dotted name (`connection.lost`); variable
 * data goes into fields. Pane content and tokens are never logged, at any level. Errors are reduced to code, message and
 * cause; nothing else attached to them is logged. Only internal errors have a stack, which would not help a user whose port
 * is in use.
 */
import { AppError } from "../../protocol/errors.ts";
import type { Timed } from "../time/clock.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A dotted name in lower case, such as `http.request.failed`. */
export type LogEvent = `${Lowercase<string>}.${Lowercase<string>}`;

type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(event: LogEvent, fields?: LogFields): void;
  info(event: LogEvent, fields?: LogFields): void;
  warn(event: LogEvent, fields?: LogFields): void;
  error(event: LogEvent, fields?: LogFields): void;
  /** Whether lines of this level are written, so that unused fields need not be built. */
  writes(level: LogLevel): boolean;
  /** The same log, with these fields added to every line. */
  with(fields: LogFields): Log;
}

/** What a part takes that also has something to say. */
export interface Surroundings extends Timed {
  readonly log: Log;
}

interface LogOptions {
  /** The lowest level written. */
  readonly level: LogLevel;
  /** Gets one line with its newline; errors are ignored, because a full disk must not end the daemon. */
  readonly write: (line: string) => void;
  /** Wall-clock milliseconds since 1970, for `t`. */
  readonly nowUnixMs: () => number;
}

export function createLog(options: LogOptions): Log {
  return logWith(options, {});
}

function logWith(options: LogOptions, base: LogFields): Log {
  const least = LOG_LEVELS.indexOf(options.level);
  const at = (level: LogLevel) => {
    const written = LOG_LEVELS.indexOf(level) >= least;
    return (event: LogEvent, fields: LogFields = {}): void => {
      if (!written) return;
      const head = { t: new Date(options.nowUnixMs()).toISOString(), level, event };
      try {
        options.write(`${JSON.stringify({ ...head, ...base, ...fields, ...head }, plain)}\n`);
      } catch {
        // There is nowhere left to report the error.
      }
    };
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    writes: (level) => LOG_LEVELS.indexOf(level) >= least,
    with: (fields) => logWith(options, { ...base, ...fields }),
  };
}

/** Replaces values that JSON cannot represent. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Error) {
    const { message, stack, cause } = value;
    if (value instanceof AppError && value.code !== "INTERNAL_ERROR") {
      const reason = cause instanceof Error ? cause.message : cause;
      return { code: value.code, message, ...(reason === undefined ? {} : { cause: reason }) };
    }
    return {
      ...(value instanceof AppError ? { code: value.code } : {}),
      message,
      stack,
      ...(cause === undefined ? {} : { cause }),
    };
  }
  return value;
}
