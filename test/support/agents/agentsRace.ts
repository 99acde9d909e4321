/**
 * A question that opens at a random moment while a prompt is being submitted: before the paste, between paste and Enter,
 * at Enter. Whatever becomes of the prompt, nothing of it may answer the question.
 */
import { AppError } from "../../../protocol/errors.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { AGENT_PROFILES, type AgentEntry, type AgentName, guestAgent, unixMs } from "./agentPrograms.ts";
import { engines, untilState } from "./agentsEngines.ts";
import { spread } from "../daemon/loadReport.ts";

/** Texts that would answer a question if they reached it as keys. */
export const RACE_TEXTS = [
  "1",
  "y",
  "yes",
  "2",
  "Yes",
  "1. Yes",
  "Yes, and don't ask again",
  "y\ny\ny",
  "1\n2\n3",
  "\n1",
  "no: use option 2 instead, then 1",
  "Allow once",
  "p",
  "fix the 3 tests\nthen run them",
];
/** From the request on; Enter follows after about 70 ms. */
export const LATEST_MS = 130;

export interface RaceFigures {
  readonly tries: number;
  /** The tool ran without anybody having approved it: what must never happen. */
  readonly accidents: number;
  /** Keys of ours that reached an open dialog, by key. */
  readonly strayKeys: Readonly<Record<string, number>>;
  /** Of those, how long after the question had opened we wrote Enter; below 0: it was on its way already. */
  readonly writtenAfterMs: readonly number[];
  /** When the question opened: relative to what the program had read by then. */
  readonly opened: Readonly<Record<Moment, number>>;
  /** What the caller was told, by that moment. */
  readonly told: Readonly<Record<string, number>>;
  /** Told that it was taken, but not in the log exactly once, or the reverse; where no Enter of ours answered. */
  readonly mistold: readonly string[];
  /** From the request to the paste being written, where it was. */
  readonly firstByteWritten: ReturnType<typeof spread>;
}

export type Moment = "beforePaste" | "beforeEnter" | "afterEnter" | "never";

export interface RaceOptions {
  readonly program: AgentName;
  readonly tries: number;
  readonly random: () => number;
  /** The program is at work and queues prompts: questions usually open then. */
  readonly whileBusy?: boolean;
  /** The program keeps questions back while the box has text that changed less than this long ago. */
  readonly holdAskMs?: number;
}

export async function dialogRace(options: RaceOptions): Promise<RaceFigures> {
  const { program, tries, random, whileBusy = false, holdAskMs = 0 } = options;
  await using agent = await guestAgent(program, { options: { busyMs: 0, holdAskMs } });
  const { server, pane, channel } = agent;
  using engine = engines();
  const watched = engine.readiness.watch(server, pane, { profile: AGENT_PROFILES[program] });
  const opened = { beforePaste: 0, beforeEnter: 0, afterEnter: 0, never: 0 };
  const told: Record<string, number> = {};
  const strayKeys: Record<string, number> = {};
  const writtenAfterMs: number[] = [];
  const firstByteMs: number[] = [];
  const mistold: string[] = [];
  let accidents = 0;
  for (let at = 0; at < tries; at += 1) {
    await channel.tell("reset");
    if (whileBusy) await channel.tell("busy");
    await untilState(watched, whileBusy ? "busy" : "idle");
    const from = channel.log.length;
    const text = `${RACE_TEXTS[Math.floor(random() * RACE_TEXTS.length)]!}${random() < 0.5 ? "" : ` #${at}`}`;
    const request = { server, pane, text, whileBusy: whileBusy ? "queue" : "refuse", timeoutMs: 3_000 } as const;
    const asked = new Promise<AgentEntry>((resolve, reject) => {
      systemClock.callAt(systemClock.nowMs() + random() * LATEST_MS, () => {
        channel.tell("ask", { kind: "permission" }).then(resolve, reject);
      });
    });
    const startUnixMs = unixMs();
    let enterUnixMs = NaN;
    const submitted = engine.delivery.submit(request).then((result) => {
      if (result.firstByteMs !== undefined) firstByteMs.push(result.firstByteMs);
      if (result.enterMs !== undefined) enterUnixMs = startUnixMs + result.enterMs;
      return result.outcome;
    }, codeOf);
    const [outcome] = await Promise.all([submitted, asked]);
    // Everything the program was sent has been read when this has come back.
    await channel.tell("say", { text: "~" });
    // It stays open until the reset; the next try must not be refused for this one.
    const log = channel.log.slice(from);
    if (!log.some(({ event }) => event === "answer")) await untilState(watched, "asking");
    const dialog = log.findIndex(({ event }) => event === "dialog");
    const moment = momentOf(log, dialog);
    opened[moment] += 1;
    const name = `${moment}: ${outcome}`;
    told[name] = (told[name] ?? 0) + 1;
    for (const { event, key } of log) {
      if (event === "tool") accidents += 1;
      if (event !== "key") continue;
      strayKeys[String(key)] = (strayKeys[String(key)] ?? 0) + 1;
      writtenAfterMs.push(Math.round((enterUnixMs - log[dialog]!.atUnixMs) * 10) / 10);
    }
    const taken = log.filter(({ event }) => event === "submit" || event === "queued").map(({ text: got }) => got);
    // An Enter that answered makes the program work, and that is all anybody can see.
    if (log.some(({ event }) => event === "key")) continue;
    const isReported = outcome === "submitted" || outcome === "queued";
    if (isReported !== (taken.length === 1 && taken[0] === text) && !UNSURE.has(outcome)) {
      mistold.push(`try ${at}, ${moment}: ${outcome}, text ${JSON.stringify(text)}, taken ${JSON.stringify(taken)}`);
    }
  }
  if (engine.errors.length > 0) throw new AggregateError(engine.errors, "the engines reported errors");
  return { tries, accidents, strayKeys, writtenAfterMs, opened, told, mistold, firstByteWritten: spread(firstByteMs) };
}

/** These say that nobody knows. */
const UNSURE = new Set(["echoed_unconfirmed", "indeterminate"]);

const codeOf = (error: unknown): string => {
  if (error instanceof AppError) return error.code;
  throw error;
};

export function momentOf(log: readonly AgentEntry[], dialog: number): Moment {
  if (dialog < 0) return "never";
  const paste = log.findIndex(({ event }) => event === "read");
  const enter = log.findIndex(({ event, text }) => event === "read" && text === "\r");
  if (enter >= 0 && enter < dialog) return "afterEnter";
  return paste >= 0 && paste < dialog ? "beforeEnter" : "beforePaste";
}
