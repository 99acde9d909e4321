/** Prompts to the real agent programs: what was reported of each, and what the model got. */
import { setTimeout as delay } from "node:timers/promises";
import { type UserClient, userClient } from "../tmux/guestFixture.ts";
import { type Asked, type RealAgentName, realWorld, type RealWorld } from "./realAgents.ts";
import { told, trace } from "./realTold.ts";

const KINDS = {
  oneLine: (mark: string) => `say ${mark} back`,
  sevenLines: (mark: string) => Array.from({ length: 7 }, (_, at) => `${mark} line ${at + 1} of seven`).join("\n"),
  fiveKb: (mark: string) => `${mark} ${"five thousand bytes of words ".repeat(172)}end ${mark}`,
  unicode: (mark: string) => `naïve 漢字 🙂 ünïcödé “quotes” – ${mark} ✓`,
  slash: (mark: string) => `/unknown ${mark} is no command`,
  bang: (mark: string) => `!echo ${mark}`,
  hash: (mark: string) => `# ${mark} is no note`,
  at: (mark: string) => `@${mark} is no file`,
  trailingNewline: (mark: string) => `ends with a line end ${mark}\n`,
  typing: (mark: string) => `a person types while ${mark} comes`,
  coldStart: (mark: string) => `the first ${mark} of all`,
  slowStart: (mark: string) => `${mark} while it still starts`,
  longAfterStart: (mark: string) => `${mark} long after it has started`,
} as const;
type PromptKind = keyof typeof KINDS;
/** These begin with what some program takes for more than text. */
const LITERAL: ReadonlySet<PromptKind> = new Set(["slash", "bang", "hash", "at"]);

interface PromptTry {
  readonly kind: PromptKind;
  readonly mark: string;
  readonly text: string;
  readonly outcome: string;
  readonly details: unknown;
  /** Requests with the prompt alone, and all that hold its mark. */
  exact: number;
  withMark: number;
  /** What is wrong, for the report. */
  wrong?: string | undefined;
}

/** REAL_KINDS=sevenLines,fiveKb: those alone. */
const ASKED = process.env["REAL_KINDS"]?.split(",") as PromptKind[] | undefined;

const order = (name: RealAgentName): readonly PromptKind[] => {
  if (ASKED !== undefined) return ASKED;
  const inSession: readonly PromptKind[] = [
    "oneLine",
    "sevenLines",
    "typing",
    "fiveKb",
    "unicode",
    "slash",
    "bang",
    "hash",
    "at",
    "trailingNewline",
    "typing",
  ];
  return [...(name === "pi" ? (["slowStart"] as const) : []), "coldStart", ...inSession];
};
const SLOW_START_MS = 1_500;
/** What a program does behind its first screen is over. */
const LONG_AFTER_MS = 30_000;

export async function realPrompts(
  name: RealAgentName,
  prompts: number,
  random: () => number,
): Promise<readonly PromptTry[]> {
  await using world = await realWorld(name);
  await using person = await userClient(world.socket, "agent", { cols: 120, rows: 41 });
  const tries: PromptTry[] = [];
  let startedMs = 0;
  for (let at = 0; at < prompts; at += 1) {
    const kinds = order(name);
    const kind = kinds[at % kinds.length]!;
    const mark = `M${at}x${Math.floor(random() * 1e6).toString(36)}`;
    if (kind === "slowStart") await world.start({ slowStartMs: SLOW_START_MS });
    else if (kind === "coldStart" || at === 0) await world.start();
    else await world.settled();
    if (kind === "coldStart" || kind === "slowStart" || at === 0) startedMs = Date.now();
    if (kind === "longAfterStart") await delay(Math.max(0, startedMs + LONG_AFTER_MS - Date.now()));
    const text = KINDS[kind](mark);
    const typed = kind === "typing" ? typeMeanwhile(person, random) : Promise.resolve();
    const request = { server: world.server, pane: world.pane, text, literal: LITERAL.has(kind) };
    const clearFirst = kind !== "coldStart" && kind !== "slowStart" && tries.at(-1)?.kind === "typing";
    const { outcome, details } = await told(world.engine.delivery.submit({ ...request, clearFirst }));
    await typed;
    const screen = world.screen();
    tries.push({ kind, mark, text, outcome, details, exact: 0, withMark: 0 });
    await drained(world, mark, outcome);
    const entry = judge(tries.at(-1)!, world.asked());
    trace(name, { ...entry, text: undefined });
    if (entry.wrong !== undefined) {
      process.stderr.write(
        `\n${name} ${kind} ${mark}: ${entry.wrong}\n${JSON.stringify(details)}\n${screen}\n--- later\n${world.screen()}\n`,
      );
    }
  }
  const asked = world.asked();
  return tries.map((entry) => judge(entry, asked));
}

/** Some letters at the pace of a person, beginning at a random moment of a submit. */
async function typeMeanwhile(person: UserClient, random: () => number): Promise<void> {
  await delay(random() * 150);
  const letters = 1 + Math.floor(random() * 5);
  for (let at = 0; at < letters; at += 1) {
    person.type("qxz"[at % 3]!);
    await delay(15 + random() * 60);
  }
}

const MAY_ARRIVE = new Set(["submitted", "queued", "echoed_unconfirmed", "indeterminate"]);

/** Until the model has it, or for as long as it may take. */
async function drained(world: RealWorld, mark: string, outcome: string): Promise<void> {
  const endMs = Date.now() + (outcome === "submitted" || outcome === "queued" ? 8_000 : 1_500);
  while (MAY_ARRIVE.has(outcome) && Date.now() < endMs && !world.asked().some(({ text }) => text.includes(mark))) {
    await delay(20);
  }
}

/** As the model gets it: Claude Code wraps long pastes, programs take blanks off the ends, `literal` puts one before. */
export const plain = (text: string): string =>
  text
    .replace(/^\s*<pasted_content\b[^>]*>\n?([\s\S]*?)\n?<\/pasted_content\b[^>]*>\s*$/u, "$1")
    .replaceAll("\u200b", "")
    .trim();

const shortly = (asked: readonly Asked[]): string => JSON.stringify(asked.map(({ text }) => text.slice(-300)));

function judge(entry: PromptTry, asked: readonly Asked[]): PromptTry {
  const own = asked.filter(({ text, afterTool }) => !afterTool && text.includes(entry.mark));
  const exact = own.filter(({ text }) => plain(text) === plain(entry.text)).length;
  const wrong =
    entry.outcome === "submitted" && (exact !== 1 || own.length !== 1)
      ? `submitted, but the model got it ${exact} times of ${own.length}: ${shortly(own)}`
      : own.length > 0 && !MAY_ARRIVE.has(entry.outcome)
        ? `${entry.outcome}, but the model got ${shortly(own)}`
        : own.length > 1
          ? `${entry.outcome}, and the model got it ${own.length} times`
          : undefined;
  return Object.assign(entry, { exact, withMark: own.length, wrong });
}
