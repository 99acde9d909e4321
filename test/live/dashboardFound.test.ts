/** Agents that no hook tells of are on the dashboard as well, found by their processes, for as long as these run. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { messagesScene } from "../support/agents/messagesScene.ts";
import { eventually } from "../support/clock/eventually.ts";
import {
  databaseDirectory,
  type DashboardFixture,
  dashboardFixture,
  UUID,
} from "../support/daemon/dashboardFixture.ts";

type Scene = Awaited<ReturnType<typeof messagesScene>>;
type Card = Readonly<Record<string, unknown>> & { readonly agent_id: number };

let scene: Scene;
beforeEach(async () => {
  scene = await messagesScene();
});
afterEach(() => scene[Symbol.asyncDispose]());

const cardsOf = async (dashboard: DashboardFixture): Promise<readonly Card[]> =>
  (await dashboard.call("GET", "/api/agents")).json["agents"] as readonly Card[];

async function untilCards(dashboard: DashboardFixture, holds: (cards: readonly Card[]) => boolean) {
  await eventually(async () => holds(await cardsOf(dashboard)));
  return cardsOf(dashboard);
}

const isReady = ([card]: readonly Card[]): boolean =>
  card?.["is_bridge_connected"] === true && card["readiness"] !== null;
const paneOf = (session: string): string => scene.server.findSession(session)!.activePane!;

test("it has a card that says what it is and where, asks and is answered there, and is gone when its process has ended", async () => {
  await using dashboard = await dashboardFixture(scene.server);
  const events = await dashboard.events();
  const agent = await scene.start("work", "dialog", { busyMs: 0 });
  const [card] = await untilCards(dashboard, isReady);
  expect(card).toMatchObject({
    state: "IDLE",
    tmux_pane_id: paneOf("work"),
    project_path: "/",
    running: { agent: "claude", name: "claude", cwd: "/", task: null, messages: [] },
  });
  const id = card!.agent_id;
  expect(events.names()).toContain("session_created");
  await agent.tell("ask", { kind: "permission" });
  const [asking] = await untilCards(
    dashboard,
    ([one]) => one?.["state"] === "AWAITING_INPUT" && one["question"] !== null,
  );
  const { dialog_id: dialogId } = asking!["question"] as { readonly dialog_id: string };
  const answer = { mode: "select", option_index: 0, dialog_id: dialogId };
  expect(await dashboard.respond(id, answer)).toMatchObject({ status: 200 });
  await agent.next("tool");
  await agent.tell("busy");
  await untilCards(dashboard, ([one]) => one?.["state"] === "PROCESSING");
  const from = events.events.length;
  await agent.tell("exit");
  const ended = await events.next("session_ended", from);
  // At work, then gone: the shell that comes after it is never taken for an agent that waits.
  const cards = events.events.slice(from).filter(({ event }) => event === "card_refresh");
  expect(cards.map(({ data }) => data).filter(({ state }) => state !== "PROCESSING")).toMatchObject([
    { reason: "process_ended" },
  ]);
  expect(ended.data).toMatchObject({ agent_id: id });
  expect(await cardsOf(dashboard)).toEqual([]);
  // Its history stays.
  const { json } = await dashboard.call("GET", `/api/agents/${id}/turns`);
  expect((json["turns"] as readonly { readonly intent: string }[]).map(({ intent }) => intent)).toEqual([
    "answer",
    "question",
  ]);
});

test("after a restart the same process has the same card, and what ended meanwhile has none", async () => {
  using files = databaseDirectory();
  const databasePath = join(files.path, "dashboard.db");
  await scene.start("stays", "inkPrompt");
  const leaves = await scene.start("leaves", "inkPrompt");
  let before: readonly Card[];
  {
    await using dashboard = await dashboardFixture(scene.server, { databasePath });
    before = await untilCards(dashboard, (cards) => cards.length === 2 && cards.every((card) => isReady([card])));
  }
  await leaves.tell("exit");
  await using again = await dashboardFixture(scene.server, { databasePath });
  const after = await untilCards(again, (cards) => cards.length === 1 && isReady(cards));
  const stays = before.find((card) => card["tmux_pane_id"] === paneOf("stays"));
  expect(after[0]).toMatchObject({ agent_id: stays!.agent_id, session_uuid: stays!["session_uuid"] });
});

test("its first hook, or a registration that names its pane, takes over its card", async () => {
  await using dashboard = await dashboardFixture(scene.server);
  await scene.start("hooked", "inkPrompt");
  await scene.start("registered", "inkPrompt");
  const cards = await untilCards(dashboard, (all) => all.length === 2 && all.every((card) => isReady([card])));
  const idIn = (session: string): number => cards.find((card) => card["tmux_pane_id"] === paneOf(session))!.agent_id;
  const hook = { session_id: "s1", tmux_pane: paneOf("hooked"), working_directory: scene.socket.directory };
  expect((await dashboard.hook("session-start", hook)).json).toMatchObject({ agent_id: idIn("hooked") });
  const body = { session_uuid: UUID, project_path: "/work/project", tmux_pane_id: paneOf("registered") };
  expect((await dashboard.call("POST", "/api/sessions", body)).json).toMatchObject({ agent_id: idIn("registered") });
  const named = (await cardsOf(dashboard)).map((card) => card["session_uuid"]);
  expect(named).toHaveLength(2);
  expect(named).toContain(UUID);
});

test("a session that was known before goes on in the process that was found, unless that is at work", async () => {
  await using dashboard = await dashboardFixture(scene.server);
  const first = await scene.start("work", "inkPrompt");
  await untilCards(dashboard, isReady);
  const pane = paneOf("work");
  const said = { session_id: "s1", tmux_pane: pane, working_directory: scene.socket.directory };
  const { json } = await dashboard.hook("session-start", said);
  await first.tell("exit");
  // What ran is known to have ended a moment after its pane is known to be nobody's.
  await untilCards(dashboard, ([card]) => card?.["is_bridge_connected"] === false && card["running"] === null);
  const second = await scene.start("work", "inkPrompt", { busyMs: 0 });
  const found = await untilCards(dashboard, (cards) =>
    cards.some((card) => card["running"] !== null && isReady([card])),
  );
  // The one before has said nothing of its end: it is over, with the one that was found in its place.
  expect(found.map((card) => card.agent_id)).not.toContain(json["agent_id"]);
  await second.tell("busy");
  await untilCards(dashboard, (cards) => cards.some((card) => card["state"] === "PROCESSING"));
  await dashboard.hook("session-start", said);
  const atWork = (await cardsOf(dashboard)).find((card) => card["state"] === "PROCESSING");
  expect(atWork).toMatchObject({ tmux_pane_id: pane });
  expect(atWork!.agent_id).not.toBe(json["agent_id"]);
  await second.tell("idle");
  await untilCards(dashboard, (cards) => cards.every((card) => card["state"] !== "PROCESSING"));
  await dashboard.hook("session-start", said);
  const [only, ...others] = await untilCards(dashboard, (cards) => cards.length === 1 && isReady(cards));
  expect([only?.agent_id, only?.["tmux_pane_id"], others]).toEqual([json["agent_id"], pane, []]);
});

test("its card is gone with its session, and does not come back while its process still ends", async () => {
  using desk = scene.desk();
  await using dashboard = await dashboardFixture(scene.server, { running: desk.agents });
  const agent = await scene.start("work", "inkPrompt", { busyMs: 0 });
  await untilCards(dashboard, isReady);
  const [found] = desk.agents.agents();
  const said = { session_id: "s1", tmux_pane: paneOf("work"), working_directory: scene.socket.directory };
  await dashboard.hook("session-start", said);
  await dashboard.hook("session-end", said);
  await agent.tell("busy");
  await eventually(() => found?.readiness?.state === "busy");
  expect(await cardsOf(dashboard)).toEqual([]);
  // A session that begins in the same process is another one.
  await dashboard.hook("session-start", { ...said, session_id: "s2", source: "clear" });
  await untilCards(dashboard, isReady);
  await agent.tell("idle");
  await untilCards(dashboard, ([card]) => card?.["running"] !== null);
  await dashboard.hook("session-end", { ...said, session_id: "s2" });
  await agent.tell("busy");
  await eventually(() => found?.readiness?.state === "busy");
  await agent.tell("exit");
  await eventually(() => found?.endedUnixMs !== undefined);
  expect(await cardsOf(dashboard)).toEqual([]);
});

test("an agent at work keeps its card when its tool is an agent that goes on with a conversation", async () => {
  await using dashboard = await dashboardFixture(scene.server);
  const agent = await scene.start("work", "inkPrompt", { busyMs: 0 });
  await untilCards(dashboard, isReady);
  const at = { tmux_pane: paneOf("work"), working_directory: scene.socket.directory };
  const { json } = await dashboard.hook("session-start", { ...at, session_id: "s1" });
  await dashboard.hook("user-prompt-submit", { ...at, session_id: "s1", prompt: "have pi look at it" });
  await agent.tell("busy");
  const isBusy = ([card]: readonly Card[]): boolean =>
    (card?.["readiness"] as { readonly state: string } | null)?.state === "busy";
  await untilCards(dashboard, isBusy);
  const tool = await dashboard.hook("session-start", { ...at, session_id: "s2", source: "resume" });
  expect(tool.json).toMatchObject({ is_new_agent: true, correlation_method: "created" });
  await dashboard.hook("session-end", { ...at, session_id: "s2" });
  expect(await cardsOf(dashboard)).toMatchObject([
    { agent_id: json["agent_id"], state: "PROCESSING", tmux_pane_id: paneOf("work") },
  ]);
  // Its own next session.
  await dashboard.hook("stop", { ...at, session_id: "s1" });
  const next = await dashboard.hook("session-start", { ...at, session_id: "s3", source: "resume" });
  expect(next.json).toMatchObject({ agent_id: json["agent_id"], correlation_method: "tmux_pane_id" });
});
