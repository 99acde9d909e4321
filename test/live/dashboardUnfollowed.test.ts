/**
 * Agents with hooks on the user's own server: no client of ours is on a session that nobody follows, and their cards are
 * right all the same (docs/tmuxFacts.md 50, 56).
 */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { AgentChannel, type AgentName } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type DashboardFixture, dashboardFixture, type EventReader } from "../support/daemon/dashboardFixture.ts";
import { attached, guestFixture, userClient, userSession } from "../support/tmux/guestFixture.ts";
import type { PrivateSocket } from "../support/tmux/ownedFixture.ts";
import type { PaneId } from "../../protocol/ids.ts";

/** The base connection goes where a person is, so that every other session would need a client of its own. */
const DESK = "desk";
const IDLE_MS = 200;

/** Sessions that clients of ours are on, the base's left out. */
const followed = (socket: PrivateSocket): string[] =>
  attached(socket).flatMap(({ isOurs, session }) => (isOurs && session !== DESK ? [session] : []));

async function hooked(dashboard: DashboardFixture, pane: PaneId, session: string): Promise<number> {
  const [uuid, project_path] = [randomUUID(), "/work/project"];
  const { json } = await dashboard.call("POST", "/api/sessions", { session_uuid: uuid, project_path });
  await dashboard.hook("session-start", { session_id: session, headspace_session_id: uuid, tmux_pane: pane });
  return json["agent_id"] as number;
}

type Card = Readonly<Record<string, unknown>> & {
  readonly readiness: { readonly state: string } | null;
  readonly question: { readonly dialog_id: string; readonly options: readonly { readonly label: string }[] } | null;
};
async function cardOf(dashboard: DashboardFixture, id: number): Promise<Card | undefined> {
  const { json } = await dashboard.call("GET", "/api/agents");
  return (json["agents"] as readonly Card[]).find((card) => card["id"] === id);
}

interface Scene extends AsyncDisposable {
  readonly socket: PrivateSocket;
  readonly dashboard: DashboardFixture;
  readonly events: EventReader;
  readonly pane: PaneId;
  readonly channel: AgentChannel;
}

/** One agent in a session of its own, and a person elsewhere. */
async function scene(program: AgentName, options: Readonly<Record<string, string | number>> = {}): Promise<Scene> {
  const stack: AsyncDisposable[] = [];
  let [channel, pane]: [AgentChannel | undefined, PaneId | undefined] = [undefined, undefined];
  const fixture = await guestFixture(
    async (socket) => {
      userSession(socket, DESK);
      stack.unshift(await userClient(socket, DESK));
      channel = await AgentChannel.open(socket.directory);
      stack.push(channel);
      pane = userSession(socket, "work", channel.argv(program, options));
      await channel.next("ready");
    },
    { idleMs: IDLE_MS },
  );
  const dashboard = await dashboardFixture(fixture.server);
  stack.unshift(dashboard, fixture);
  return {
    socket: fixture.socket,
    dashboard,
    events: await dashboard.events(),
    pane: pane!,
    channel: channel!,
    [Symbol.asyncDispose]: async () => {
      for (const one of stack) await one[Symbol.asyncDispose]();
    },
  };
}

test("sixty agents with hooks: no client is on their sessions", async () => {
  const panes: PaneId[] = [];
  await using fixture = await guestFixture((socket) => {
    userSession(socket, DESK);
    for (let made = 0; made < 60; made += 1) panes.push(userSession(socket, `a${made}`));
  });
  const { server, socket } = fixture;
  await using person = await userClient(socket, DESK);
  expect(person).toBeDefined();
  await using dashboard = await dashboardFixture(server, {
    availability: { level: "exists", programs: new Set(["cat"]) },
  });
  const ids: number[] = [];
  for (const [at, pane] of panes.entries()) ids.push(await hooked(dashboard, pane, `s${at}`));
  await Promise.all(ids.map((_id, at) => dashboard.hook("user-prompt-submit", { session_id: `s${at}`, prompt: "go" })));
  for (const id of ids) await eventually(async () => (await cardOf(dashboard, id))?.readiness?.state === "busy");
  // Each has been captured: what a card needs has been asked for.
  socket.tmux("send-keys", "-t", panes[0]!, "something", "Enter");
  expect(attached(socket).filter(({ isOurs }) => isOurs).length).toBe(1);
});

test("a dialog that its hook tells of is in the card, and its answer at the terminal is noticed", async () => {
  await using at = await scene("dialog", { busyMs: 0 });
  const { dashboard, events, channel, socket } = at;
  const id = await hooked(dashboard, at.pane, "s1");
  await dashboard.hook("user-prompt-submit", { session_id: "s1", prompt: "go" });
  const from = events.events.length;
  await dashboard.hook("permission-request", { session_id: "s1", tool_name: "Bash", tool_input: { command: "ls" } });
  await channel.tell("ask", { kind: "permission" });
  const shownBy = await events.next(
    ({ event, data: { question } }) => event === "card_refresh" && (question as Card["question"])?.dialog_id != null,
    from,
  );
  expect((shownBy.data["question"] as Card["question"])!.options.length).toBeGreaterThan(1);
  expect(followed(socket)).toEqual([]);
  const shown = events.events.length;
  socket.tmux("send-keys", "-t", at.pane, "1");
  await channel.next("answer");
  // Its program is idle then, and no hook says so.
  await events.next(({ event, data }) => event === "state_changed" && data["new_state"] === "COMPLETE", shown);
  expect((await cardOf(dashboard, id))?.question).toBeNull();
  expect(followed(socket)).toEqual([]);
});

test("a dialog that no hook tells of is found, and answered by its id while the pane is followed for that", async () => {
  await using at = await scene("dialog", { busyMs: 0 });
  const { dashboard, events, channel, socket } = at;
  const id = await hooked(dashboard, at.pane, "s1");
  await dashboard.hook("user-prompt-submit", { session_id: "s1", prompt: "go" });
  await channel.tell("ask", { kind: "permission" });
  await eventually(async () => (await cardOf(dashboard, id))?.question?.dialog_id != null);
  const { question } = (await cardOf(dashboard, id))!;
  expect(followed(socket)).toEqual([]);
  const { json } = await dashboard.respond(id, { mode: "select", option_index: 0, dialog_id: question!.dialog_id });
  expect(json).toMatchObject({ status: "ok", new_state: "processing" });
  await channel.next("answer");
  await events.next(({ data: { event_type } }) => event_type === "respond");
  // Nobody follows it any more.
  await eventually(() => followed(socket).length === 0);
});

test("without hooks the pane is followed, and no longer once they report", async () => {
  await using at = await scene("inkPrompt");
  const { dashboard, socket } = at;
  const uuid = randomUUID();
  await dashboard.call("POST", "/api/sessions", {
    session_uuid: uuid,
    project_path: "/work/project",
    tmux_pane_id: at.pane,
  });
  await eventually(() => followed(socket).length === 1);
  expect(followed(socket)).toEqual(["work"]);
  await dashboard.hook("session-start", { session_id: "s1", headspace_session_id: uuid, tmux_pane: at.pane });
  await eventually(() => followed(socket).length === 0);
});
