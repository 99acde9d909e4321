/** A person types into a program's prompt box while prompts are being submitted to it: what became of both. */
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../../../protocol/errors.ts";
import { AGENT_PROFILES, type AgentName, guestAgent } from "./agentPrograms.ts";
import { engines, untilState } from "./agentsEngines.ts";

interface TypingFigures {
  readonly prompts: number;
  readonly typed: number;
  /** Prompts found whole, in one piece and once, in what the program took. */
  readonly whole: number;
  /** What is left of what the program took when the prompts are cut out: the person's letters, in their order. */
  readonly isPersonWhole: boolean;
  /** Enters of ours that came in one read with a letter of the person: such a program takes them for a line end. */
  readonly enterAsText: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Where something is missing: what the program took, for the report. */
  readonly taken: readonly string[] | undefined;
}

interface TypingOptions {
  readonly program: AgentName;
  readonly prompts: number;
  readonly random: () => number;
  /** Between two keys of the person, at random up to twice this. */
  readonly pauseMs: number;
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** pi takes the blanks off a prompt's ends, wherever in their words the person was. */
const TRIMS: ReadonlySet<AgentName> = new Set(["piLike"]);

export async function typingRun({ program, prompts, random, pauseMs }: TypingOptions): Promise<TypingFigures> {
  await using agent = await guestAgent(program, { options: { busyMs: 20 } });
  const { server, pane, channel, person } = agent;
  using engine = engines();
  const watched = engine.readiness.watch(server, pane, { profile: AGENT_PROFILES[program] });
  await untilState(watched, "idle");
  const outcomes: Record<string, number> = {};
  const letters = TRIMS.has(program) ? LETTERS : `${LETTERS} `;
  let typed = "";
  const over = new AbortController();
  const typing = (async () => {
    while (!over.signal.aborted) {
      const letter = letters[typed.length % letters.length]!;
      person.type(letter);
      typed += letter;
      // How fast a person types is part of the input.
      await delay(random() * 2 * pauseMs);
    }
  })();
  const texts: string[] = [];
  for (let at = 0; at < prompts; at += 1) {
    const text = `[PROMPT ${at}: ${"WORD ".repeat(1 + (at % 20))}${at % 5 === 4 ? "\nLINE TWO" : ""}]`;
    await untilState(watched, "idle");
    let isWritten = true;
    const outcome = await engine.delivery.submit({ server, pane, text }).then(
      (result) => result.outcome,
      (error: unknown) => {
        if (!(error instanceof AppError)) throw error;
        isWritten = error.details?.["textWritten"] === true;
        return error.code;
      },
    );
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    // What was refused at once was never typed; everything else has to be somewhere.
    if (isWritten) texts.push(text);
  }
  over.abort();
  await typing;
  await untilState(watched, "idle");
  // The person ends with a word of their own and Enter, so that the box is empty and all has been taken.
  const from = channel.log.length;
  person.type("THE END");
  await channel.next((entry) => entry.event === "read" && entry.text?.includes("END") === true, from);
  await delay(100);
  person.type("\r");
  await channel.next((entry) => entry.event === "submit" && entry.text?.endsWith("THE END") === true, from);
  const taken = channel.submits();
  let left = taken.join("");
  let whole = 0;
  for (const text of texts) {
    const [before, ...after] = left.split(text);
    if (after.length !== 1) continue;
    whole += 1;
    left = `${before}${after[0]}`;
  }
  const enterAsText = left.split("\n").length - 1;
  const isPersonWhole = left.replaceAll("\n", "") === `${typed}THE END`;
  const isRight = isPersonWhole && whole === texts.length;
  return {
    prompts: texts.length,
    typed: typed.length,
    whole,
    isPersonWhole,
    enterAsText,
    outcomes,
    taken: isRight ? undefined : taken,
  };
}
