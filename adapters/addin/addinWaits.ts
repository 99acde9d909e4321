/**
 * `wait_for` in terms of the daemon's waits: one pattern on the pane's stream, armed in the turn in which the input is
 * written, ignoring the echo of the typed text. Errors about the pattern become the contract's 400 in `addinRequests.ts`; a
 * timeout is a result here, not an error.
 */
import type { OutputSource } from "../../daemon/tmux/outputSource.ts";
import type { ScreenView } from "../../daemon/waits/screen/screenView.ts";
import type { Send, WaitManager } from "../../daemon/waits/waitManager.ts";
import type { WaitPattern } from "../../daemon/waits/waitPattern.ts";
import type { WaitPane } from "../../daemon/waits/waitReading.ts";
import { AppError } from "../../protocol/errors.ts";

/** The part of the wait manager that the add-in uses. */
export type AddinWaits = Pick<WaitManager, "checkPattern" | "sendAndWait">;

interface MatchRequest {
  /** In RE2 syntax; `^` and `$` match at every line. */
  readonly pattern: string;
  readonly timeoutMs: number;
  /** The typed bytes, if their echo must not count. */
  readonly excludeEcho: Uint8Array | undefined;
  /** The pane it is typed into; what a shell's line editor redraws does not count either. */
  readonly pane?: WaitPane | undefined;
  readonly sends?: Uint8Array | undefined;
  /** The pane's screen, if that counts as well: patterns written for captures may not match the stream. */
  readonly screen: ScreenView | undefined;
  /** Ends the wait at once. */
  readonly signal: AbortSignal;
}

export type MatchOutcome =
  | { readonly kind: "matched"; readonly text: string }
  /** Timed out, and only the echo had matched. */
  | { readonly kind: "echo" }
  | { readonly kind: "timeout" };

/** A regex without any of these is plain text, which is found in the turn of its arrival at a hundredth of the cost. */
const METACHARACTER = /[\\^$.|?*+()[\]{}]/;

export const waitPatternOf = (text: string): WaitPattern => ({
  kind: METACHARACTER.test(text) ? "regex" : "literal",
  text,
});

/** Why this pattern is not usable; undefined if it is. @throws AppError UNSUPPORTED_PATTERN_ENGINE */
export async function patternProblem(waits: AddinWaits, pattern: string): Promise<string | undefined> {
  try {
    await waits.checkPattern(waitPatternOf(pattern));
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // A pattern that costs too much is the client's error; too many waits are not.
    const isPatterns = error.code === "INVALID_ARGUMENT" || error.code === "RESOURCE_LIMIT";
    if (!isPatterns || error.details?.["engine"] !== "re2") throw error;
    const reason = error.details["reason"];
    return typeof reason === "string" ? reason : error.message;
  }
}

/** @throws AppError as `send` does, NOT_FOUND, CONNECTION_LOST */
export async function sendAndMatch(
  waits: AddinWaits,
  source: OutputSource,
  request: MatchRequest,
  send: Send,
): Promise<MatchOutcome> {
  const { signal, ...rest } = request;
  try {
    const asked = { ...rest, pattern: waitPatternOf(request.pattern) };
    const { matched } = await waits.sendAndWait(source, asked, send, { signal });
    return { kind: "matched", text: matched[0]?.text ?? "" };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppError && error.code === "TIMEOUT") {
      return { kind: error.details?.["matchedEcho"] === true ? "echo" : "timeout" };
    }
    throw error;
  }
}
