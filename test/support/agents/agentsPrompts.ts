/** Prompts of all lengths, submitted one after the other to one program: what the program got, and how long it took. */
import type { PaneReadiness } from "../../../daemon/readiness/readiness.ts";
import { AppError } from "../../../protocol/errors.ts";
import { AGENT_PROFILES, type AgentName, guestAgent, unixMs } from "./agentPrograms.ts";
import { engines, untilState } from "./agentsEngines.ts";
import { spread } from "../daemon/loadReport.ts";

const WORDS = "rename the größe of $(x); 'quoted' #{pane} 漢字 -flag 100% `tick` a/b.ts".split(" ");

const words = (seed: number, length: number): string => {
  let text = `${seed}:`;
  for (let at = seed; text.length < length; at += 7) text += ` ${WORDS[at % WORDS.length]}`;
  return text.slice(0, length).trimEnd();
};
const lines = (seed: number, count: number): string =>
  Array.from({ length: count }, (_unused, at) => `${"  ".repeat(at % 3)}${words(seed + at * 13, 20 + (at % 40))}`).join(
    "\n",
  );

/** Each differs from all others by its number. */
export const PROMPTS: Readonly<Record<string, (seed: number) => string>> = {
  short: (seed) => `prompt ${seed}`,
  "540 characters": (seed) => words(seed, 540),
  "7 lines": (seed) => `#${seed}\n${lines(seed, 6)}`,
  "41 lines": (seed) => `#${seed}\n${lines(seed, 40)}`,
};

interface PromptFigures {
  readonly tries: number;
  /** Submitted once, with exactly this text. */
  readonly exact: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly confirmedBy: Readonly<Record<string, number>>;
  /** From the request to the outcome. */
  readonly latency: ReturnType<typeof spread>;
  /** From the request to the first byte being written to tmux, and to its being read by the program. */
  readonly firstByteWritten: ReturnType<typeof spread>;
  readonly firstByteRead: ReturnType<typeof spread>;
  /** From the request to the program having taken the prompt. */
  readonly taken: ReturnType<typeof spread>;
  readonly enterPresses: number;
}

/** The program says in its log that it rests before all that it has drawn of its work has come here. */
async function atRest<T>(watched: PaneReadiness, submit: () => Promise<T>): Promise<T> {
  await watched.probe();
  for (;;) {
    await untilState(watched, "idle");
    try {
      return await submit();
    } catch (error) {
      // Nothing has been typed.
      if (!(error instanceof AppError && error.code === "WRONG_STATE" && error.details?.["state"] === "busy"))
        throw error;
    }
  }
}

/**
 * Submits `tries` prompts of a kind; the text of the first that is not exact is thrown in an error.
 * @param busyMs a turn of the program
 */
export async function promptRun(program: AgentName, kind: string, tries: number, busyMs = 30): Promise<PromptFigures> {
  await using agent = await guestAgent(program, { options: { busyMs } });
  const { server, pane, channel } = agent;
  using engine = engines();
  const watched = engine.readiness.watch(server, pane, { profile: AGENT_PROFILES[program] });
  const outcomes: Record<string, number> = {};
  const confirmedBy: Record<string, number> = {};
  const [latencyMs, writtenMs, readMs, takenMs]: [number[], number[], number[], number[]] = [[], [], [], []];
  let [exact, enterPresses] = [0, 0];
  for (let at = 0; at < tries; at += 1) {
    const text = PROMPTS[kind]!(at);
    const from = channel.log.length;
    let startUnixMs = 0;
    const result = await atRest(watched, () => {
      startUnixMs = unixMs();
      return engine.delivery.submit({ server, pane, text });
    });
    outcomes[result.outcome] = (outcomes[result.outcome] ?? 0) + 1;
    const by = result.confirmedBy ?? "nothing";
    confirmedBy[by] = (confirmedBy[by] ?? 0) + 1;
    enterPresses += result.enterPresses;
    latencyMs.push(result.latencyMs);
    if (result.firstByteMs !== undefined) writtenMs.push(result.firstByteMs);
    const read = channel.log.slice(from).find(({ event }) => event === "read");
    if (read !== undefined) readMs.push(read.atUnixMs - startUnixMs);
    if (result.outcome === "not_echoed") continue;
    const taken = await channel.next("submit", from);
    takenMs.push(taken.atUnixMs - startUnixMs);
    await channel.next((entry) => entry.state === "idle", from);
    const submits = channel.submits(from);
    if (submits.length === 1 && submits[0] === text) exact += 1;
    else throw new Error(`not exact, try ${at}: ${JSON.stringify({ text, submits, result })}`);
  }
  if (engine.errors.length > 0) throw new AggregateError(engine.errors, "the engines reported errors");
  const [latency, firstByteWritten, firstByteRead, taken] = [latencyMs, writtenMs, readMs, takenMs].map(spread);
  if (latency === undefined || firstByteWritten === undefined) throw new Error("no figures");
  if (firstByteRead === undefined || taken === undefined) throw new Error("no figures");
  const times = { latency, firstByteWritten, firstByteRead, taken };
  // A prompt that the program took twice would have come as another submit by now.
  return {
    tries,
    exact: channel.submits().length === exact ? exact : -1,
    outcomes,
    confirmedBy,
    ...times,
    enterPresses,
  };
}
