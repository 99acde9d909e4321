/** The event stream (docs/contracts/dashboard.md §4): shapes, order, filters, replay, gaps, and how many may listen. */
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { databaseDirectory, dashboardFixture, type EventReader, UUID } from "../support/daemon/dashboardFixture.ts";
import { eachHasScene, scene } from "../support/daemon/dashboardScene.ts";
import { FakeClock } from "../support/clock/fakeClock.ts";

eachHasScene();

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

/** Everything after the last of these, in order. */
async function heard(events: EventReader, last: string, from = 0): Promise<readonly string[]> {
  await events.next(last, from);
  return events.names(from);
}

test("the stream begins with its headers and a heartbeat, and every frame has its id twice", async () => {
  const events = await scene.dashboard.events();
  expect([events.status, events.headers.get("content-type"), events.headers.get("cache-control")]).toEqual([
    200,
    "text/event-stream; charset=utf-8",
    "no-cache",
  ]);
  expect(events.headers.get("x-accel-buffering")).toBe("no");
  await scene.register();
  await events.next("card_refresh");
  expect(events.text.startsWith(": heartbeat\n\n")).toBe(true);
  for (const { id, data } of events.events) expect(data["_eid"]).toBe(id);
  const ids = events.events.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
});

test("a heartbeat is sent every 30 s", async () => {
  const clock = new FakeClock();
  await using quiet = await dashboardFixture(scene.server, { clock });
  const events = await quiet.events();
  const beats = () => events.text.split(": heartbeat\n\n").length - 1;
  await events.until(() => beats() === 1);
  clock.advanceMs(29_999);
  await quiet.call("GET", "/api/agents");
  expect(beats()).toBe(1);
  clock.advanceMs(1);
  await events.until(() => beats() === 2);
  clock.advanceMs(30_000);
  await events.until(() => beats() === 3);
});

