/** How a request for a wait is refused. */
import { AppError } from "../../protocol/errors.ts";

export const invalid = (message: string, details?: Readonly<Record<string, unknown>>): AppError =>
  new AppError("INVALID_ARGUMENT", message, { details });

export const tooMuch = (what: string, value: number, max: number): AppError =>
  new AppError("RESOURCE_LIMIT", `too much: ${what} ${value} (limit ${max})`, { details: { limit: what, value, max } });

/** For what the types rule out and a caller without types may still send. @throws AppError INVALID_ARGUMENT */
export function refuseKind(isKnown: boolean, message: string): void {
  if (!isKnown) throw invalid(message);
}

/** @throws AppError INVALID_ARGUMENT */
export function refuseUnknown(given: object, known: ReadonlySet<string>, what: string): void {
  for (const [key, value] of Object.entries(given)) {
    if (value !== undefined && !known.has(key)) throw invalid(`unknown ${what}: ${key}`, { unknown: key });
  }
}
