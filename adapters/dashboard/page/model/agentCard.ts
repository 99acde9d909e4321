/** One agent as the page shows it: the daemon's card, with its question joined with what the asking tool says of it. */
import type { DashboardCard } from "../../../../protocol/api/dashboard.ts";
import type { HostAgent } from "../../../../protocol/api/dashboardHosts.ts";
import { type Diff, givenDiff } from "./diff.ts";
import { fieldsOf, textOf } from "../../../../protocol/text/jsonObject.ts";

type CardQuestion = NonNullable<DashboardCard["question"]>;

export type QuestionOption = CardQuestion["options"][number] & {
  /** From the tool that asks; may be empty. */
  readonly description: string;
};

/** One of several questions that are answered together. */
interface QuestionPart {
  readonly text: string;
  readonly isMulti: boolean;
  readonly options: readonly QuestionOption[];
}

export interface Question extends Omit<CardQuestion, "options"> {
  readonly options: readonly QuestionOption[];
  /** With `multi_select`: the parts, at least one. */
  readonly parts: readonly QuestionPart[];
  /** What a permission would let happen, as far as it is known. */
  readonly safety: (typeof SAFETIES)[number] | "unknown";
  /** What it would run; empty if that is not known, or does not stand in the text as it is. */
  readonly command: string;
  /** What the permission is for, in the agent's words; may be empty. */
  readonly purpose: string;
  /** What it would change in files; undefined: nothing is known. */
  readonly diff: Diff | undefined;
}
const SAFETIES = ["safe_read", "safe_write", "destructive"] as const;

/** What is known only of an agent on another machine. */
interface Far {
  readonly host: string;
  /** Its tmux server, as it is called here. */
  readonly server: string;
  readonly state: HostAgent["state"];
  /** What says so. */
  readonly why: string;
  /** Its machine has been away since then; undefined: it is connected. */
  readonly awaySinceUnixMs: number | undefined;
}

export type AgentCard = Readonly<Omit<DashboardCard, "question">> & {
  readonly question: Question | undefined;
  readonly far: Far | undefined;
};

export const agentCard = ({ question, ...card }: DashboardCard): AgentCard => ({
  ...card,
  // An older daemon knows nothing of it.
  running: card.running ?? null,
  far: undefined,
  question: question === null ? undefined : joined(question, card.question_options),
});

/** @param toolInput the asking tool's own input, of which the screen may show only the first part */
function joined(question: CardQuestion, toolInput: DashboardCard["question_options"]): Question {
  const asked = list(toolInput?.["questions"]).flatMap(partOf);
  const descriptions = new Map(asked[0]?.options.map(({ label, description }) => [label, description]));
  const options = question.options.map((option) => ({ ...option, description: descriptions.get(option.label) ?? "" }));
  const context = fieldsOf(toolInput?.["command_context"]);
  const command = textOf(context?.["command"]) ?? "";
  const isSeveral = question.kind === "multi_select";
  return {
    ...question,
    options,
    parts: !isSeveral ? [] : asked.length > 0 ? asked : [{ text: "", isMulti: true, options }],
    safety: SAFETIES.find((safety) => safety === toolInput?.["safety"]) ?? "unknown",
    command: question.text.includes(command) ? command : "",
    purpose: textOf(context?.["description"]) ?? "",
    diff: givenDiff(toolInput?.["diff"]),
  };
}

/** A question as a tool states it: foreign. */
function partOf(value: unknown): QuestionPart[] {
  const part = fieldsOf(value);
  const options = list(part?.["options"]).map((option, index): QuestionOption => {
    const fields = typeof option === "string" ? { label: option } : fieldsOf(option);
    const [label, description] = [textOf(fields?.["label"]) ?? "", textOf(fields?.["description"]) ?? ""];
    return { index, number: null, label, description, keys: [] };
  });
  if (part === undefined || options.length === 0) return [];
  return [{ text: textOf(part["question"]) ?? "", isMulti: part["multiSelect"] === true, options }];
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
