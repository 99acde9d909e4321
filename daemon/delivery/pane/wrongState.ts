/** The error for a request that does not fit what the program is doing, with what a caller needs to go on. */
import { AppError } from "../../../protocol/errors.ts";
import type { Dialog, Readiness } from "../../readiness/readiness.ts";

interface RefusedState {
  readonly profile: string;
  readonly dialog?: Pick<Dialog, "id" | "options"> | undefined;
}

export function wrongState(
  { state }: { readonly state: RefusedState },
  name: Readiness["state"],
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError {
  const { profile, dialog } = state;
  const asked = dialog === undefined ? {} : { dialogId: dialog.id, options: dialog.options.length };
  return new AppError("WRONG_STATE", message, { details: { state: name, profile, ...asked, ...details } });
}

/** What was thrown, with more details. */
export function withDetails(thrown: unknown, details: Readonly<Record<string, unknown>>): unknown {
  if (!(thrown instanceof AppError)) return thrown;
  return new AppError(thrown.code, thrown.message, { details: { ...thrown.details, ...details }, cause: thrown });
}
