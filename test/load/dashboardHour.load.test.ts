/**
 * A person's hour with AGENTS (20) agents and the page open: each works, asks, is answered, rests, ends and is started anew, by
 * a seeded script, and writes down when. Once a second the page's cards are compared with that; a card may lag by a second.
 * The whole hold: MINUTES=60 (0.5). HOUR_SEED repeats a script.
 */
import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AgentEntry, type AgentName, unixMs } from "../support/agents/agentPrograms.ts";
import { seeded } from "../support/agents/agentsEngines.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { dashboardFleet, type FleetAgent } from "../support/daemon/dashboardFleet.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { costOf } from "../support/daemon/processCost.ts";
import { NO_BROWSER, startBrowser } from "../support/page/browser.ts";

const AGENTS = Number(process.env["AGENTS"] ?? 20);
const MINUTES = Number(process.env["MINUTES"] ?? 0.5);
const SEED = Number(process.env["HOUR_SEED"] ?? Date.now() % 1_000_000);
const SAMPLE_MS = 1_000;
/** So long a card may show what its agent did before. */
const LAG_MS = 1_000;
/** Those that are right with this lag are counted by themselves: tmux tells of panes that nobody follows once a second, and then they are captured. */
const SLOW_LAG_MS = 1_150;
/** What a program has written down is here by then. */
const TOLD_MS = 2_000;
const ANSWERED_WITHIN_MS = 20_000;
const MAX_TOLD_MISMATCHES = 200;

const PROGRAMS: readonly AgentName[] = ["dialog", "codexLike", "geminiLike", "opencodeLike", "piLike"];
/** What a person presses for the first option, in the pane. */
const FIRST_OPTION: Partial<Record<AgentName, string>> = {
  dialog: "1",
  codexLike: "y",
  geminiLike: "1",
  opencodeLike: "Enter",
};

/** As a card says it; `gone` is no card, too. `starting`: it has been started and has not drawn itself, so that it may count as anything but asking. */
type Shown = "asking" | "ready" | "working" | "gone";
type Truth = Shown | "starting";

interface Change {
  readonly atMs: number;
  readonly state: Truth;
}

interface Card {
  readonly id: string;
  readonly pane: string;
  readonly need: Shown;
  readonly reason: string;
}

/** What one pane's agents do, in order. */
class Track {
  readonly agent: FleetAgent;
  readonly changes: Change[] = [{ atMs: 0, state: "gone" }];
  /** How its last question was answered. */
  done = "";

  constructor(agent: FleetAgent) {
    this.agent = agent;
  }

  add(state: Truth, atMs: number): void {
    if (this.changes.at(-1)!.state !== state) this.changes.push({ atMs, state });
  }

  /** Every state of the `lagMs` before, and that of then. */
  during(atMs: number, lagMs: number): readonly Truth[] {
    return this.changes
      .filter((change, at) => change.atMs <= atMs && (this.changes[at + 1]?.atMs ?? Infinity) > atMs - lagMs)
      .map(({ state }) => state);
  }
}

const STATES: Readonly<Record<NonNullable<AgentEntry["state"]>, Shown>> = {
  idle: "ready",
  busy: "working",
  asking: "asking",
};

const isRight = (shown: Shown, truth: Truth): boolean =>
  shown === truth || (truth === "starting" && shown !== "asking");

/** In the page: what its cards say. A card names its pane among its facts. */
const READ_CARDS = `globalThis.readCards = () => [...document.querySelectorAll("article.card")].map((card) => ({
  id: card.id,
  pane: /(?:^|\\s)(%\\d+)(?:\\s|$)/.exec(card.querySelector(".facts")?.textContent ?? "")?.[1] ?? "",
  need: ["asking", "ready", "working", "gone"].find((need) => card.querySelector(".badge").classList.contains(need)),
  reason: card.querySelector(".badge").title,
}));`;

