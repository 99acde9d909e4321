/**
 * The agent programs themselves, offline: as a job of bash in a user's tmux, against the kit's fake model, whose log is the
 * truth about what arrived. AGENT_KIT (the kit's folder) and TUI_INST (the programs' folder) come from the environment.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startGuestServer } from "../tmux/guestEngine.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneReadiness, Readiness } from "../../../daemon/readiness/readiness.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { bracketedPasteOf } from "../../../daemon/delivery/pane/bracketedPaste.ts";
import { type Engines, engines } from "./agentsEngines.ts";
import { removed } from "../removed.ts";
import { eventually } from "../clock/eventually.ts";
import { privateSocket, type PrivateSocket } from "../tmux/ownedFixture.ts";

export interface RealProgram {
  readonly profile: string;
  /** The kit's recipe or ours, and the folder below TUI_INST that it runs. */
  readonly recipe: string;
  readonly folder: string;
  /** Begins a prompt for which the model asks to run a command, so that the program asks; undefined: it never does. */
  readonly asks: string | undefined;
  /** The words that a person ends it with. */
  readonly quit: string;
  /** On its last screen: it has run what it asked about, or was about to. */
  readonly took?: RegExp;
}

export const REAL_AGENTS = {
  cc: { profile: "claude", recipe: "claude", folder: "cc", asks: "tool", quit: "/exit", took: /⎿\s+Running…/ },
  ccnew: { profile: "claude", recipe: "claude", folder: "cc", asks: "tool", quit: "/exit", took: /⎿\s+Running…/ },
  ccpin: { profile: "claude", recipe: "claude", folder: "cc", asks: "tool", quit: "/exit", took: /⎿\s+Running…/ },
  codex: { profile: "codex", recipe: "codex", folder: "codex", asks: "ask", quit: "/quit" },
  gemini: { profile: "gemini", recipe: "gemini", folder: "gemini", asks: "tool", quit: "/quit" },
  opencode: { profile: "opencode", recipe: "opencode", folder: "opencode", asks: "tool", quit: "/exit" },
  pi: { profile: "pi", recipe: "pi", folder: "pi", asks: undefined, quit: "/quit" },
  pi2: { profile: "pi", recipe: "pi2", folder: "pi2", asks: undefined, quit: "/quit" },
  copilot: { profile: "copilot", recipe: "copilot", folder: "copilot", asks: "tool", quit: "/exit" },
  qwen: { profile: "qwen", recipe: "qwen", folder: "qwen", asks: "tool", quit: "/quit" },
} as const satisfies Readonly<Record<string, RealProgram>>;
export type RealAgentName = keyof typeof REAL_AGENTS;

const { AGENT_KIT: KIT, TUI_INST: INST } = process.env;

/** Those that are here and asked for (REAL_AGENTS=cc,pi); says why the others are not. */
export function realAgents(): readonly RealAgentName[] {
  const missing = (why: string): void => void process.stderr.write(`real agents: ${why}: skipped\n`);
  if (KIT === undefined || INST === undefined) {
    missing("AGENT_KIT (the kit's folder) and TUI_INST (the programs' folder) are not in the environment");
    return [];
  }
  const asked = process.env["REAL_AGENTS"]?.split(",");
  return (Object.keys(REAL_AGENTS) as RealAgentName[]).filter((name) => {
    if (asked !== undefined && !asked.includes(name)) return false;
    if (existsSync(join(INST, name))) return true;
    missing(`no ${name} in TUI_INST`);
    return false;
  });
}

/** A request for an answer, as the fake model got it. */
export interface Asked {
  readonly t: number;
  readonly text: string;
  /** It carries a tool's result. */
  readonly afterTool: boolean;
}

interface StartOptions {
  /** pi: an extension that keeps its `session_start` so long. */
  readonly slowStartMs?: number | undefined;
  /** Called with the program's home before it starts. */
  readonly prepare?: ((home: string) => Promise<void>) | undefined;
}

export interface RealWorld extends AsyncDisposable {
  readonly name: RealAgentName;
  readonly profile: string;
  readonly server: TmuxServer;
  readonly socket: PrivateSocket;
  readonly engine: Engines;
  readonly pane: PaneId;
  readonly watched: PaneReadiness;
  /** A folder for what must not come to be. */
  readonly directory: string;
  /** What the model was asked, without requests for titles. */
  asked(): readonly Asked[];
  /** A new bash in the pane. */
  shell(): Promise<void>;
  /** The program as a job of that bash; resolves when the line that starts it has been typed. */
  launch(options?: StartOptions): Promise<void>;
  /** Both, and until it takes a prompt. */
  start(options?: StartOptions): Promise<void>;
  /** Until it takes a prompt; a question that nobody asked for is refused, as a person would. */
  settled(): Promise<void>;
  /** How often bash has shown its prompt since `shell`. */
  prompts(): number;
  screen(): string;
  /** When something was last written to the pane, as `performance.now` tells. */
  writtenMs(): number;
}

