/** Makes the `tmuxwire` program from a command table, which may hold only some of its commands. */
import { runtimePaths } from "../../daemon/ops/runtimePaths.ts";
import { AppError, ERROR_SURFACES, type ErrorCode, toAppError } from "../../protocol/errors.ts";
import { TmuxwireError } from "../client/client.ts";
import { packageVersion } from "../serving/version.ts";
import { type Io, Interrupted } from "./cliIo.ts";
import type { CommandSpec, Program } from "./commandTypes.ts";
import { oneLine } from "./textTable.ts";

export const tmuxwireProgram = (
  commands: readonly CommandSpec[],
  help: Pick<Program, "groups" | "topics"> = {},
): Program => ({
  name: "tmuxwire",
  about: "a daemon that drives tmux, and commands that use it",
  commands,
  ...help,
  version: packageVersion,
  fail: reportFailure,
});

/**
 * Reports a command's failure: one line on stderr, or with `--json` one object on stdout, so that a reader of stdout always
 * gets JSON and stderr stays empty. Returns the exit code from `ERROR_SURFACES`.
 */
const reportFailure: Program["fail"] = async (io, thrown, json, exitCodeOf) => {
  if (thrown instanceof Interrupted) return thrown.exitCode;
  if (io.signal.reason instanceof Interrupted) return io.signal.reason.exitCode;
  const error = appErrorOf(thrown);
  const { code, details } = error;
  const nearest = details?.["nearest"];
  const isTokenRefused = code === "UNAUTHORIZED" && thrown instanceof TmuxwireError;
  const message = isTokenRefused ? tokenHint(io) : `${error.message}${otherVersion(thrown)}`;
  if (json)
    await io.out(`${JSON.stringify({ error: { code, message, ...(details === undefined ? {} : { details }) } })}\n`);
  else
    io.err(
      `tmuxwire: ${oneLine(message)}${typeof nearest === "string" ? `; did you mean ${oneLine(nearest)}?` : ""}\n`,
    );
  // At log level debug, an internal error is shown with its stack.
  if (code === "INTERNAL_ERROR" && io.env["TMUXWIRE_LOG_LEVEL"] === "debug") {
    const cause = error.cause instanceof Error ? error.cause : error;
    io.err(`${cause.stack ?? cause.message}\n`);
  }
  return exitCodeOf?.(code) ?? ERROR_SURFACES[code].exitCode;
};

/** A daemon's error keeps its code; if the daemon was unreachable, the cause says more. */
function appErrorOf(thrown: unknown): AppError {
  if (!(thrown instanceof TmuxwireError)) return toAppError(thrown);
  const { code, message, details, cause } = thrown;
  if (cause instanceof AppError) return cause;
  return new AppError(code, message, { details, cause });
}

/** What a newer one has is unknown to an older daemon, and the other way round. */
const BY_VERSION: ReadonlySet<ErrorCode> = new Set([
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "INTERNAL_ERROR",
  "PROTOCOL_ERROR",
]);

function otherVersion(thrown: unknown): string {
  if (!(thrown instanceof TmuxwireError) || !BY_VERSION.has(thrown.code)) return "";
  const [daemon, own] = [thrown.daemonVersion, packageVersion()];
  if (daemon === undefined || daemon === own) return "";
  return ` (the daemon is tmuxwire ${oneLine(daemon)} and this command ${own}; \`tmuxwire restart\` makes them the same)`;
}

/** Says where the right token probably is. */
const tokenHint = ({ env, homeDir }: Io): string =>
  `the daemon refused the token: give its token file with --token-file or TMUXWIRE_TOKEN_FILE; the default is ` +
  `${runtimePaths(env, homeDir).tokenPath} of the daemon's user, and \`tmuxwire config\` there shows native.tokenFile`;