/** In the page: every change of a card, at the time at which it stands in the document. */
const WATCH_CARDS = `${READ_CARDS}
globalThis.cardChanges = [];
{
  let before = new Map();
  const look = () => {
    const now = new Map(readCards().map(({ pane, need }) => [pane, need]));
    const atMs = Date.now();
    for (const pane of new Set([...before.keys(), ...now.keys()])) {
      const need = now.get(pane) ?? "gone";
      if ((before.get(pane) ?? "gone") !== need) cardChanges.push({ pane, need, atMs });
    }
    before = now;
  };
  look();
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
}`;

interface CardChange {
  readonly pane: string;
  readonly need: Shown;
  readonly atMs: number;
}

interface Sample {
  readonly atMs: number;
  readonly cards: readonly Card[];
  readonly changes: readonly CardChange[];
  readonly banner: string;
}

const SAMPLE = `({
  atMs: Date.now(),
  cards: readCards(),
  changes: cardChanges.splice(0),
  banner: document.querySelector(".banner")?.textContent ?? "",
})`;

class Script {
  readonly counts = { answeredOnPage: 0, answeredInPane: 0, withdrawn: 0, ended: 0, started: 0, unanswered: 0 };
  readonly tracks = new Map<string, Track>();
  readonly #random: () => number;
  readonly #page: () => Page | undefined;
  readonly #signal: AbortSignal;
  readonly #tmux: (...args: readonly string[]) => string;

  constructor(options: {
    readonly page: () => Page | undefined;
    readonly tmux: (...args: readonly string[]) => string;
    readonly signal: AbortSignal;
  }) {
    this.#random = seeded(SEED);
    this.#page = options.page;
    this.#signal = options.signal;
    this.#tmux = options.tmux;
  }

  /** From its start until it can be told what to do; what it writes down from now on goes to its pane's track. */
  async start(agent: FleetAgent): Promise<void> {
    const from = agent.channel.log.length;
    const startedMs = unixMs();
    const pane = agent.start();
    const track = this.tracks.get(pane) ?? new Track(agent);
    this.tracks.set(pane, track);
    track.add("starting", startedMs);
    // What it says of itself then is read at once: a card that does not come is seen from here on.
    await agent.channel.next("state", from);
    this.counts.started += 1;
  }

  /** What its programs have written down since, to its track. */
  read(agent: FleetAgent, from: number): number {
    const { log } = agent.channel;
    const track = this.tracks.get(agent.pane)!;
    for (const { event, state, atUnixMs } of log.slice(from)) {
      if (event === "exit") track.add("gone", atUnixMs);
      else if (event === "state" && state !== undefined) track.add(STATES[state], atUnixMs);
    }
    return log.length;
  }

