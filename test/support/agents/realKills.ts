/**
 * A real agent program that ends at a random moment after a prompt or an answer for it has been asked for, in every way in
 * which one ends; with and without its profile named, in a pane that is watched and in one that nobody has looked at.
 * Whatever was meant for it must not run in the shell below or reach the program that comes next, and what is reported must
 * be so: the log of the fake model is the truth.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { SubmitResult } from "../../../daemon/delivery/delivery.ts";
import type { Dialog } from "../../../daemon/readiness/readiness.ts";
import { eventually } from "../clock/eventually.ts";
import { engines } from "./agentsEngines.ts";
import {
  type Asked,
  foregroundGroup,
  REAL_AGENTS,
  type RealAgentName,
  type RealProgram,
  realWorld,
  type RealWorld,
  until,
} from "./realAgents.ts";
import { told, trace } from "./realTold.ts";

const WAYS = ["kill", "stopAndKill", "term", "ctrlC", "exit", "respawn"] as const;
type Way = (typeof WAYS)[number];
/** A person's keys: what they do depends on what stands in the box by then, so that the program may go on. */
const TYPED: ReadonlySet<Way> = new Set(["ctrlC", "exit"]);

interface KillTry {
  readonly way: Way;
  readonly what: "submit" | "option" | "other";
  /** The request named the profile. */
  readonly isNamed: boolean;
  /** Somebody watched the pane before. */
  readonly isWatched: boolean;
  /** Since the request. */
  readonly killedMs: number;
  readonly endedMs: number;
  readonly outcome: string;
  readonly details: unknown;
  /** The text ran as a command. */
  readonly ran: boolean;
  /** It was gone, or still there, when whatever had to happen had happened. */
  readonly hasEnded: boolean;
  /** Lines that the shell read after the program: keys that were on their way count. */
  readonly lines: number;
  /** Bytes that the program got that came next. */
  readonly bytes: string;
  /** The text, or the key that chooses, stands in the shell's line. */
  readonly isLeft: boolean;
  /** What stands in the shell's line. */
  readonly line: string;
  /** The last of it was written before the program was told to end: nobody can call it back. */
  readonly isOnItsWay: boolean;
  readonly arrived: number;
  readonly wrong: string | undefined;
}

/** From the request to the end of the delivery, on a machine at rest. */
const LATEST_MS = 300;
/** Between two keys that a person presses. */
const KEYS_APART_MS = 60;
/** One that a person tells to end has ended within this, or goes on. */
const ENDS_WITHIN_MS = 4_000;
/** What a program did before it ended is drawn and looked at within this. */
const LAST_WORD_MS = 60;
/** A request to the model and its response, on a loaded machine. */
const ASKS_WITHIN_MS = 30_000;
/** What was on its way has come. */
const SETTLED_MS = 700;

export async function realKills(name: RealAgentName, kills: number, random: () => number): Promise<readonly KillTry[]> {
  await using world = await realWorld(name);
  const tries: KillTry[] = [];
  for (let at = 0; at < kills; at += 1) {
    const entry = await killOnce(world, at, random).catch((error: unknown) => {
      if (!(error instanceof NotReady)) throw error;
      process.stderr.write(`\n${name} kill ${at} was not begun: ${String(error.cause)}\n`);
    });
    if (entry === undefined) continue;
    tries.push(entry);
    trace(name, entry);
    if (entry.wrong !== undefined) {
      process.stderr.write(`\n${name} kill ${at}: ${JSON.stringify(entry)}\n${world.screen()}\n`);
    }
  }
  return tries;
}

/** The program did not come to where it could be ended in the middle of something. */
class NotReady extends Error {}

