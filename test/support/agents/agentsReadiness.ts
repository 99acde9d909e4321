/**
 * An agent's day, compressed: a program is told to work, to ask, to wait and to leave, again and again, and what the
 * readiness engine says is held against when the program changed by its own account.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { PaneReadiness, Readiness, ReadinessState } from "../../../daemon/readiness/readiness.ts";
import { AGENT_PROFILES, type AgentName, type AgentStart, guestAgent, ownedAgent, unixMs } from "./agentPrograms.ts";
import { shellProgram } from "./agentShell.ts";
import { text } from "../tmux/panePrograms.ts";
import { spread } from "../daemon/loadReport.ts";
import { engines } from "./agentsEngines.ts";

/** The engine's promise: a state is known within this. */
const STATE_WITHIN_MS = 100;
/** After a state was seen it is held for up to this long, so that a wrong second thought would show. */
const DWELL_MS = 160;

interface Heard extends Pick<Readiness, "state" | "source"> {
  readonly atUnixMs: number;
}

export interface ReadinessFigures {
  readonly changes: number;
  /** Changes that were known later than `STATE_WITHIN_MS`. */
  readonly late: number;
  /** What was said while the program was in another state and had been for longer than `STATE_WITHIN_MS`. */
  readonly wrong: readonly string[];
  /** Times `idle` was said while a dialog was open, at any time. */
  readonly idleWhileAsking: number;
  readonly byTransition: Readonly<Record<string, ReturnType<typeof spread> & { readonly n: number }>>;
  /** Which evidence said it, by state. */
  readonly sources: Readonly<Record<string, number>>;
}

/** Holds one observation against what the program says of itself. */
class Ledger {
  readonly heard: Heard[] = [];
  readonly #readiness: PaneReadiness;
  readonly #latenciesMs = new Map<string, number[]>();
  readonly #sources = new Map<string, number>();
  readonly #wrong: string[] = [];
  readonly #unsubscribe: () => void;
  #wake: () => void = () => undefined;
  #idleWhileAsking = 0;
  #late = 0;
  #state: ReadinessState = "starting";

  constructor(readiness: PaneReadiness) {
    this.#readiness = readiness;
    const hear = ({ state, source }: Readiness): void => {
      this.heard.push({ state, source, atUnixMs: unixMs() });
      this.#wake();
    };
    hear(readiness.current);
    this.#unsubscribe = readiness.subscribe(hear);
  }

  /** Resolves once `state` has been said; for the first state, which has no change before it. */
  async begin(state: ReadinessState): Promise<void> {
    await this.#said(state, 0);
    this.#state = state;
  }

  /** The program is `state` since `sinceUnixMs`; resolves when that was said and has held for a while. */
  async changed(state: ReadinessState, sinceUnixMs: number, dwellMs: number): Promise<void> {
    const from = this.heard.findIndex((heard) => heard.atUnixMs >= sinceUnixMs);
    const found = await this.#said(state, from < 0 ? this.heard.length : from);
    const latencyMs = found.atUnixMs - sinceUnixMs;
    const transition = `${this.#state}-${state}`;
    this.#latenciesMs.set(transition, [...(this.#latenciesMs.get(transition) ?? []), latencyMs]);
    if (latencyMs > STATE_WITHIN_MS) this.#late += 1;
    const source = `${state}:${found.source}`;
    this.#sources.set(source, (this.#sources.get(source) ?? 0) + 1);
    this.#state = state;
    const settled = this.heard.length;
    if (dwellMs > 0 && state !== "dead") await delay(dwellMs);
    // The dwell may have been cut short by nothing: whatever was said in it had to be the same.
    for (const later of this.heard.slice(settled)) if (later.state !== state) this.#note(later, sinceUnixMs);
  }

  /**
   * What was said from when the program was told to ask until it was told what came after: places in `heard`, because the
   * clocks of two processes may differ by milliseconds.
   */
  checkAsking(from: number, to: number, sinceUnixMs: number): void {
    for (const [index, heard] of this.heard.entries()) {
      if (heard.state !== "idle" || index < from || index >= to) continue;
      // The same again, by another source: before the dialog is drawn nothing else can be known.
      if (this.heard[index - 1]?.state === "idle") continue;
      this.#idleWhileAsking += 1;
      this.#note(heard, sinceUnixMs);
    }
  }

