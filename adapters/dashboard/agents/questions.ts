/**
 * An agent's question: from a tool's input when a hook brings it, from the dialog on its screen when that has been read.
 * All of it is foreign text.
 */
import type { Dialog } from "../../../daemon/readiness/readiness.ts";
import { MAX_EVENT_TEXT_CHARS } from "../dashboardLimits.ts";
import { clip } from "../../../protocol/text/clip.ts";
import { type Edits, editsOf, isPatch } from "./edits.ts";
import { fieldsOf, textOf } from "../../../protocol/text/jsonObject.ts";
import type { QuestionKind, ToolInput, TurnRecord } from "../store/records.ts";
import { SAFETIES, type Safety, safetyOf, safetyOfCommand } from "../../agents/running/safety.ts";

interface QuestionOption {
  readonly index: number;
  readonly number: string | undefined;
  readonly label: string;
  /** Key names that choose it; none while the dialog has not been read from the screen. */
  readonly keys: readonly string[];
}

export interface OpenQuestion {
  /** As it was told of last. */
  readonly turn: TurnRecord;
  readonly text: string;
  readonly kind: QuestionKind;
  readonly options: readonly QuestionOption[];
  readonly otherIndex?: number | undefined;
  /** Set once the dialog has been seen on the screen. */
  readonly dialogId?: string | undefined;
  /** The tool that asks, when one does. */
  readonly tool?: string | undefined;
  readonly toolInput?: ToolInput | undefined;
  /** Of a permission: what it would let happen; told with its options. */
  readonly risk?: Risk | undefined;
}

/** As the contract names it, which is without what is undefined. */
interface Risk {
  readonly safety: Safety;
  readonly command_context?: CommandContext | undefined;
  /** What it would change in files. */
  readonly diff?: Edits | undefined;
}

interface CommandContext {
  readonly command?: string | undefined;
  readonly description?: string | undefined;
}

export type AskedQuestion = Omit<OpenQuestion, "turn">;

/** Tools that are themselves a question to the user. */
export const ASKING_TOOLS: ReadonlySet<string> = new Set(["AskUserQuestion", "ExitPlanMode"]);

const MAX_TEXT_CHARS = 4_096;
const MAX_OPTIONS = 64;
const MAX_SUMMARY_CHARS = 200;

/** From `pre-tool-use` and `permission-request`. @param message who asks, where no tool is named. */
export function questionOfTool(tool: string | undefined, input: unknown, message?: string): AskedQuestion {
  const questions = tool === "AskUserQuestion" ? questionsOf(input) : [];
  const [first] = questions;
  if (first !== undefined) {
    const text = questions.map((question) => question.text).join(" | ");
    return {
      tool,
      text: clip(text, MAX_TEXT_CHARS),
      kind: first.isMulti ? "multi_select" : "select",
      options: first.options,
      toolInput: { ...fieldsOf(input), status: "pending" },
    };
  }
  if (tool === "ExitPlanMode") {
    const text = "Approve plan and proceed?";
    const options = [
      { label: "Yes", description: "Approve the plan and begin implementation" },
      { label: "No", description: "Reject and stay in plan mode" },
    ];
    const source = "exit_plan_mode_default";
    return {
      tool,
      text,
      // The dialog's real options are read from the screen.
      kind: "select",
      options: [],
      toolInput: { questions: [{ question: text, options }], ...planOf(input), source, status: "pending" },
    };
  }
  const diff = editsOf(input);
  const command = isPatch(input) ? undefined : commandOf(input);
  const description = textOf(fieldsOf(input)?.["description"]);
  const risk = { ...withContext(safetyOf(tool, input), { command, description }), diff };
  const told = diff !== undefined && isPatch(input) ? { path: diff.files.map(({ path }) => path).join(", ") } : input;
  return { tool, text: permissionText(tool ?? message, told, tool === undefined), kind: "select", options: [], risk };
}

/** The question of a turn before a restart; its dialog is read from the screen again. */
export function questionOfTurn(turn: TurnRecord): OpenQuestion {
  const { text, tool, kind, toolInput } = turn;
  const asked = questionOfTool(tool, toolInput);
  const safety = SAFETIES.find((one) => one === toolInput?.["safety"]);
  const context = fieldsOf(toolInput?.["command_context"]);
  const [command, description] = [textOf(context?.["command"]), textOf(context?.["description"])];
  const diff = fieldsOf(toolInput?.["diff"]) as Edits | undefined;
  const risk = safety === undefined ? asked.risk : { ...withContext(safety, { command, description }), diff };
  return { ...asked, text, kind: kind ?? "text", tool, toolInput, risk, turn };
}

/** From `notification`: by this hook, the agent waits in its prompt box. */
export function questionOfNotification(title: string | undefined, message: string | undefined): AskedQuestion {
  const text = [title === undefined ? "" : `[${title}]`, message ?? ""].join(" ").trim();
  return { text: clip(text === "" ? "Waiting for input" : text, MAX_TEXT_CHARS), kind: "text", options: [] };
}

