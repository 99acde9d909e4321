/** What became of a prompt and of a start, in the page's words. */
import type { NativeAgentStarted } from "../../../../protocol/api/native/nativeAgentStart.ts";
import type { NativeTold } from "../../../../protocol/api/native/nativeAgentMessages.ts";
import type { AnswerProgress } from "../model/pageState.ts";

export function toldText({ outcome, reason }: Pick<NativeTold, "outcome" | "reason">): AnswerProgress {
  if (outcome === "waiting")
    return { kind: "delivered", words: "prompt kept: it is typed when the agent takes one", isSure: true };
  if (outcome === "delivered") return { kind: "delivered", words: "prompt taken", isSure: true };
  return { kind: "failed", words: undeliveredText(outcome, reason) };
}

/** Of a message that no longer waits, and did not arrive. */
export function undeliveredText(outcome: string, reason: string | null): string {
  const head = outcome === "unknown" ? "may have arrived: look at the pane" : outcome.replaceAll("_", " ");
  return reason === null ? head : `${head}: ${reason}`;
}

/** `isDone`: it runs, and has its prompt if it was given one. */
export function startedText({ agent, outcome, reason, pane }: NativeAgentStarted): {
  readonly isDone: boolean;
  readonly words: string;
} {
  const name = agent?.name ?? `the program in ${pane}`;
  const done = STARTED.get(outcome);
  if (done !== undefined) return { isDone: true, words: `${name} ${done}` };
  const why = reason === null ? "" : `, ${reason}`;
  return { isDone: false, words: `${name}: ${outcome.replaceAll("_", " ")}${why}` };
}

/** Outcomes after which it runs, and has its prompt or says what it needs first. */
const STARTED: ReadonlyMap<string, string> = new Map([
  ["ready", "is ready"],
  ["submitted", "has its prompt"],
  ["queued", "has its prompt"],
  ["asking", "asks something first"],
]);