  figures(): ReadinessFigures {
    this.#unsubscribe();
    return {
      changes: [...this.#latenciesMs.values()].reduce((sum, all) => sum + all.length, 0),
      late: this.#late,
      wrong: this.#wrong,
      idleWhileAsking: this.#idleWhileAsking,
      byTransition: Object.fromEntries(
        [...this.#latenciesMs].map(([name, all]) => [name, { n: all.length, ...spread(all) }]),
      ),
      sources: Object.fromEntries(this.#sources),
    };
  }

  #note({ state, source, atUnixMs }: Heard, sinceUnixMs: number): void {
    if (this.#wrong.length < 50) {
      this.#wrong.push(
        `${state} by ${source}, ${Math.round(atUnixMs - sinceUnixMs)} ms after the program became ${this.#state}`,
      );
    }
  }

  #said(state: ReadinessState, from: number): Promise<Heard> {
    return new Promise((resolve) => {
      const probe = (): void => {
        const found = this.heard.slice(from).find((heard) => heard.state === state);
        // It may have said so before the change: then nothing more is said.
        const held = found ?? (this.#readiness.current.state === state ? this.heard.at(-1) : undefined);
        if (held === undefined) return;
        this.#wake = () => undefined;
        resolve(held);
      };
      this.#wake = probe;
      probe();
    });
  }
}

const NEXT = {
  idle: ["busy", "busy", "asking"],
  busy: ["idle", "asking", "asking"],
  asking: ["busy", "idle"],
} as const;
type Change = keyof typeof NEXT;

interface DayOptions {
  readonly program: AgentName;
  readonly changes: number;
  /** Between 0 and 1, as `Math.random`. */
  readonly random: () => number;
  readonly where?: "guest" | "owned";
  readonly start?: AgentStart;
}

/** Random changes between the states a program has, then its end. */
export async function agentDay(options: DayOptions): Promise<ReadinessFigures> {
  const { program, changes, random, where = "guest", start = {} } = options;
  const begin = where === "guest" ? guestAgent : ownedAgent;
  await using agent = await begin(program, { ...start, options: { ...start.options, busyMs: 0 } });
  const { server, pane, channel } = agent;
  using made = engines();
  const { readiness: engine, errors } = made;
  const readiness = engine.watch(server, pane, { profile: AGENT_PROFILES[program] });
  const ledger = new Ledger(readiness);
  await ledger.begin("idle");
  let state: Change = "idle";
  let sinceUnixMs = 0;
  let askedAt = 0;
  for (let at = 0; at < changes; at += 1) {
    const choices: readonly Change[] = NEXT[state].filter((next) => next !== "asking" || program !== "piLike");
    const next = choices[Math.floor(random() * choices.length)]!;
    const from = channel.log.length;
    if (state === "asking") ledger.checkAsking(askedAt, ledger.heard.length, sinceUnixMs);
    askedAt = ledger.heard.length;
    await channel.tell(next === "asking" ? "ask" : next);
    const entry = await channel.next((candidate) => candidate.state === next, from);
    sinceUnixMs = entry.atUnixMs;
    state = next;
    await ledger.changed(next, sinceUnixMs, Math.floor(random() * DWELL_MS));
  }
  const from = channel.log.length;
  if (state === "asking") ledger.checkAsking(askedAt, ledger.heard.length, sinceUnixMs);
  await channel.tell("exit", { status: 0 });
  const exit = await channel.next("exit", from);
  await ledger.changed("dead", exit.atUnixMs, 0);
  if (errors.length > 0) throw new AggregateError(errors, "the engine reported errors");
  return ledger.figures();
}

/** Commands in bash, with marks or without: at its prompt or running. */
export async function shellDay(
  marks: "marks" | "plain",
  changes: number,
  random: () => number,
): Promise<ReadinessFigures> {
  await using shell = await shellProgram(marks);
  const { server, pane } = shell;
  using made = engines();
  const { readiness: engine, errors } = made;
  const ledger = new Ledger(engine.watch(server, pane, { profile: "shell" }));
  await ledger.begin("idle");
  for (let at = 0; at < changes; at += 2) {
    const dwell = (): number => Math.floor(random() * DWELL_MS);
    await server.input(pane, [text("hold\r")]);
    await ledger.changed("busy", (await shell.next("busy")).atUnixMs, dwell());
    shell.release(at % 3);
    await ledger.changed("idle", (await shell.next("idle")).atUnixMs, dwell());
  }
  if (errors.length > 0) throw new AggregateError(errors, "the engine reported errors");
  return ledger.figures();
}