/** A dialog that no hook has reported, or the one a hook has reported (`base`), now that it is on the screen. */
export function questionOfDialog(dialog: Dialog, base?: AskedQuestion): AskedQuestion {
  const text = base === undefined || base.text === "" ? dialog.text : base.text;
  const options = dialog.options.map(({ index, number, label, keys }) => ({ index, number, label, keys }));
  const risk = base?.risk ?? (base?.tool === undefined ? riskOfDialog(dialog.text) : undefined);
  return {
    text: clip(text === "" ? "The program asks" : text, MAX_TEXT_CHARS),
    kind: dialog.multi ? "multi_select" : options.length > 0 ? "select" : "text",
    options,
    otherIndex: dialog.otherIndex,
    dialogId: dialog.id,
    tool: base?.tool,
    toolInput: toolInputWith(text, options, base?.toolInput, risk),
    risk,
  };
}

/** What is asked without a hook, where the dialog names a command; read from a screen, none is called safe. */
function riskOfDialog(text: string): Risk | undefined {
  const context = contextOfDialog(text);
  if (context.command === undefined) return undefined;
  return withContext(safetyOfCommand(context.command) === "destructive" ? "destructive" : "unknown", context);
}

/** `$ COMMAND`, and a reason; or a command, a description and nothing else below a heading. */
function contextOfDialog(text: string): CommandContext {
  const command = /^\s*\$ (\S[^]*?)(?:\n\s*\n|$(?![^]))/m.exec(text)?.[1];
  if (command !== undefined) return { command, description: /^\s*Reason: (.+)$/m.exec(text)?.[1] };
  const lines = text.split("\n").flatMap((line) => (line.trim() === "" || TIP.test(line) ? [] : [line.trim()]));
  if (lines[0] !== "Bash command") return {};
  const [one, other] = lines.slice(1, -1);
  if (one === undefined || lines.length > 4) return {};
  if (other === undefined) return { command: one };
  if (PROSE.test(one) === PROSE.test(other)) return {};
  return PROSE.test(one) ? { command: other, description: one } : { command: one, description: other };
}

const TIP = /^\s*Tip: /;
/** A sentence rather than a command. */
const PROSE = /^\p{Lu}[^$|&;<>`\\/=]* [^$|&;<>`\\/=]*$/u;

function withContext(safety: Safety, { command, description }: CommandContext): Risk {
  if (command === undefined && description === undefined) return { safety };
  const [told, why] = [command, description].map((text) => (text === undefined ? text : clip(text, MAX_TEXT_CHARS)));
  return { safety, command_context: { command: told, description: why } };
}

/** One that comes as words, too. */
function commandOf(input: unknown): string | undefined {
  const command = fieldsOf(input)?.["command"];
  return Array.isArray(command) ? command.map((word) => textOf(word) ?? "").join(" ") : textOf(command);
}

/** Keeps the tool's own input: it may hold several questions and descriptions, of which the screen shows one. */
function toolInputWith(
  text: string,
  options: readonly QuestionOption[],
  own: ToolInput | undefined,
  risk: Risk | undefined,
): ToolInput {
  if (own !== undefined && own["source"] === undefined) return own;
  const shown = options.map(({ label, number }) => ({ label, description: "", number: number ?? null }));
  const questions = [{ question: text, options: shown }];
  return {
    questions,
    ...planOf({ plan: own?.["plan_content"] }),
    source: "permission_pane_capture",
    ...risk,
    status: "pending",
  };
}

function planOf(input: unknown): { readonly plan_content?: string } {
  const plan = textOf(fieldsOf(input)?.["plan"]);
  return plan === undefined || plan === "" ? {} : { plan_content: clip(plan, MAX_EVENT_TEXT_CHARS) };
}

interface ToolQuestion {
  readonly text: string;
  readonly isMulti: boolean;
  readonly options: readonly QuestionOption[];
}

function questionsOf(input: unknown): readonly ToolQuestion[] {
  const questions = fieldsOf(input)?.["questions"];
  if (!Array.isArray(questions)) return [];
  return questions.flatMap((value: unknown) => {
    const question = fieldsOf(value);
    const options = question?.["options"];
    if (question === undefined || !Array.isArray(options) || options.length === 0) return [];
    return [
      {
        text: textOf(question["question"]) ?? "",
        isMulti: question["multiSelect"] === true,
        options: options.slice(0, MAX_OPTIONS).map((option: unknown, index) => ({
          index,
          number: undefined,
          label: clip(textOf(fieldsOf(option)?.["label"]) ?? textOf(option) ?? "", MAX_SUMMARY_CHARS),
          keys: [],
        })),
      },
    ];
  });
}

/** `Bash: ls -la`: the tool and the part of its input that matters for the decision. */
function permissionText(tool: string | undefined, input: unknown, isMessage: boolean): string {
  if (tool === undefined) return "Awaiting input";
  const fields = fieldsOf(input);
  const telling = ["command", "file_path", "notebook_path", "path", "url", "query", "pattern", "description"]
    .map((name) => textOf(fields?.[name]))
    .find((text) => text !== undefined && text.trim() !== "");
  if (telling === undefined) return clip(isMessage ? tool : `Permission needed: ${tool}`, MAX_SUMMARY_CHARS);
  return clip(`${tool}: ${telling.replaceAll(/\s+/g, " ").trim()}`, MAX_SUMMARY_CHARS);
}
