/** An engine that watches one pane of a server that says what the test tells it, on a clock moved by hand. */
import { ReadinessEngine } from "../../../../daemon/readiness/engine.ts";
import type { PaneReadiness, Readiness } from "../../../../daemon/readiness/readiness.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";
import { ReadinessServer, rest } from "../../../support/agents/readinessServer.ts";
import { PROFILES } from "../../../support/agents/agentCatalogue.ts";

/** What Claude shows: its box, its box at work, a dialog. */
const RULE = "─".repeat(60);
export const BOX = [RULE, "❯ ", RULE, "  ? for shortcuts"];
export const WORKING = ["✻ Pondering… (esc to interrupt)", ...BOX];
export const dialog = (what: string): string[] => [
  RULE,
  ` ${what}`,
  " Do you want to proceed?",
  " ❯ 1. Yes",
  "   2. No, and tell Claude what to do differently (esc)",
];

export class Scene {
  readonly clock = new FakeClock();
  readonly errors: unknown[] = [];
  readonly tmux = new ReadinessServer();
  readonly engine: ReadinessEngine = new ReadinessEngine({
    profiles: PROFILES,
    clock: this.clock,
    nowUnixMs: () => 1_000_000 + this.clock.nowMs(),
    onError: (error) => this.errors.push(error),
  });
  readonly told: Readiness[] = [];
  pane!: PaneReadiness;

  async watch(command: string, lines: readonly string[], profile?: string): Promise<this> {
    this.tmux.command = command;
    this.tmux.lines = lines;
    this.pane = this.engine.watch(this.tmux.server, this.tmux.pane, { profile });
    this.pane.subscribe((readiness) => this.told.push(readiness));
    await rest();
    this.told.length = 0;
    return this;
  }

  get state(): string {
    return `${this.pane.current.state} by ${this.pane.current.source}`;
  }

  /** The program prints, its screen is this from now on. */
  print(output: string, lines?: readonly string[]): void {
    if (lines !== undefined) this.tmux.lines = lines;
    this.tmux.source.write(output);
  }

  async pass(ms: number): Promise<string> {
    for (let left = ms; left > 0; left -= 4) {
      this.clock.advanceMs(Math.min(4, left));
      await rest();
    }
    return this.state;
  }

  /** Whatever a test did: nothing is left when the engine is closed. */
  end(): void {
    this.engine.close();
    const { errors, clock, tmux } = this;
    const left = [...errors, clock.pendingTimers, tmux.source.listeners, tmux.listenerCount].filter(
      (item) => item !== 0,
    );
    if (left.length > 0) throw new Error(`left behind: ${left.map(String).join(", ")}`);
  }
}

export const title = (text: string): string => `\u001b]0;${text}\u0007`;