describe("shapes and order", () => {
  test("a session is created and ended", async () => {
    const events = await scene.dashboard.events();
    const agentId = await scene.register();
    await events.next("commander_availability");
    expect(events.events[0]).toMatchObject({ event: "session_created" });
    expect(events.events[0]?.data).toEqual({
      agent_id: agentId,
      project_id: 1,
      session_uuid: UUID,
      timestamp: TIME,
      _eid: expect.any(Number) as number,
    });
    const available = await events.next("commander_availability");
    expect(available.data).toEqual({
      agent_id: agentId,
      project_id: 1,
      available: true,
      timestamp: TIME,
      _eid: available.id,
    });
    for (const reason of ["availability", "session_start"]) await events.next(({ data }) => data["reason"] === reason);
    const from = events.events.length;
    await scene.dashboard.hook("session-end", { session_id: "s1" });
    await events.next("session_ended", from);
    expect(events.names(from)).toEqual(["card_refresh", "state_changed", "session_ended"]);
    const state = await events.next("state_changed", from);
    expect(state.data).toMatchObject({ event_type: "session_end", new_state: "COMPLETE", message: "Session ended" });
  });

  test("a prompt: turn_created, card_refresh, state_changed", async () => {
    const agentId = await scene.register();
    const events = await scene.dashboard.events();
    await scene.prompt("build it");
    expect(await heard(events, "state_changed")).toEqual(["turn_created", "card_refresh", "state_changed"]);
    const [turn, card, state] = events.events;
    expect(turn?.data).toEqual({
      agent_id: agentId,
      project_id: 1,
      text: "build it",
      actor: "user",
      intent: "command",
      task_id: 1,
      turn_id: 1,
      timestamp: TIME,
      _eid: turn?.id,
    });
    expect(card?.data).toMatchObject({
      id: agentId,
      agent_id: agentId,
      project_id: 1,
      project_name: "project",
      project_path: "/work/project",
      session: UUID.slice(0, 8),
      session_uuid: UUID,
      state: "PROCESSING",
      is_active: true,
      elapsed: "<1m",
      last_seen: "<1m ago",
      priority: 50,
      reason: "user_prompt_submit",
      tmux_pane_id: scene.pane,
      tmux_session: "agent",
      question: null,
      last_delivery: null,
      readiness: { state: "unknown", source: "none", since_unix_ms: 0, profile: "generic" },
    });
    expect(state?.data).toEqual({
      agent_id: agentId,
      project_id: 1,
      project_name: "project",
      agent_session: UUID,
      event_type: "user_prompt_submit",
      new_state: "PROCESSING",
      message: "build it",
      timestamp: TIME,
      _eid: state?.id,
    });
  });

  test("a question: card_refresh, state_changed, turn_created with what it offers", async () => {
    await scene.working();
    const events = await scene.dashboard.events();
    const questions = [{ question: "Which?", options: [{ label: "A", description: "first" }, { label: "B" }] }];
    await scene.dashboard.hook("pre-tool-use", {
      session_id: "s1",
      tool_name: "AskUserQuestion",
      tool_input: { questions },
    });
    expect(await heard(events, "turn_created")).toEqual(["card_refresh", "state_changed", "turn_created"]);
    expect(events.events[0]?.data["question_options"]).toEqual({ questions, status: "pending" });
    expect(events.events[1]?.data).toMatchObject({ event_type: "pre_tool_use", new_state: "AWAITING_INPUT" });
    expect(events.events[2]?.data).toMatchObject({
      text: "Which?",
      actor: "agent",
      intent: "question",
      tool_input: { questions, status: "pending" },
    });
  });

  test("respond: card_refresh, state_changed, turn_created", async () => {
    const agentId = await scene.asking();
    const events = await scene.dashboard.events();
    await scene.dashboard.respond(agentId, { text: "yes" });
    expect(await heard(events, "turn_created")).toEqual(["card_refresh", "state_changed", "turn_created"]);
    const [card, state, turn] = events.events;
    expect(card?.data).toMatchObject({ state: "PROCESSING", reason: "respond" });
    expect(state?.data).toEqual({
      agent_id: agentId,
      project_id: 1,
      event_type: "respond",
      new_state: "PROCESSING",
      message: "User responded via dashboard",
      timestamp: TIME,
      _eid: state?.id,
    });
    expect(turn?.data).toMatchObject({ text: "yes", actor: "user", intent: "answer" });
  });

  test("availability is sent only when it changes", async () => {
    const agentId = await scene.register();
    const events = await scene.dashboard.events("?types=commander_availability,session_ended");
    await scene.prompt("one");
    await scene.dashboard.hook("stop", { session_id: "s1", tmux_pane: scene.pane });
    const session = scene.server.findSession("agent");
    if (session !== undefined) await scene.server.killSession(session.id);
    const gone = await events.next("commander_availability");
    expect(gone.data).toMatchObject({ agent_id: agentId, available: false });
    await scene.dashboard.hook("session-end", { session_id: "s1" });
    await events.next("session_ended");
    expect(events.names()).toEqual(["commander_availability", "session_ended"]);
  });
});

describe("filters", () => {
  const session = (uuid: string, path: string) =>
    scene.dashboard.call("POST", "/api/sessions", { session_uuid: uuid, project_path: path });

  test.each([
    ["?types=session_created", ["session_created", "session_created", "session_created"]],
    ["?types=session_created,%20card_refresh&agent_id=2", ["session_created", "card_refresh"]],
    ["?project_id=2", ["session_created", "card_refresh"]],
    ["?agent_id=1&types=session_created", ["session_created"]],
    ["?agent_id=x&types=session_created", ["session_created", "session_created", "session_created"]],
    ["?types=nothing", []],
  ])("%s", async (query, names) => {
    const events = await scene.dashboard.events(query);
    const all = await scene.dashboard.events();
    for (const [place, path] of ["/a", "/b", "/a"].entries()) await session(UUID.replace("0", String(place)), path);
    await all.until(() => all.events.length === 6);
    await events.until(() => events.events.length >= names.length);
    expect(events.names()).toEqual(names);
  });
});

