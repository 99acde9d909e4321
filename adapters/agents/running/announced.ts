/** What is said of a server's panes before the agents in them are known. */
import type { PaneId } from "../../../protocol/ids.ts";
import { given } from "../jsonFields.ts";
import type { AgentFacts } from "./runningAgent.ts";

/** A hook may come before the check that finds its agent. */
const REPORTED_EARLY_MS = 5_000;

/** What is known of an agent before it runs. */
export interface Expected {
  readonly name?: string | undefined;
  readonly facts?: AgentFacts | undefined;
}

export class Announced {
  readonly #expected = new Map<PaneId, Expected>();
  readonly #reported = new Map<PaneId, { readonly facts: AgentFacts; readonly untilMs: number }>();

  hasName(name: string): boolean {
    return [...this.#expected.values()].some((expected) => expected.name === name);
  }

  /** For whoever appears in the pane. Returns what withdraws it. */
  expect(pane: PaneId, expected: Expected): () => void {
    this.#expected.set(pane, expected);
    return () => {
      if (this.#expected.get(pane) === expected) this.#expected.delete(pane);
    };
  }

  /** By a hook. */
  report(pane: PaneId, facts: AgentFacts, nowMs: number): void {
    const known = this.#reported.get(pane);
    const before = known !== undefined && known.untilMs >= nowMs ? known.facts : {};
    this.#reported.set(pane, { facts: { ...before, ...given(facts) }, untilMs: nowMs + REPORTED_EARLY_MS });
  }

  /** For an agent that appears now: it is taken once. */
  take(pane: PaneId, nowMs: number): { readonly expected?: Expected; readonly reported?: AgentFacts } {
    const [expected, reported] = [this.#expected.get(pane), this.#reported.get(pane)];
    this.#expected.delete(pane);
    this.#reported.delete(pane);
    const isOver = reported === undefined || reported.untilMs < nowMs;
    return { ...(expected === undefined ? {} : { expected }), ...(isOver ? {} : { reported: reported.facts }) };
  }

  /** Forgets panes that have gone. */
  keep(isThere: (pane: PaneId) => boolean): void {
    for (const said of [this.#expected, this.#reported]) {
      for (const pane of said.keys()) if (!isThere(pane)) said.delete(pane);
    }
  }
}