  /** Until the signal. */
  async run(agent: FleetAgent): Promise<void> {
    let read = this.read(agent, 0);
    let state: Truth = "ready";
    while (await this.#stays()) {
      state = await this.#next(agent, state);
      read = this.read(agent, read);
      if (state !== "gone") continue;
      if (!(await this.#stays())) return;
      await this.start(agent);
      read = this.read(agent, read);
      state = "ready";
    }
  }

  /** From a moment to some seconds; false once it is over. */
  async #stays(): Promise<boolean> {
    const share = this.#random();
    const ms = share < 0.15 ? 100 + share * 6_000 : 1_000 + (share - 0.15) ** 2 * 18_000;
    return delay(ms, true, { signal: this.#signal }).catch(() => false);
  }

  async #next(agent: FleetAgent, state: Truth): Promise<Truth> {
    const { channel, program } = agent;
    const share = this.#random();
    if (state === "asking") {
      if (share < 0.15) {
        await channel.tell("idle");
        this.counts.withdrawn += 1;
        return "ready";
      }
      return this.#answer(agent, share < 0.6);
    }
    if (share < 0.08) {
      const from = channel.log.length;
      await channel.tell("exit");
      await channel.next("exit", from);
      this.counts.ended += 1;
      return "gone";
    }
    if (share < 0.5 && FIRST_OPTION[program] !== undefined) {
      await channel.tell("ask", { kind: "permission" });
      return "asking";
    }
    await channel.tell(state === "working" ? "idle" : "busy");
    return state === "working" ? "ready" : "working";
  }

  /** On its card, or in its pane. */
  async #answer(agent: FleetAgent, isOnPage: boolean): Promise<Truth> {
    const { channel, program, pane } = agent;
    const from = channel.log.length;
    const page = this.#page();
    const isClicked = isOnPage && page !== undefined && (await clicked(page, pane));
    this.tracks.get(pane)!.done = `${isClicked ? "clicked" : "typed"} at ${new Date().toISOString()}`;
    if (isClicked) this.counts.answeredOnPage += 1;
    else {
      this.#tmux("send-keys", "-t", pane, FIRST_OPTION[program]!);
      this.counts.answeredInPane += 1;
    }
    const isAnswered = (entry: AgentEntry): boolean => entry.event === "state" && entry.state !== "asking";
    const late = delay(ANSWERED_WITHIN_MS).then(() => undefined);
    const after = await Promise.race([channel.next(isAnswered, from), late]);
    if (after?.state !== undefined) return STATES[after.state];
    this.counts.unanswered += 1;
    await channel.tell("idle");
    return "ready";
  }
}

/** The first option of the card of this pane; false: it has none. */
const clicked = (page: Page, pane: string): Promise<boolean> =>
  page.evaluate<boolean>(`(() => {
    const id = readCards().find(({ pane }) => pane === ${JSON.stringify(pane)})?.id;
    const option = id === undefined ? null : document.getElementById(id).querySelector('[data-option="0"]:not(:disabled)');
    option?.click();
    return option !== null;
  })()`);

test.skipIf(NO_BROWSER !== undefined)(
  "the page's states are the agents' own at every second",
  async () => {
    await using sandbox = cliSandbox();
    await using browser = await startBrowser();
    await using fleet = await dashboardFleet(sandbox, AGENTS, PROGRAMS);
    const over = new AbortController();
    let page: Page | undefined;
    const script = new Script({ page: () => page, tmux: (...args) => fleet.tmux(...args), signal: over.signal });
    for (const agent of fleet.agents) await script.start(agent);
    const served = ["serve", "--only", "native,dashboard", "--port", "0", "--dashboard-tmux-socket", fleet.socketPath];
    const daemon = sandbox.start(served);
    const [, url = ""] = await daemon.line(/dashboard listening on (\S+)/);
    await using opened = await browser.open(url, { viewport: { width: 1440, height: 900 } });
    page = opened.page;
    await eventually(async () => (await page.locator("article.card .badge.ready").count()) === AGENTS, 100);
    await page.evaluate(WATCH_CARDS);

    const running = fleet.agents.map((agent) => script.run(agent));
    const samples: Sample[] = [];
    const found: CardChange[] = [];
    let [mismatched, slow, late] = [0, 0, 0];
    const judge = (sample: Sample): void => {
      for (const pane of new Set([...script.tracks.keys(), ...sample.cards.map((card) => card.pane)])) {
        const of = sample.cards.filter((card) => card.pane === pane);
        const track = script.tracks.get(pane);
        const shown = of.length === 0 ? (["gone"] as const) : of.map(({ need }) => need);
        const isRightWith = (lagMs: number): boolean => {
          const allowed = track?.during(sample.atMs, lagMs) ?? ["gone"];
          if (of.length > 1 && allowed.length === 1) return false;
          return shown.every((one) => allowed.some((truth) => isRight(one, truth)));
        };
        if (isRightWith(LAG_MS)) continue;
        if (isRightWith(SLOW_LAG_MS)) {
          slow += 1;
          continue;
        }
        mismatched += 1;
        const [agent, profile] = [track?.agent.name, track?.agent.program];
        // The first ones tell of the fault.
        if (mismatched > MAX_TOLD_MISMATCHES) continue;
        const ago = (atMs: number, state: Truth): string => `${state} ${Math.round(sample.atMs - atMs)} ms ago`;
        const isBefore = ({ atMs }: { readonly atMs: number }): boolean => atMs <= sample.atMs && atMs > 0;
        report("dashboardHour", {
          what: "mismatch",
          load: loadavg()[0]?.toFixed(2),
          at: new Date(sample.atMs).toISOString(),
          agent,
          profile,
          pane,
          shown,
          reasons: of.map(({ reason }) => reason),
          true: track?.changes
            .filter(isBefore)
            .slice(-5)
            .map(({ atMs, state }) => ago(atMs, state)),
          seen: found
            .filter((one) => one.pane === pane && isBefore(one))
            .slice(-5)
            .map(({ atMs, need }) => ago(atMs, need)),
          done: track?.done,
          banner: sample.banner,
        });
      }
    };
    const startedMs = performance.now();
    let judged = 0;
    const untilMs = startedMs + MINUTES * 60_000;
    const tell = (what: string): void =>
      report("dashboardHour", {
        what,
        seed: SEED,
        agents: AGENTS,
        minutes: Math.round((performance.now() - startedMs) / 600) / 100,
        samples: judged,
        mismatches: mismatched,
        slow,
        late,
        ...script.counts,
        load: loadavg()[0]?.toFixed(2),
      });
    for (let turn = 1; performance.now() < untilMs; turn += 1) {
      await delay(Math.max(0, startedMs + turn * SAMPLE_MS - performance.now()));
      if (performance.now() - startedMs - turn * SAMPLE_MS > SAMPLE_MS / 2) late += 1;
      const sample = await page.evaluate<Sample>(SAMPLE);
      samples.push(sample);
      found.push(...sample.changes);
      for (; judged < samples.length && samples[judged]!.atMs < Date.now() - TOLD_MS; judged += 1)
        judge(samples[judged]!);
      if (turn % 60 === 0) tell("so far");
    }
    over.abort();
    await Promise.all(running);
    const endMs = samples.at(-1)!.atMs;
    await delay(TOLD_MS);
    for (; judged < samples.length; judged += 1) judge(samples[judged]!);
    found.push(...(await page.evaluate<Sample>(SAMPLE)).changes);
    const { changes, lags, overtaken } = lagsOf([...script.tracks], found, endMs);
    tell("all");
    report("dashboardHour", {
      what: "lag",
      changes,
      overtaken,
      lag: spread(lags.map(({ ms }) => ms)),
      byState: Object.fromEntries(
        ["asking", "ready", "working", "gone"].map((state) => [
          state,
          spread(lags.filter((lag) => lag.state === state).map(({ ms }) => ms)),
        ]),
      ),
      daemon: costOf(daemon.pid),
    });
    expect(opened.wrongs).toEqual([]);
    expect([mismatched, script.counts.unanswered]).toEqual([0, 0]);
  },
  (MINUTES + 3) * 60_000 + 60_000,
);

/** From each change that lasted until the page showed it to then; one that was over before is overtaken. */
function lagsOf(tracks: readonly (readonly [string, Track])[], found: readonly CardChange[], endMs: number) {
  const lags: { readonly state: Truth; readonly ms: number }[] = [];
  let [changes, overtaken] = [0, 0];
  for (const [pane, { changes: all }] of tracks) {
    const shown = found.filter((change) => change.pane === pane);
    for (const [at, { atMs, state }] of all.entries()) {
      // The first ones are from before the page.
      if (atMs < (found[0]?.atMs ?? 0) - LAG_MS || atMs > endMs || state === "starting" || at === 0) continue;
      changes += 1;
      const nextMs = all[at + 1]?.atMs ?? Infinity;
      // A program draws before it writes down that it has: the card may show it before.
      const before = shown.findLast((one) => one.atMs < atMs);
      const isBefore = before?.need === state && before.atMs > all[at - 1]!.atMs;
      const seen = isBefore
        ? { atMs }
        : shown.find(({ need, atMs: seenMs }) => need === state && seenMs >= atMs && seenMs < nextMs + LAG_MS);
      if (seen === undefined) overtaken += 1;
      else lags.push({ state, ms: seen.atMs - atMs });
    }
  }
  return { changes, lags, overtaken };
}
