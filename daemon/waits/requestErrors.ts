/** How a request for a wait is refused. */
import { AppError } from "../../protocol/errors.ts";

export const invalid = (message: string): AppError => new AppError("INVALID_ARGUMENT", message);

export const tooMuch = (what: string, value: number, max: number): AppError =>
  new AppError("RESOURCE_LIMIT", `too much: ${what} ${value} (limit ${max})`, { details: { limit: what, value, max } });