describe("a reader that reconnects", () => {
  test.each(["header", "query"])("gets the missed events, by its %s", async (how) => {
    await scene.register();
    const events = await scene.dashboard.events();
    await scene.prompt("one");
    const last = await events.next("state_changed");
    events.close();
    await scene.prompt("two");
    const id = String(last.id);
    const back =
      how === "header"
        ? await scene.dashboard.events("", { "last-event-id": id })
        : await scene.dashboard.events(`?last_event_id=${id}`);
    expect(await heard(back, "state_changed")).toEqual(["turn_created", "card_refresh", "state_changed"]);
    expect(back.events.map((event) => event.id)).toEqual([last.id + 1, last.id + 2, last.id + 3]);
  });

  test("after more than 500 events gets a gap and continues from there", async () => {
    await scene.register();
    const events = await scene.dashboard.events();
    await scene.prompt("first");
    const first = await events.next("turn_created");
    for (let turn = 0; turn < 200; turn += 1) await scene.prompt(`turn ${turn}`);
    const { json } = await scene.dashboard.call("GET", "/api/agents");
    const newest = Number(json["last_event_id"]);
    const back = await scene.dashboard.events("", { "last-event-id": String(first.id) });
    await back.until(() => back.events.at(-1)?.id === newest);
    const [gap, next] = back.events;
    expect(gap).toMatchObject({ event: "gap", data: { from: first.id + 1, to: newest - 500, reason: "not_kept" } });
    expect([gap?.id, next?.id, back.events.length]).toEqual([newest - 500, newest - 499, 501]);
  });

  test("is told about a restart, and ids continue", async () => {
    using directory = databaseDirectory();
    const databasePath = `${directory.path}/d.db`;
    let last = 0;
    {
      await using before = await scene.another({ databasePath });
      const events = await before.events();
      await before.call("POST", "/api/sessions", { session_uuid: UUID, project_path: "/p" });
      last = (await events.next("card_refresh")).id;
    }
    await using after = await scene.another({ databasePath });
    const back = await after.events("", { "last-event-id": String(last) });
    const gap = await back.next("gap");
    expect(gap.id).toBeGreaterThan(last);
    await after.call("DELETE", `/api/sessions/${UUID}`);
    expect((await back.next("session_ended")).id).toBeGreaterThan(gap.id);
  });

  test("with an unknown id is told so", async () => {
    const back = await scene.dashboard.events("", { "last-event-id": "999999999" });
    const gap = await back.next("gap");
    expect(gap.data).toMatchObject({ from: null, reason: "unknown_id" });
  });
});

test("a reader that does not read loses events, is told so, and delays no other reader", async () => {
  await using small = await scene.another({ streamBounds: { bufferBytes: 20_000 } });
  await small.call("POST", "/api/sessions", { session_uuid: UUID, project_path: "/p" });
  await small.hook("session-start", { session_id: "s1", headspace_session_id: UUID });
  const { connect } = await import("node:net");
  const slow = connect(small.port, "127.0.0.1");
  slow.pause();
  slow.write(`GET /api/events/stream HTTP/1.1\r\nHost: 127.0.0.1:${small.port}\r\n\r\n`);
  const brisk = await small.events();
  const text = "x".repeat(15_000);
  // More than sockets of this machine hold.
  for (let turn = 1; turn <= 700; turn += 1) {
    await small.hook("user-prompt-submit", { session_id: "s1", prompt: text });
    // It keeps up, however slow the machine is.
    await brisk.until(() => brisk.events.length >= turn * 3);
  }
  expect(brisk.names()).not.toContain("gap");
  let received = "";
  const told = new Promise<void>((resolve) => {
    slow.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
      if (received.includes("event: gap")) resolve();
    });
  });
  slow.resume();
  await told;
  slow.destroy();
});