export async function realWorld(name: RealAgentName): Promise<RealWorld> {
  if (KIT === undefined || INST === undefined) throw new Error("no kit");
  const { profile, recipe, folder } = REAL_AGENTS[name];
  const socket = privateSocket();
  const { directory } = socket;
  const run = mkdtempSync(join(tmpdir(), "tw-real-"));
  const inst = join(run, "inst");
  mkdirSync(inst);
  for (const each of new Set([...readdirSync(INST), folder]))
    symlinkSync(resolve(INST, each === folder ? name : each), join(inst, each));
  const portFile = join(directory, "port");
  const apiLog = join(directory, "api.jsonl");
  // Each shell writes into a file of its own: the one before may show another prompt as it is replaced.
  let shells = 0;
  const promptsFile = (): string => join(directory, `prompts-${shells}`);
  const rcFile = join(directory, "bashrc");
  writeFileSync(apiLog, "");
  writeFileSync(rcFile, `PS1='tw$ '\nHISTFILE=\nPROMPT_COMMAND='echo >>$PROMPTS'\n`);
  const api = `AGENT_KIT=${KIT} FAKE_API_PORTFILE=${portFile} FAKE_API_LOG=${apiLog} exec node ${join(import.meta.dirname, "fakeModel.mjs")}`;
  const ended = async (): Promise<void> => {
    await socket[Symbol.asyncDispose]();
    await removed(run);
  };
  try {
    const first = ["new-session", "-d", "-s", "api", "-x", "120", "-y", "40", api];
    const offline = ["tmux", "-u", "-S", socket.socketPath, "-f", "/dev/null", ...first];
    const { status, stderr } = spawnSync(join(KIT, "bin/offline"), offline, { encoding: "utf8" });
    if (status !== 0) throw new Error(`offline tmux: ${stderr}`);
    await eventually(() => existsSync(portFile) && readFileSync(portFile, "utf8") !== "");
    const bash = (): string => `PROMPTS=${promptsFile()} exec bash --rcfile ${rcFile} -i`;
    const agent = ["new-session", "-d", "-s", "agent", "-x", "120", "-y", "40", "-P", "-F", "#{pane_id}", "--", bash()];
    const pane = socket.tmux(...agent).trim() as PaneId;
    const server = await startGuestServer({ socketPath: socket.socketPath, env: process.env, clock: systemClock, log });
    const input = server.input.bind(server);
    let writtenMs = -Infinity;
    server.input = (to, parts, how = {}) => {
      const beforeWrite = (): void => {
        how.beforeWrite?.();
        writtenMs = performance.now();
      };
      return input(to, parts, { ...how, beforeWrite });
    };
    const engine = engines();
    const watched = engine.readiness.watch(server, pane);
    const screen = (): string => socket.tmux("capture-pane", "-p", "-t", pane);
    const prompts = (): number => (existsSync(promptsFile()) ? readFileSync(promptsFile(), "utf8").length : 0);
    let starts = 0;
    const world: RealWorld = {
      name,
      profile,
      server,
      socket,
      engine,
      pane,
      watched,
      directory,
      asked: () => askedIn(readFileSync(apiLog, "utf8")),
      prompts,
      screen,
      writtenMs: () => writtenMs,
      shell: async () => {
        shells += 1;
        socket.tmux("respawn-pane", "-k", "-t", pane, bash());
        await eventually(() => prompts() === 1 && /^tw\$ ?$/m.test(screen()));
        await eventually(() => watched.current.profile === "shell");
      },
      launch: async (options = {}) => {
        starts += 1;
        const env = { ...process.env, TUI_INST: inst, TUI_RUN: join(run, String(starts)) };
        const url = `http://127.0.0.1:${readFileSync(portFile, "utf8").trim()}`;
        const { stdout, stderr: wrong } = spawnSync("node", [join(import.meta.dirname, "kitRecipes.mjs"), recipe], {
          encoding: "utf8",
          env: { ...env, FAKE_API: url, HOOK_URL: `${url}/__hook` },
        });
        if (stdout === "") throw new Error(wrong);
        const file = stdout.trim();
        const home = join(file, "../home");
        settle(profile, home, options);
        await options.prepare?.(home);
        socket.tmux("send-keys", "-t", pane, "-l", `sh ${file}`, ";", "send-keys", "-t", pane, "Enter");
      },
      start: async (options) => {
        await world.shell();
        await world.launch(options);
        await untilReady(world);
      },
      settled: async () => {
        // A question of its start comes after its first screen.
        await delay(SETTLES_MS);
        await untilReady(world);
      },
      [Symbol.asyncDispose]: async () => {
        engine[Symbol.dispose]();
        await server.close();
        killPane(socket, pane);
        await ended();
      },
    };
    return world;
  } catch (error) {
    await ended();
    throw error;
  }
}

