/**
 * `wait_for` in terms of the daemon's waits: one pattern on the pane's stream, armed in the turn in which the input is
 * written, the echo of the typed text left out. What the waits say of a pattern becomes the contract's 400 elsewhere
 * (`requests.ts`); a timeout is a result here, not an error.
 */
import type { OutputSource } from "../../daemon/tmux/outputSource.ts";
import type { ScreenView } from "../../daemon/waits/screen/screenView.ts";
import type { Send, WaitManager } from "../../daemon/waits/waitManager.ts";
import type { WaitPattern } from "../../daemon/waits/waitPattern.ts";
import type { WaitPane } from "../../daemon/waits/waitReading.ts";
import { AppError } from "../../protocol/errors.ts";

/** What the add-in needs of the wait manager. */
export type AddinWaits = Pick<WaitManager, "checkPattern" | "sendAndWait">;

interface MatchRequest {
  /** RE2 syntax, `^ $` at every line. */
  readonly pattern: string;
  readonly timeoutMs: number;
  /** What is typed, when its echo must not count. */
  readonly excludeEcho: Uint8Array | undefined;
  /** Where it is typed, with what: what a shell's editor draws does not count either. */
  readonly pane?: WaitPane | undefined;
  readonly sends?: Uint8Array | undefined;
  /** The pane as people see it, when that counts as well: what users write for captures matches no stream. */
  readonly screen: ScreenView | undefined;
  /** Frees the wait at once. */
  readonly signal: AbortSignal;
}

export type MatchOutcome =
  | { readonly kind: "matched"; readonly text: string }
  /** The time was up, and only what was typed had matched. */
  | { readonly kind: "echo" }
  | { readonly kind: "timeout" };

/** Without any of these a regex is its own text, which is found in the turn of its arrival and costs a hundredth. */
const METACHARACTER = /[\\^$.|?*+()[\]{}]/;

export const waitPatternOf = (text: string): WaitPattern => ({
  kind: METACHARACTER.test(text) ? "regex" : "literal",
  text,
});

/** Why this pattern cannot be used; undefined when it can. @throws AppError UNSUPPORTED_PATTERN_ENGINE */
export async function patternProblem(waits: AddinWaits, pattern: string): Promise<string | undefined> {
  try {
    await waits.checkPattern(waitPatternOf(pattern));
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // That a pattern costs too much is the client's error; that there are too many waits is not.
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
