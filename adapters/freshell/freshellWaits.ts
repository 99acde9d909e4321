/** A wait of the contract in the engine's terms, and the engine's result in the contract's. Nothing is evaluated here. */
import type { InferOutput } from "valibot";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";
import type { WaitRequest, WaitResult } from "../../daemon/waits/waitRequest.ts";
import type {
  FreshellWaitMatch,
  FreshellWaitResponse,
  freshellWaitSchema,
} from "../../protocol/api/freshell/freshellHttp.ts";
import { invalidArgument } from "../../protocol/errors.ts";
import type { Session, SessionRegistry } from "./sessions/sessionRegistry.ts";
import { shellStatusOf } from "../../daemon/tmux/outputSource.ts";
import type { TerminalRegistry } from "./terminals/terminalRegistry.ts";

type WaitBody = InferOutput<typeof freshellWaitSchema>;

export interface WaitParts {
  readonly terminals: TerminalRegistry;
  readonly sessions: SessionRegistry;
  readonly waits: Pick<WaitManager, "wait">;
}

/**
 * Finds the target at once; the returned function waits.
 * @throws AppError INVALID_ARGUMENT, NOT_FOUND, AMBIGUOUS_TARGET; the function also RESOURCE_LIMIT, UNSUPPORTED_PATTERN_ENGINE,
 *   TIMEOUT, CONNECTION_LOST
 */
export function waitOn(
  asked: WaitBody,
  { terminals, sessions, waits }: WaitParts,
): (signal: AbortSignal) => Promise<FreshellWaitResponse> {
  const { target } = asked;
  let session: Session | undefined;
  if ("sessionRef" in target) {
    if (asked.prompt === true) throw invalidArgument("prompt applies to terminals only: an agent's session has none");
    session = sessions.require(target.sessionRef.provider, target.sessionRef.sessionId);
  }
  const output = "terminalId" in target ? terminals.require(target.terminalId).source : session!.text;
  return async (signal) => {
    const response = responseOf(await waits.wait(output, requestOf(asked), { signal }));
    const failure = session?.failure;
    return failure === undefined ? response : { ...response, failure };
  };
}

function requestOf({ pattern, literal, regex, stableSec, exit, prompt, from, timeoutSec }: WaitBody): WaitRequest {
  if (literal === true && regex === true)
    throw invalidArgument("literal and regex exclude each other: give one of them");
  if (pattern === undefined && (literal ?? regex) !== undefined) {
    throw invalidArgument("literal and regex describe a pattern: give one, or leave them out");
  }
  const kind = regex === true || literal === false ? "regex" : "literal";
  const lines = /^tail:(\d+)$/.exec(from ?? "now")?.[1];
  return {
    pattern: pattern === undefined ? undefined : { kind, text: pattern },
    stableSec,
    exit: exit === true ? true : undefined,
    prompt: prompt === true ? true : undefined,
    from: lines === undefined ? { kind: "now" } : { kind: "tail", lines: Number(lines) },
    timeoutMs: timeoutSec === undefined ? undefined : timeoutSec * 1_000,
  };
}

function responseOf({ matched, position, exit, elapsedMs }: WaitResult): FreshellWaitResponse {
  const exitCode = shellStatusOf(exit);
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
