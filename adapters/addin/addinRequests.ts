/**
 * Validates a JSON value as a request (docs/contracts/addin.md §2). The schema's checks and the three that need the machine
 * (whether `cwd` exists, tmux knows each key, the pattern compiles) are merged by the order of the fields, so that a request
 * with several errors is refused with the first one, as the contract requires.
 */
import { stat } from "node:fs/promises";
import { tryParse } from "../../protocol/api/parse.ts";
import { isKeyName } from "../../daemon/panes/input/keys.ts";
import type { AddinField, AddinFields, AddinRequest } from "../../protocol/api/addinMessages.ts";
import { ADDIN_FIELD_ORDER, addinFieldsSchema, narrowAddinRequest } from "../../protocol/api/addinMessages.ts";
import { AppError } from "../../protocol/errors.ts";

/** RE2's reason why a pattern is not usable; undefined if it is. */
type CheckPattern = (pattern: string) => Promise<string | undefined>;

/** @throws AppError INVALID_ARGUMENT with the contract's message for the first error. */
export async function parseAddinRequest(payload: unknown, checkPattern: CheckPattern): Promise<AddinRequest> {
  const parsed = tryParse(addinFieldsSchema, payload);
  const firstIssue = parsed.success ? undefined : parsed.issue;
  const firstRank = firstIssue === undefined ? Number.POSITIVE_INFINITY : rankOf(firstIssue.path?.[0]?.key);
  // Fields before the first error have passed their checks, so their values have the declared types.
  const fields = parsed.output as AddinFields;
  if (rankOf("cwd") < firstRank && fields.cwd !== undefined) await checkDirectory(fields.cwd);
  if (rankOf("keys") < firstRank) checkKeys(fields.keys);
  if (rankOf("wait_for") < firstRank && fields.wait_for !== undefined) {
    await checkWaitFor(fields.wait_for, checkPattern);
  }
  if (firstIssue !== undefined) throw new AppError("INVALID_ARGUMENT", firstIssue.message);
  return narrowAddinRequest(fields);
}

/** A field's index in the order of validation; -1, before all fields, for the body itself. */
const rankOf = (field: unknown): number => ADDIN_FIELD_ORDER.indexOf(field as AddinField);

/** Asynchronous, so that a dead network mount does not block other requests. */
async function checkDirectory(path: string): Promise<void> {
  const stats = await stat(path).catch((error: unknown) => {
    throw new AppError("INVALID_ARGUMENT", `cwd does not exist: ${path}`, { cause: error });
  });
  if (!stats.isDirectory()) throw new AppError("INVALID_ARGUMENT", `cwd is not a directory: ${path}`);
}

function checkKeys(keys: readonly string[]): void {
  const unknown = keys.find((key) => !isKeyName(key));
  if (unknown !== undefined) throw new AppError("INVALID_ARGUMENT", `Invalid key token: ${unknown}`);
}

const INVALID_PATTERN = "wait_for must be a valid regular expression.";

async function checkWaitFor(pattern: string, checkPattern: CheckPattern): Promise<void> {
  const reason = await checkPattern(pattern);
  if (reason === undefined) return;
  const message = isJavaScriptRegExp(pattern) ? `${INVALID_PATTERN} ${reason}` : INVALID_PATTERN;
  throw new AppError("INVALID_ARGUMENT", message);
}

/** Whether the bridge that ours replaces would have accepted it; then the reason says why ours does not. */
function isJavaScriptRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern, "m").multiline;
  } catch {
    return false;
  }
}
