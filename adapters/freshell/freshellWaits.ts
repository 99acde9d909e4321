/** A wait of the contract in the engine's terms, and the engine's result in the contract's. Nothing is evaluated here. */
import type { InferOutput } from "valibot";
import type { Session, SessionBook } from "./sessions/sessionBook.ts";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";
import type { WaitFrom, WaitRequest, WaitResult } from "../../daemon/waits/waitRequest.ts";
import type {
  FreshellWaitResponse,
  FreshellWaitMatch,
  freshellWaitSchema,
} from "../../protocol/api/freshell/freshellHttp.ts";
import { AppError } from "../../protocol/errors.ts";
import type { OutputSource } from "../../daemon/tmux/outputSource.ts";
import { exitCodeOf } from "./terminals/terminal.ts";
import type { TerminalBook } from "./terminals/terminalBook.ts";

type WaitBody = InferOutput<typeof freshellWaitSchema>;

/** What to wait on: its output, and why it failed, which only a session says. */
interface WaitSource {
  readonly output: OutputSource;
  readonly session?: Session;
}

/** @throws AppError INVALID_ARGUMENT, NOT_FOUND, AMBIGUOUS_TARGET */
export function sourceOf({ target, prompt }: WaitBody, { book, sessions }: WaitTargets): WaitSource {
  if ("terminalId" in target) return { output: book.require(target.terminalId).source };
  if (prompt === true) throw invalid("prompt is about a terminal: a session of an agent has none");
  const { provider, sessionId } = target.sessionRef;
  const session = sessions.require(provider, sessionId);
  return { output: session.text, session };
}

interface WaitTargets {
  readonly book: TerminalBook;
  readonly sessions: SessionBook;
}

/** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT, UNSUPPORTED_PATTERN_ENGINE, TIMEOUT, NOT_FOUND, CONNECTION_LOST */
export async function waitFor(
  waits: Pick<WaitManager, "wait">,
  { output, session }: WaitSource,
  asked: WaitBody,
  signal: AbortSignal,
): Promise<FreshellWaitResponse> {
  const response = responseOf(await waits.wait(output, requestOf(asked), { signal }));
  const failure = session?.failure;
  return failure === undefined ? response : { ...response, failure };
}

function requestOf(asked: WaitBody): WaitRequest {
  const { pattern, literal, regex, stableSec, exit, prompt, timeoutSec } = asked;
  if (literal === true && regex === true) throw invalid("literal and regex exclude each other: give one of them");
  if (pattern === undefined && (literal ?? regex) !== undefined) {
    throw invalid("literal and regex say what a pattern is: give one, or leave them out");
  }
  return {
    pattern:
      pattern === undefined
        ? undefined
        : { kind: regex === true || literal === false ? "regex" : "literal", text: pattern },
    stableSec,
    exit: exit === true ? true : undefined,
    prompt: prompt === true ? true : undefined,
    from: fromOf(asked.from),
    timeoutMs: timeoutSec === undefined ? undefined : timeoutSec * 1_000,
  };
}

function fromOf(text: string | undefined): WaitFrom {
  const lines = /^tail:(\d+)$/.exec(text ?? "now")?.[1];
  return lines === undefined ? { kind: "now" } : { kind: "tail", lines: Number(lines) };
}

function responseOf({ matched, position, exit, elapsedMs }: WaitResult): FreshellWaitResponse {
  const exitCode = exit === undefined ? undefined : exitCodeOf(exit);
  return {
    matched: matched.map(({ predicate, text, to }) => ({
      predicate: predicate as FreshellWaitMatch["predicate"],
      ...(text === undefined ? {} : { text }),
      ...(to === undefined ? {} : { outputSeq: to.outputSeq }),
    })),
    outputSeq: position.outputSeq,
    ...(exitCode === undefined ? {} : { exitCode }),
    elapsedMs: Math.round(elapsedMs * 1_000) / 1_000,
  };
}

const invalid = (message: string): AppError => new AppError("INVALID_ARGUMENT", message);