test("100 readers are accepted, and the next one is told when to retry", async () => {
  const readers = await Promise.all(Array.from({ length: 100 }, () => scene.dashboard.events()));
  expect(readers.every(({ status }) => status === 200)).toBe(true);
  const refused = await fetch(`${scene.dashboard.url}/api/events/stream`);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await refused.text()).toContain("connection limit reached");
  readers[0]?.close();
  await readers[0]?.ended;
  const { eventually } = await import("../support/clock/eventually.ts");
  await eventually(async () => {
    const again = await scene.dashboard.events();
    return again.status === 200;
  });
});

describe("a page's WebSocket", () => {
  const openSocket = (query = "", headers: Record<string, string> = {}, url = scene.dashboard.url): WebSocket =>
    new WebSocket(`${url.replace(/^http/, "ws")}/api/page/events${query}`, { headers });
  const refusalOf = (socket: WebSocket): Promise<unknown> =>
    new Promise((resolve) => socket.once("error", ({ message }) => resolve(message)));

  test("has the stream's own bytes, from the event after the one that is named", async () => {
    await scene.register();
    const events = await scene.dashboard.events("?last_event_id=0");
    const first = await events.next("session_created");
    const text = events.text.slice(events.text.indexOf("\n\n", events.text.indexOf(`id: ${first.id}\n`)) + 2);
    const socket = openSocket(`?last_event_id=${first.id}`);
    const frames: string[] = [];
    socket.on("message", (data: Buffer, isBinary) => frames.push(isBinary ? "binary" : data.toString("utf8")));
    const { eventually } = await import("../support/clock/eventually.ts");
    await eventually(() => Promise.resolve(frames.join("") === `: heartbeat\n\n${text}`));
    // Each is one message.
    expect(frames.slice(1).map((frame) => frame.split("\n", 1)[0])).toEqual(
      events.events.filter(({ id }) => id > first.id).map(({ id }) => `id: ${id}`),
    );
    socket.terminate();
  });

  test("is refused to another site, and without the token", async () => {
    expect(await refusalOf(openSocket("", { origin: "http://example.org" }))).toMatch(/403/);
    await using guarded = await dashboardFixture(scene.server, { token: "s3cret" });
    expect(await refusalOf(openSocket("", {}, guarded.url))).toMatch(/401/);
    const allowed = openSocket("", { authorization: "Bearer s3cret" }, guarded.url);
    await once(allowed, "open");
    allowed.terminate();
  });

  test("stays open while its page sends nothing but answers to pings", async () => {
    const clock = new FakeClock();
    await using quiet = await dashboardFixture(scene.server, { clock });
    const socket = openSocket("", {}, quiet.url);
    await once(socket, "message");
    for (let turn = 1; turn <= 5; turn += 1) {
      const ping = once(socket, "ping");
      // No ping is sent before the one before was answered; a message gets 30 s.
      for (let isPinged = false; !isPinged && socket.readyState === socket.OPEN;) {
        clock.advanceMs(15_000);
        isPinged = await Promise.race([ping.then(() => true), quiet.call("GET", "/api/agents").then(() => false)]);
      }
      await quiet.call("GET", "/api/agents");
    }
    expect(socket.readyState).toBe(socket.OPEN);
    socket.terminate();
  });

  test("has a heartbeat that a page can see, expects no message, and ends with the daemon", async () => {
    const clock = new FakeClock();
    await using quiet = await dashboardFixture(scene.server, { clock });
    const [socket, talker] = [openSocket("", {}, quiet.url), openSocket("", {}, quiet.url)];
    await Promise.all([once(socket, "message"), once(talker, "message")]);
    const beat = once(socket, "message");
    clock.advanceMs(30_000);
    expect(String((await beat)[0])).toBe(": heartbeat\n\n");
    talker.send("hello");
    expect((await once(talker, "close"))[0]).toBe(1_008);
    const ended = once(socket, "close");
    quiet.end();
    expect((await ended)[0]).toBe(1_001);
  });
});