async function killOnce(world: RealWorld, at: number, random: () => number): Promise<KillTry> {
  const { server, pane, directory, socket, profile } = world;
  const way = WAYS[at % WAYS.length]!;
  const round = Math.floor(at / WAYS.length);
  const canary = join(directory, `canary-${at}`);
  const got = join(directory, `got-${at}`);
  const { asks, took, quit }: RealProgram = REAL_AGENTS[world.name];
  const isAnswer = asks !== undefined && round % 4 === 3;
  const isNamed = !isAnswer && (at + round) % 2 === 0;
  const isWatched = Math.floor(round / 2) % 2 === 0;
  const text = `touch ${canary}`;
  const tool = join(directory, `tool-${at}`);
  const dialog = await begun(world, isAnswer ? `${asks} touch ${tool}` : undefined).catch((cause: unknown) => {
    throw new NotReady("not ready", { cause });
  });
  // Engines of their own know nothing of the pane.
  using unaware = engines();
  const { delivery } = isWatched ? world.engine : unaware;
  let what: KillTry["what"] = "submit";
  let deliver = (): Promise<SubmitResult> => delivery.submit({ server, pane, text, ...(isNamed ? { profile } : {}) });
  if (isAnswer) {
    what = dialog?.otherIndex !== undefined && random() < 0.5 ? "other" : "option";
    const answer = what === "other" ? ({ kind: "other", text } as const) : ({ kind: "option", index: 0 } as const);
    deliver = () => delivery.choose({ server, pane, answer, ...(isWatched ? { dialogId: dialog?.id } : {}) });
  }
  const group = foregroundGroup(socket, pane);
  if (group === undefined) throw new Error(`${world.name} is no job of bash`);
  const promptsBefore = world.prompts();
  const startMs = performance.now();
  const sinceMs = (): number => performance.now() - startMs;
  const killAtMs = random() * LATEST_MS;
  const killed = delay(killAtMs).then(async () => {
    const atMs = sinceMs();
    await end(world, way, group, got, quit);
    return { atMs, doneMs: sinceMs() };
  });
  const { outcome, details } = await told(deliver());
  const endedMs = Math.round(sinceMs());
  const writtenMs = world.writtenMs() - startMs;
  const { atMs: killedMs, doneMs } = await killed;
  // Told to end, it may stay in front for seconds yet: what it does not read the shell does after it.
  const isBehind = (): boolean => foregroundGroup(socket, pane) === undefined;
  const latestMs = TYPED.has(way) ? Date.now() + ENDS_WITHIN_MS : Infinity;
  if (way !== "respawn") await eventually(() => isBehind() || Date.now() > latestMs, 20);
  await delay(SETTLED_MS);
  const hasEnded = way === "respawn" || isBehind();
  const lines = way === "respawn" || !hasEnded ? 0 : Math.max(0, world.prompts() - promptsBefore - 1);
  const bytes = existsSync(got) ? readFileSync(got, "latin1") : "";
  const line = way === "respawn" || !hasEnded ? "" : lineOfShell(world);
  const isLeft = line.includes(canary.slice(-12)) || (what === "option" && line !== "");
  const asked = world.asked();
  // A person who types into the box while our text is there has made another prompt of it.
  const isOurs = ({ text: prompt }: Asked): boolean =>
    prompt.includes(canary) && !(way === "exit" && prompt.includes(quit));
  const arrived =
    what === "submit"
      ? asked.filter((entry) => !entry.afterTool && isOurs(entry)).length
      : asked.filter((entry) => (entry.afterTool && entry.text.includes(tool)) || isOurs(entry)).length;
  const ran = existsSync(canary);
  const toolRan = existsSync(tool) || (what !== "submit" && took?.test(world.screen()) === true);
  const isRefused = outcome.startsWith("WRONG_STATE");
  const isOnItsWay = writtenMs <= doneMs;
  // Nothing tells of keys that a program has read and not come to: a text may be left then, never run. At a question they
  // answer it as ours do.
  const isPersons = TYPED.has(way);
  const isLost = lines > 0 || bytes !== "" || (isLeft && !isPersons);
  const wrong =
    ran || (isLost && !isOnItsWay)
      ? "it reached something else"
      : arrived > 1
        ? "twice"
        : isRefused && (arrived > 0 || toolRan) && !isPersons
          ? "refused, and taken"
          : outcome === "submitted" && arrived === 0 && !toolRan && killedMs + LAST_WORD_MS < endedMs
            ? isPersons && what !== "submit"
              ? undefined
              : "submitted to nobody"
            : undefined;
  rmSync(canary, { force: true });
  return {
    way,
    what,
    isNamed,
    isWatched,
    killedMs: Math.round(killedMs),
    endedMs,
    outcome,
    details,
    ran,
    hasEnded,
    lines,
    bytes,
    isLeft,
    line,
    isOnItsWay,
    arrived,
    wrong,
  };
}

/** The program takes a prompt; or asks, after this one. */
async function begun(world: RealWorld, prompt: string | undefined): Promise<Dialog | undefined> {
  const { engine, server, pane } = world;
  await world.start();
  await world.settled();
  if (prompt === undefined) return undefined;
  await engine.delivery.submit({ server, pane, text: prompt });
  return (await until(world, "asking", ASKS_WITHIN_MS)).dialog;
}

const PROMPT = "tw$";

/** What stands in the shell's line, up to the cursor. */
export function lineOfShell(world: RealWorld): string {
  const { socket, pane } = world;
  const at = socket.tmux("display-message", "-p", "-t", pane, "#{cursor_x} #{cursor_y}").trim().split(" ");
  const [col, row] = at.map(Number);
  const line = world.screen().split("\n")[row!] ?? "";
  // The shell shows its prompt wherever the program has left the cursor.
  return (line.slice(0, col).split(PROMPT).at(-1) ?? "").trim();
}

async function end({ socket, pane }: RealWorld, way: Way, group: number, got: string, quit: string): Promise<void> {
  const press = (...keys: readonly string[]): void => void socket.tmux("send-keys", "-t", pane, ...keys);
  switch (way) {
    case "kill":
      process.kill(-group, "SIGKILL");
      return;
    case "stopAndKill":
      process.kill(-group, "SIGSTOP");
      await delay(80);
      process.kill(-group, "SIGKILL");
      return;
    case "term":
      process.kill(-group, "SIGTERM");
      return;
    case "ctrlC":
      press("C-c");
      await delay(KEYS_APART_MS);
      press("C-c");
      return;
    case "exit":
      press("-l", quit);
      await delay(KEYS_APART_MS);
      press("Enter");
      return;
    case "respawn":
      socket.tmux("respawn-pane", "-k", "-t", pane, `stty raw -echo; exec cat >${got}`);
  }
}
