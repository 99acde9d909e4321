/** An agent's last task on its card beyond its state: number of turns, last message, plan. */
import { fieldsOf, textOf } from "../../../protocol/text/jsonObject.ts";
import { clip } from "../../../protocol/text/clip.ts";
import type { TurnRecord } from "../store/records.ts";

/** As long as the contract's cards have it. */
const MAX_SUMMARY_CHARS = 103;

export interface TaskDigest {
  readonly turnCount: number;
  /** Of the last turn that is not a question; an open question is in the card itself. */
  readonly lastText: string;
  /** What the agent said when it ended. */
  readonly completion: string | undefined;
  readonly plan: string | undefined;
}

export const EMPTY_DIGEST: TaskDigest = { turnCount: 0, lastText: "", completion: undefined, plan: undefined };

export function withTurn(digest: TaskDigest, { intent, text, toolInput }: TurnRecord): TaskDigest {
  const plan = textOf(fieldsOf(toolInput)?.["plan_content"]) ?? digest.plan;
  const counted = { ...digest, turnCount: digest.turnCount + 1, plan };
  if (intent === "question") return counted;
  const lastText = summaryOf(text);
  return { ...counted, lastText, completion: intent === "completion" ? lastText : undefined };
}

export const summaryOf = (text: string): string => clip(text.trim(), MAX_SUMMARY_CHARS);
