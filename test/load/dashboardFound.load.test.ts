/**
 * Real agents on the dashboard, without a hook: each has a card, takes what the page tells it once, shows what it asks, keeps its
 * card over a kill -9 of the daemon, and leaves the page with its process. `REAL_AGENTS` says which (see realAgents.ts).
 */
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { REAL_AGENTS, realAgents, realWorld } from "../support/agents/realAgents.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { report, sinceMs } from "../support/daemon/loadReport.ts";
import { callJson } from "../support/daemon/nativeServer.ts";

interface Card {
  readonly agent_id: number;
  readonly state: string;
  readonly is_bridge_connected: boolean;
  readonly readiness: { readonly state: string } | null;
  readonly question: { readonly options: readonly object[] } | null;
  readonly running: {
    readonly id: string;
    readonly agent: string;
    readonly task: { readonly text: string } | null;
  } | null;
}

/** A program is slow beside others, and so is its model. */
const TRIES = 600;

async function dashboard(sandbox: CliSandbox, socketPath: string) {
  const daemon = sandbox.start(["serve", "--only", "dashboard", "--dashboard-tmux-socket", socketPath]);
  const [, url = ""] = await daemon.line(/dashboard listening on (http:\S+)/);
  const cards = async () =>
    (await callJson(url, "GET", "/api/agents", undefined, {})).json["agents"] as readonly Card[];
  const until = async (holds: (card: Card | undefined) => boolean): Promise<Card> => {
    await eventually(async () => holds((await cards())[0]), TRIES);
    return (await cards())[0]!;
  };
  return { daemon, url, cards, until };
}

const isReady = (card: Card | undefined): boolean =>
  card?.is_bridge_connected === true && card.readiness?.state === "idle" && card.running !== null;

const names = realAgents();
test.skipIf(names.length === 0).each(names.map((name) => [name] as const))(
  "%s",
  async (name) => {
    const { profile, asks } = REAL_AGENTS[name];
    await using world = await realWorld(name);
    await using sandbox = cliSandbox();
    await world.start();
    const startedMs = performance.now();
    const first = await dashboard(sandbox, world.socket.socketPath);
    const card = await first.until(isReady);
    const readyMs = sinceMs(startedMs);
    expect(card.running?.agent).toBe(profile);
    const tell = async (url: string, text: string): Promise<number> => {
      const toldMs = performance.now();
      const path = `/v1/agents/${card.running!.id}/messages`;
      const headers = { "idempotency-key": randomBytes(8).toString("hex") };
      // Once more, as a page does whose line was cut.
      for (let tries = 0; tries < 2; tries += 1) {
        expect((await callJson(url, "POST", path, { text, when: "idle" }, headers)).status).toBe(200);
      }
      await eventually(() => world.asked().some((asked) => asked.text.includes(text)), TRIES);
      return sinceMs(toldMs);
    };
    const word = randomBytes(6).toString("hex");
    const arrivedMs = await tell(first.url, `say ${word}`);
    await first.until((one) => one?.running?.task?.text === `say ${word}` && isReady(one));
    let options: number | undefined;
    if (asks !== undefined) {
      await tell(first.url, `${asks} ${word}-asks`);
      const asking = await first.until(
        (one) => one?.state === "AWAITING_INPUT" && (one.question?.options.length ?? 0) > 0,
      );
      options = asking.question!.options.length;
      await callJson(first.url, "POST", `/api/respond/${card.agent_id}`, { mode: "keys", keys: ["Escape"] }, {});
      await first.until(isReady);
    }
    first.daemon.child.kill("SIGKILL");
    await first.daemon.finished;
    const second = await dashboard(sandbox, world.socket.socketPath);
    const after = await second.until(isReady);
    expect([after.agent_id, after.running?.id]).toEqual([card.agent_id, card.running!.id]);
    await tell(second.url, `say ${word}-again`);
    const times = world.asked().filter((asked) => asked.text.trim().endsWith(`say ${word}`) && !asked.afterTool).length;
    await eventually(async () => isReady((await second.cards())[0]), TRIES);
    const ended = await callJson(second.url, "POST", `/v1/agents/${card.running!.id}/end`, { force: true }, {});
    expect(ended.status).toBe(200);
    await eventually(async () => (await second.cards()).length === 0, TRIES);
    report("dashboardFound", { name, readyMs, arrivedMs, times, options });
    expect(times).toBe(1);
  },
  600_000,
);
