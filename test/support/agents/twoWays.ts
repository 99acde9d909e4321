/**
 * The same prompts to a real agent program both ways: as scripts type them (`tmux send-keys -l TEXT`, a pause, `tmux
 * send-keys Enter`), and through a daemon. The log of the kit's fake model is the truth about what arrived.
 */
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { TmuxwireClient } from "../../../adapters/client/client.ts";
import { TmuxwireError } from "../../../adapters/client/clientHttp.ts";
import { foregroundGroup, REAL_AGENTS, type RealProgram, type RealWorld, until } from "./realAgents.ts";
import { lineOfShell } from "./realKills.ts";
import { plain } from "./realPrompts.ts";
import { trace } from "./realTold.ts";

export const JOBS = ["idle", "lines", "busy", "asking", "starting", "killed"] as const;
export type Job = (typeof JOBS)[number];
export const WAYS = ["sendKeys", "tmuxwire"] as const;
type Way = (typeof WAYS)[number];

/**
 * `once`: the model got exactly this text, once. `changed`: it got other text with it, or a part. `inBox`: the text stands on the
 * screen and was not sent. `inShell`: it stands in the shell's line. `executed`: the shell ran it. `approved`: it answered
 * the question, and the tool ran.
 */
type Found = "once" | "twice" | "changed" | "inBox" | "inShell" | "executed" | "approved" | "none";

export interface JobTry {
  readonly job: Job;
  readonly way: Way;
  readonly found: Found;
  /** The daemon's outcome, or the code and reason of its refusal. */
  readonly told?: string | undefined;
  /** From the request to the model's. */
  readonly arrivedMs?: number | undefined;
  /** It reached the model while the turn before was under way. */
  readonly isIntoTurn?: boolean | undefined;
}

interface Daemon {
  readonly client: TmuxwireClient;
  readonly server: string;
}

/** What scripts wait between the text and Enter, each as often. */
const PAUSES_MS = [500, 1_000];
const BUSY_SEC = 3;
/** A turn has begun, and the person who reads it has thought of more. */
const INTO_TURN_MS = 700;
const ASKS_WITHIN_MS = 30_000;
/** A model request that comes at all has come, once the program takes a prompt again. */
const ARRIVES_WITHIN_MS = 4_000;
const SETTLED_MS = 700;
/** Programs draw their box within this after their start, on this machine. */
const STARTING_MS = 1_500;
/** When the program ends, from the request on: before it, between text and Enter, or after. */
const KILLED_FROM_MS = -100;
const KILLED_TO_MS = 300;

