/**
 * One agent as the page knows it, decoded once on arrival. Foreign text in it is only displayed; a field that is missing or
 * of the wrong type gets its empty value, so that a tab older than the daemon keeps working.
 */
import { type Fields, fieldsOf, textOf } from "../../../../protocol/text/jsonObject.ts";

type AgentState = "IDLE" | "COMMANDED" | "PROCESSING" | "AWAITING_INPUT" | "COMPLETE";
type QuestionKind = "text" | "select" | "multi_select";

export interface QuestionOption {
  readonly index: number;
  /** As the program shows it; undefined in a list without numbers. */
  readonly number: string | undefined;
  readonly label: string;
  /** From the tool that asks; may be empty. */
  readonly description: string;
  /** tmux key names that choose it. */
  readonly keys: readonly string[];
}

/** One of several questions that are answered together. */
interface QuestionPart {
  readonly text: string;
  readonly isMulti: boolean;
  readonly options: readonly QuestionOption[];
}

export interface Question {
  readonly turnId: number | undefined;
  readonly text: string;
  readonly kind: QuestionKind;
  readonly options: readonly QuestionOption[];
  /** With `multi_select`: the parts, at least one. */
  readonly parts: readonly QuestionPart[];
  readonly otherIndex: number | undefined;
  readonly dialogId: string | undefined;
  readonly safety: QuestionSafety;
  /** What the permission is for, in the agent's words; may be empty. */
  readonly purpose: string;
}

/** What a permission would let happen, as far as it is known. */
type QuestionSafety = "safe_read" | "safe_write" | "destructive" | "unknown";
const SAFETIES: ReadonlySet<unknown> = new Set<QuestionSafety>(["safe_read", "safe_write", "destructive"]);

const STATES: ReadonlySet<string> = new Set<AgentState>([
  "IDLE",
  "COMMANDED",
  "PROCESSING",
  "AWAITING_INPUT",
  "COMPLETE",
]);

/** Undefined without an agent: not a card. */
export function decodeCard(value: unknown) {
  const card = fieldsOf(value);
  const agentId = integer(card?.["agent_id"]) ?? integer(card?.["id"]);
  if (card === undefined || agentId === undefined) return undefined;
  return {
    agentId,
    projectName: textOf(card["project_name"]) ?? "",
    projectPath: textOf(card["project_path"]) ?? "",
    session: textOf(card["session"]) ?? textOf(card["session_uuid"]) ?? "",
    state: decodeState(card["state"]) ?? "IDLE",
    /** The pane exists and an agent program runs in it. */
    available: card["is_bridge_connected"] === true,
    priority: number(card["priority"]) ?? 0,
    reason: textOf(card["reason"]) ?? "",
    paneId: textOf(card["tmux_pane_id"]),
    tmuxSession: textOf(card["tmux_session"]),
    stateSinceUnixMs: number(card["state_since_unix_ms"]),
    lastSeenUnixMs: number(card["last_seen_unix_ms"]),
    readiness: decodeReadiness(card["readiness"]),
    question: decodeQuestion(card["question"], card["question_options"]),
    lastDelivery: decodeDelivery(card["last_delivery"]),
  };
}

export type AgentCard = Readonly<NonNullable<ReturnType<typeof decodeCard>>>;

/** The states come in either case: `processing`, `AWAITING_INPUT`. */
export function decodeState(value: unknown): AgentState | undefined {
  const state = textOf(value)?.toUpperCase();
  return state !== undefined && STATES.has(state) ? (state as AgentState) : undefined;
}

function decodeReadiness(value: unknown) {
  const readiness = fieldsOf(value);
  if (readiness === undefined) return undefined;
  return {
    state: textOf(readiness["state"]) ?? "unknown",
    source: textOf(readiness["source"]) ?? "none",
    sinceUnixMs: number(readiness["since_unix_ms"]),
    profile: textOf(readiness["profile"]) ?? "",
  };
}

/** `toolInput`: the asking tool's input, of which the screen may show only the first part. */
function decodeQuestion(value: unknown, toolInput: unknown): Question | undefined {
  const question = fieldsOf(value);
  if (question === undefined) return undefined;
  const offered = fieldsOf(toolInput);
  const asked = list(offered?.["questions"]).flatMap(decodePart);
  const safety = offered?.["safety"];
  const options = withDescriptions(list(question["options"]).flatMap(decodeOption), asked[0]);
  const kind = question["kind"];
  return {
    turnId: integer(question["turn_id"]),
    text: textOf(question["text"]) ?? "",
    kind: kind === "select" || kind === "multi_select" ? kind : "text",
    options,
    parts: kind === "multi_select" ? partsOf(asked, options) : [],
    otherIndex: integer(question["other_index"]),
    dialogId: textOf(question["dialog_id"]),
    safety: SAFETIES.has(safety) ? (safety as QuestionSafety) : "unknown",
    purpose: textOf(fieldsOf(offered?.["command_context"])?.["description"]) ?? "",
  };
}

const partsOf = (asked: readonly QuestionPart[], options: readonly QuestionOption[]): readonly QuestionPart[] =>
  asked.length > 0 ? asked : [{ text: "", isMulti: true, options }];

function decodePart(value: unknown): QuestionPart[] {
  const part = fieldsOf(value);
  const options = list(part?.["options"]).flatMap(decodeOption);
  if (part === undefined || options.length === 0) return [];
  return [{ text: textOf(part["question"]) ?? "", isMulti: part["multiSelect"] === true, options }];
}

function decodeOption(value: unknown, place: number): QuestionOption[] {
  const option = typeof value === "string" ? { label: value } : fieldsOf(value);
  if (option === undefined) return [];
  const fields: Fields = option;
  const shown = fields["number"];
  return [
    {
      index: integer(fields["index"]) ?? place,
      number: typeof shown === "number" ? String(shown) : textOf(shown),
      label: textOf(fields["label"]) ?? "",
      description: textOf(fields["description"]) ?? "",
      keys: list(fields["keys"]).filter((key) => typeof key === "string"),
    },
  ];
}

function withDescriptions(options: readonly QuestionOption[], asked: QuestionPart | undefined): QuestionOption[] {
  const words = new Map(asked?.options.map(({ label, description }) => [label, description]));
  return options.map((option) => ({ ...option, description: words.get(option.label) ?? option.description }));
}

function decodeDelivery(value: unknown) {
  const delivery = fieldsOf(value);
  const outcome = textOf(delivery?.["delivery"]);
  if (delivery === undefined || outcome === undefined) return undefined;
  return {
    delivery: outcome,
    screenNote: textOf(delivery["screen_note"]),
    latencyMs: number(delivery["latency_ms"]),
    atUnixMs: number(delivery["at_unix_ms"]),
  };
}

export const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;
export const integer = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) ? Number(value) : undefined;
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