const log = (): void => undefined;

/** They run commands by themselves unless told otherwise, and pi can be made slow. */
function settle(profile: string, home: string, { slowStartMs }: StartOptions): void {
  const edit = (file: string, more: object): void => {
    const path = join(home, file);
    writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, "utf8")) as object), ...more }));
  };
  if (profile === "claude") edit(".claude/settings.json", { permissions: { defaultMode: "default" }, hooks: {} });
  if (profile === "opencode") edit(".config/opencode/opencode.json", { permission: { bash: "ask" } });
  if (slowStartMs === undefined) return;
  const extensions = join(home, ".pi/agent/extensions");
  mkdirSync(extensions, { recursive: true });
  const slow = `pi.on("session_start", () => new Promise((done) => setTimeout(done, ${slowStartMs})))`;
  writeFileSync(join(extensions, "slow.ts"), `export default function (pi: any) { ${slow}; }\n`);
}

function askedIn(text: string): readonly Asked[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines
    .map((line) => JSON.parse(line) as { api?: string; tools?: number; t: number; text: string; afterTool?: boolean })
    .filter(({ api, tools }) => api !== undefined && tools !== 0)
    .map(({ t, text: got, afterTool }) => ({ t, text: got, afterTool: afterTool === true }));
}

/** The program's own processes: what bash has in front, else nothing. */
export function foregroundGroup(socket: PrivateSocket, pane: PaneId): number | undefined {
  const pid = socket.tmux("display-message", "-p", "-t", pane, "#{pane_pid}").trim();
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [group, inFront] = [Number(fields[2]), Number(fields[5])];
  return group === inFront || inFront <= 0 ? undefined : inFront;
}

function killPane(socket: PrivateSocket, pane: PaneId): void {
  try {
    const group = foregroundGroup(socket, pane);
    if (group !== undefined) process.kill(-group, "SIGKILL");
  } catch {
    // Its pane or its program has gone.
  }
}

const START_WITHIN_MS = 90_000;
const SETTLES_MS = 1_200;

async function untilReady(world: RealWorld): Promise<void> {
  const answered = new Set<string>();
  await until(world, "idle", START_WITHIN_MS, ({ state, dialog }) => {
    if (state !== "asking" || dialog === undefined || answered.has(dialog.id)) return;
    answered.add(dialog.id);
    world.socket.tmux("send-keys", "-t", world.pane, "Escape");
  });
  // Gemini draws its box first, on a busy machine by seconds.
  const endMs = Date.now() + START_WITHIN_MS;
  const takesPastes = (): boolean => bracketedPasteOf(world.server.output(world.pane)) !== "off";
  await eventually(() => takesPastes() || Date.now() > endMs, 20);
}

/** @throws Error with the screen, when it does not come to that in time */
export async function until(
  world: RealWorld,
  wanted: Readiness["state"],
  withinMs: number,
  meanwhile: (now: Readiness) => void = () => undefined,
): Promise<Readiness> {
  const { watched, profile, name } = world;
  const found = new Promise<Readiness>((resolveFound) => {
    let stop = (): void => undefined;
    const probe = (now: Readiness): void => {
      if (now.profile === profile) meanwhile(now);
      if (now.profile !== profile || now.state !== wanted) return;
      if (wanted === "asking" && now.dialog === undefined) return;
      stop();
      resolveFound(now);
    };
    stop = watched.subscribe(probe);
    probe(watched.current);
  });
  const late = delay(withinMs, undefined, { ref: false });
  const state = await Promise.race([found, late]);
  if (state !== undefined) return state;
  const { state: is, profile: by } = watched.current;
  throw new Error(`${name} is not ${wanted} after ${withinMs} ms but ${is} (${by}):\n${world.screen()}`);
}
