/** Why a command failed, as a fault of the Freshell contract, and its exit code. */
import { ERROR_SURFACES, toAppError } from "../../../protocol/errors.ts";
import type { FreshellFault, OperationErrorCode } from "../../../protocol/api/freshell/freshellErrors.ts";

export type CommandFault = FreshellFault<OperationErrorCode>;

/** The server is unreachable, which is not an error of the server's. */
const EXIT_UNREACHABLE = 69;

export class CommandFailure extends Error {
  readonly fault: CommandFault;
  readonly exitCode: number;

  constructor(fault: CommandFault, options: { readonly exitCode?: number; readonly cause?: unknown } = {}) {
    super(fault.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CommandFailure";
    this.fault = fault;
    this.exitCode = options.exitCode ?? ERROR_SURFACES[fault.code].exitCode;
  }
}

/** For anything thrown; our code throws only errors with a code of the contract. */
export function failureOf(thrown: unknown): CommandFailure {
  if (thrown instanceof CommandFailure) return thrown;
  const { code, message, details } = toAppError(thrown);
  return new CommandFailure({ code: code as OperationErrorCode, message, details }, { cause: thrown });
}

export const isUnauthorized = (error: unknown): boolean =>
  error instanceof CommandFailure && error.fault.code === "UNAUTHORIZED";

/** The connection to the server failed before a response came. */
export function unreachable(url: string, why: string, cause?: unknown): CommandFailure {
  const message = `no Freshell server at ${url}: ${why}; start one with \`tmuxwire serve --only freshell\`, or set FRESHELL_URL`;
  return serverLost(message, { retry: true, url }, cause);
}

export const serverLost = (message: string, details: object, cause: unknown): CommandFailure =>
  new CommandFailure(
    { code: "INTERNAL_ERROR", message, details: { cause: "DAEMON_UNREACHABLE", ...details } },
    { exitCode: EXIT_UNREACHABLE, cause },
  );