/** `undefined`: the program cannot be brought there, or was not. */
export async function doJob(
  world: RealWorld,
  daemon: Daemon,
  { job, way, round, random }: { job: Job; way: Way; round: number; random: () => number },
): Promise<JobTry | undefined> {
  const { directory, name, socket, pane } = world;
  const { asks }: RealProgram = REAL_AGENTS[name];
  if (job === "asking" && asks === undefined) return undefined;
  const mark = `${job}${way === "sendKeys" ? "K" : "D"}${round}x${Math.floor(random() * 1e6).toString(36)}`;
  const canary = join(directory, `canary-${mark}`);
  const tool = join(directory, `tool-${mark}`);
  const text = textOf(job, mark, canary);
  const pauseMs = PAUSES_MS[round % PAUSES_MS.length]!;
  const deliver = (): Promise<string | undefined> =>
    way === "sendKeys" ? sendKeys(world, text, pauseMs) : submitted(world, daemon, job, text);
  let isIntoTurn: boolean | undefined;
  const startOf = async (): Promise<{ startMs: number; told: string | undefined }> => {
    const startMs = Date.now();
    return { startMs, told: await deliver() };
  };
  let result: { startMs: number; told: string | undefined };
  let turnEndsMs = 0;
  switch (job) {
    case "idle":
    case "lines":
      result = await startOf();
      break;
    case "busy":
      await world.engine.delivery.submit({ server: world.server, pane, text: `slow ${BUSY_SEC} words` });
      await until(world, "busy", ASKS_WITHIN_MS);
      turnEndsMs = (world.asked().at(-1)?.t ?? Date.now()) + BUSY_SEC * 1_000;
      await delay(INTO_TURN_MS);
      result = await startOf();
      break;
    case "asking":
      await world.engine.delivery.submit({ server: world.server, pane, text: `${asks} touch ${tool}` });
      await until(world, "asking", ASKS_WITHIN_MS);
      result = await startOf();
      break;
    case "starting":
      await world.shell();
      await world.launch();
      await within(() => foregroundGroup(socket, pane) !== undefined);
      await delay(random() * STARTING_MS);
      result = await startOf();
      break;
    case "killed": {
      const group = foregroundGroup(socket, pane);
      if (group === undefined) return undefined;
      const killAtMs = KILLED_FROM_MS + random() * (KILLED_TO_MS - KILLED_FROM_MS);
      const kill = (): void => void process.kill(-group, round % 4 < 2 ? "SIGKILL" : "SIGTERM");
      if (killAtMs < 0) {
        kill();
        await delay(-killAtMs);
        result = await startOf();
      } else {
        const killed = delay(killAtMs).then(kill);
        result = await startOf();
        await killed;
      }
      await within(() => foregroundGroup(socket, pane) === undefined);
    }
  }
  const { startMs, told } = result;
  const isRefused = told?.startsWith("WRONG_STATE") === true;
  const arrivals = () =>
    world.asked().filter(({ text: got, afterTool }) => !afterTool && got.includes(mark) && !got.includes(tool));
  if (job === "starting") await world.settled();
  if (!isRefused && job !== "killed") {
    await within(
      () => arrivals().length > 0 && Date.now() > turnEndsMs,
      Math.max(turnEndsMs - Date.now(), 0) + ARRIVES_WITHIN_MS,
    );
  }
  await delay(SETTLED_MS);
  const got = arrivals();
  const exact = got.filter((each) => plain(each.text) === plain(text)).length;
  const screen = world.screen();
  const isShell = foregroundGroup(socket, pane) === undefined;
  const found: Found = existsSync(canary)
    ? "executed"
    : existsSync(tool)
      ? "approved"
      : exact > 1
        ? "twice"
        : got.length > 0
          ? exact === 1 && got.length === 1
            ? "once"
            : "changed"
          : isShell
            ? lineOfShell(world).includes(mark.slice(-8))
              ? "inShell"
              : "none"
            : screen.includes(text.split("\n")[0]!)
              ? "inBox"
              : "none";
  const arrived = got.at(-1)?.t;
  if (job === "busy" && arrived !== undefined) isIntoTurn = arrived < turnEndsMs;
  rmSync(canary, { force: true });
  rmSync(tool, { force: true });
  const entry: JobTry = {
    job,
    way,
    found,
    told,
    arrivedMs: arrived === undefined ? undefined : arrived - startMs,
    isIntoTurn,
  };
  trace(name, {
    ...entry,
    pauseMs,
    got: got.map((each) => each.text.slice(-200)),
    screen: found === "once" ? undefined : screen,
  });
  return entry;
}

function textOf(job: Job, mark: string, canary: string): string {
  if (job === "killed") return `touch ${canary}`;
  if (job !== "lines") return `say ${mark} back, all of it`;
  return Array.from({ length: 7 }, (_, at) => `${mark} line ${at + 1} of seven`).join("\n");
}

/** As scripts and other tools do it. */
async function sendKeys({ socket, pane }: RealWorld, text: string, pauseMs: number): Promise<undefined> {
  const keys = (...words: readonly string[]): void =>
    void spawnSync("tmux", ["-S", socket.socketPath, "send-keys", "-t", pane, ...words]);
  keys("-l", "--", text);
  await delay(pauseMs);
  keys("Enter");
}

/** While it is busy as a message that waits, else at once. */
async function submitted(
  { profile, pane }: RealWorld,
  { client, server }: Daemon,
  job: Job,
  text: string,
): Promise<string> {
  try {
    if (job !== "busy")
      return (await client.server(server).pane(pane).submit(text, { profile, timeoutMs: 60_000 })).outcome;
    const agent = (await client.agents({ server })).find((each) => each.agent === profile && each.pane === pane);
    return (await client.tell(agent!.id, text, { wait: "taken", timeoutMs: 60_000 })).outcome;
  } catch (error) {
    if (!(error instanceof TmuxwireError)) throw error;
    const reason = error.details?.["reason"] ?? error.details?.["state"];
    return typeof reason === "string" ? `${error.code}:${reason}` : error.code;
  }
}

async function within(holds: () => boolean, ms = 20_000): Promise<void> {
  const endMs = Date.now() + ms;
  while (!holds() && Date.now() < endMs) await delay(20);
}
