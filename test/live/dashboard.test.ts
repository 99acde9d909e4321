/** The dashboard on a user's own tmux server with programs that behave as agents do (docs/contracts/dashboard.md §6). */
import { describe, expect, test } from "vitest";
import { type GuestAgent, guestAgent } from "../support/agents/agentPrograms.ts";
import { type DashboardFixture, dashboardFixture, type EventReader, UUID } from "../support/daemon/dashboardFixture.ts";
import { AGENT, ask, atWork } from "../support/daemon/dashboardTurns.ts";
import { eventually } from "../support/clock/eventually.ts";
import { guestFixture, paneOf, userSession } from "../support/tmux/guestFixture.ts";

/** The card, once the options of a dialog are in it. */
const withOptions = (events: EventReader, from = 0) =>
  events.next(({ event, data }) => {
    const question = data["question"] as { options?: unknown[] } | null | undefined;
    return event === "card_refresh" && (question?.options?.length ?? 0) > 0;
  }, from);

async function dialogCard(agent: GuestAgent, dashboard: DashboardFixture, kind = "permission") {
  const events = await atWork(dashboard, agent.pane);
  await agent.channel.tell("busy");
  const tool = { session_id: "s1", tool_name: "Bash", tool_input: { command: "rm -rf build" } };
  await dashboard.hook("permission-request", tool);
  await agent.channel.tell("ask", { kind });
  return withOptions(events);
}

describe("a permission dialog", () => {
  test("comes with its options into the card, and a number runs the tool once", async () => {
    await using agent = await guestAgent("dialog", { options: { busyMs: 0 } });
    await using dashboard = await dashboardFixture(agent.server);
    const card = await dialogCard(agent, dashboard);
    expect(card.data["question"]).toMatchObject({
      text: "Bash: rm -rf build",
      kind: "select",
      options: [
        { index: 0, number: "1" },
        { index: 1, number: "2" },
        { index: 2, number: "3" },
      ],
      other_index: 2,
    });
    const answered = await dashboard.respond(AGENT, { text: "1" });
    expect(answered.json).toMatchObject({ status: "ok", mode: "text", new_state: "processing" });
    await agent.channel.next("tool");
    expect(agent.channel.count("tool")).toBe(1);
  });

  test("free text goes through its own way, and runs no tool", async () => {
    await using agent = await guestAgent("dialog", { options: { busyMs: 0 } });
    await using dashboard = await dashboardFixture(agent.server);
    await dialogCard(agent, dashboard);
    const { status, json } = await dashboard.respond(AGENT, { text: "yes, but on a branch; y 1" });
    expect([status, json["status"]]).toEqual([200, "ok"]);
    await agent.channel.next("answer");
    expect(agent.channel.count("tool")).toBe(0);
    expect(JSON.stringify(agent.channel.log)).toContain("yes, but on a branch; y 1");
  });

  test("answered at the program itself, the card is cleared without a hook", async () => {
    await using agent = await guestAgent("dialog", { options: { busyMs: 0 } });
    await using dashboard = await dashboardFixture(agent.server);
    const card = await dialogCard(agent, dashboard);
    const events = await dashboard.events(`?last_event_id=${card.id}`);
    agent.person.type("1");
    const state = await events.next("state_changed");
    expect(state.data).toMatchObject({ event_type: "readiness", new_state: "PROCESSING" });
    const late = await dashboard.respond(AGENT, { text: "1" });
    expect([late.status, late.json["error_type"]]).toEqual([409, "wrong_state"]);
  });

  test("a list of its own with several choices is answered by index", async () => {
    await using agent = await guestAgent("dialog", { options: { busyMs: 0 } });
    await using dashboard = await dashboardFixture(agent.server);
    const card = await dialogCard(agent, dashboard, "multi");
    expect(card.data["question"]).toMatchObject({ kind: "multi_select" });
    const body = { mode: "multi_select", answers: [{ option_indices: [0, 2] }] };
    const { status } = await dashboard.respond(AGENT, body);
    expect(status).toBe(200);
    const answer = await agent.channel.next("answer");
    expect(answer["answers"]).toBeDefined();
  });
});

const TEXTS: readonly (readonly [string, string])[] = [
  ["a dash", "-foo --bar"],
  ["a semicolon", "a; b;"],
  ["quotes", `"double" 'single' \`back\` $(no) \\ #{pane_id}`],
  ["emoji", "naïve 😀👩‍👩‍👧 日本語"],
  ["7 lines", Array.from({ length: 7 }, (_line, index) => `line ${index + 1} -x;`).join("\n")],
  ["40 lines", Array.from({ length: 40 }, (_line, index) => `line ${index + 1} of forty`).join("\n")],
  // As Claude Code shows it: drawn in full, it would keep the fixture's Ink from anything else for more than 8 s.
  ["100 KB", `${"0123456789abcdef ".repeat(6_020)}end`],
];

describe("text in a prompt box", () => {
  test("arrives exactly and once, whatever it is", async () => {
    await using agent = await guestAgent("inkPrompt", {
      options: { busyMs: 20, placeholderLines: 7, placeholderChars: 10_000 },
    });
    await using dashboard = await dashboardFixture(agent.server);
    await atWork(dashboard, agent.pane);
    for (const [name, text] of TEXTS) {
      const from = agent.channel.log.length;
      await ask(dashboard);
      const { status, json } = await dashboard.respond(AGENT, { text });
      expect([name, status, json["delivery"]]).toEqual([name, 200, "submitted"]);
      await agent.channel.next("submit", from);
      expect([name, agent.channel.submits(from)]).toEqual([name, [text]]);
      await agent.channel.next((entry) => entry.event === "state" && entry.state === "idle", from);
    }
  });

  test("several lines for a program without bracketed paste are refused, and nothing of them is typed", async () => {
    const reader = `process.stdin.setRawMode(true); process.stdout.write("ready");
      process.stdin.on("data", (bytes) => process.stdout.write(JSON.stringify(String(bytes))))`;
    await using guest = await guestFixture((socket) => {
      userSession(socket, "reader", [process.execPath, "-e", reader]);
    });
    await using dashboard = await dashboardFixture(guest.server);
    const pane = paneOf(guest.server, "reader");
    const screen = async () => (await guest.server.capture(pane)).lines.join("");
    await eventually(async () => (await screen()) === "ready");
    await atWork(dashboard, pane);
    await ask(dashboard);
    for (const text of ["one\ntwo", "a\tb"]) {
      const { status, json } = await dashboard.respond(AGENT, { text });
      expect([status, json]).toEqual([
        400,
        {
          status: "error",
          error_type: "invalid_text",
          message:
            "The agent's program takes no pasted text, so each line end would send a part of it. Send one line without tabs.",
          latency_ms: expect.any(Number) as number,
        },
      ]);
    }
    expect(await screen()).toBe("ready");
    expect((await dashboard.respond(AGENT, { text: "one" })).status).toBe(200);
    await eventually(async () => (await screen()) === 'ready"one""\\r"');
  });

  test("of two answers at once, one arrives and the other is refused, and they never mix", async () => {
    await using agent = await guestAgent("inkPrompt", { options: { busyMs: 0 } });
    await using dashboard = await dashboardFixture(agent.server);
    await atWork(dashboard, agent.pane);
    await ask(dashboard);
    const answers = await Promise.all(["one", "two"].map((text) => dashboard.respond(AGENT, { text })));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
    const accepted = answers[0]?.status === 200 ? "one" : "two";
    await agent.channel.next("submit");
    expect(agent.channel.submits()).toEqual([accepted]);
  });

  test("a pane in copy mode is brought back, and gets the answer", async () => {
    await using agent = await guestAgent("inkPrompt", { options: { busyMs: 0 } });
    await using dashboard = await dashboardFixture(agent.server);
    await atWork(dashboard, agent.pane);
    await ask(dashboard);
    agent.socket.tmux("copy-mode", "-t", agent.pane);
    const { status } = await dashboard.respond(AGENT, { text: "after copy mode" });
    expect(status).toBe(200);
    await agent.channel.next("submit");
    expect(agent.channel.submits()).toEqual(["after copy mode"]);
  });
});

describe("what is gone", () => {
  const until = (events: EventReader, from: number) =>
    events.next(({ event, data }) => event === "commander_availability" && data["available"] === false, from);

  test.each<[string, (agent: GuestAgent) => void]>([
    ["the program has ended", (agent) => void agent.channel.tell("exit", { status: 3 })],
    ["the pane was killed", (agent) => agent.socket.tmux("kill-pane", "-t", agent.pane)],
    ["the session was killed", (agent) => agent.socket.tmux("kill-session", "-t", "agent")],
  ])("%s: it is reported at once, and an answer is refused", async (_name, end) => {
    await using agent = await guestAgent("inkPrompt");
    userSession(agent.socket, "other");
    await using dashboard = await dashboardFixture(agent.server);
    const events = await atWork(dashboard, agent.pane);
    await ask(dashboard);
    const from = events.events.length;
    end(agent);
    expect((await until(events, from)).data).toMatchObject({ agent_id: AGENT });
    // A program may be seen to have ended before tmux closes its pane.
    await eventually(() => agent.server.findPane(agent.pane) === undefined);
    const { status, json } = await dashboard.respond(AGENT, { text: "x" });
    expect([status, json]).toMatchObject([
      503,
      {
        status: "error",
        error_type: "pane_not_found",
        message: `The agent's pane ${agent.pane} is gone: its window was closed or its program has ended.`,
      },
    ]);
    const available = await dashboard.call("GET", `/api/respond/${AGENT}/availability`);
    expect(available.json).toEqual({ status: "ok", agent_id: AGENT, commander_available: false });
  });

  test("the tmux server: told, refused in other words, and its pane ids mean nothing on the next one", async () => {
    await using agent = await guestAgent("inkPrompt");
    await using dashboard = await dashboardFixture(agent.server);
    const events = await atWork(dashboard, agent.pane);
    await ask(dashboard);
    const from = events.events.length;
    agent.socket.tmux("kill-server");
    await until(events, from);
    const gone = await dashboard.respond(AGENT, { text: "x" });
    expect([gone.status, gone.json["error_type"]]).toEqual([503, "tmux_not_running"]);
    const told = await events.next("server_gone", from);
    const since = told.data["since_unix_ms"];
    expect(Date.now() - Number(since)).toBeLessThan(60_000);
    expect((await dashboard.call("GET", "/api/agents")).json["gone_since_unix_ms"]).toBe(since);
    // Another program has the same pane id now.
    const pane = userSession(agent.socket, "agent", ["cat"]);
    expect(pane).toBe(agent.pane);
    await eventually(() => agent.server.status().state === "ready" && agent.server.findPane(pane) !== undefined);
    await events.next(({ event, data }) => event === "server_gone" && data["since_unix_ms"] === null, from);
    expect((await dashboard.call("GET", "/api/agents")).json).not.toHaveProperty("gone_since_unix_ms");
    const other = await dashboard.respond(AGENT, { text: "x" });
    expect([other.status, other.json["error_type"], other.json["message"]]).toEqual([
      503,
      "pane_not_found",
      `tmux was restarted since the agent told of its pane ${pane}, which is gone. Start the agent again.`,
    ]);
    expect((await agent.server.capture(pane)).lines.join("")).toBe("");
    // A hook from there says that it is its pane now.
    await dashboard.hook("session-start", { session_id: "s1", tmux_pane: pane, source: "resume" });
    const { json } = await dashboard.call("GET", "/api/agents");
    expect(json["agents"]).toMatchObject([{ agent_id: AGENT, tmux_pane_id: pane }]);
  });

  test("tmux itself", async () => {
    await using guest = await guestFixture(() => undefined, { tmux: "/no/such/tmux" });
    await using dashboard = await dashboardFixture(guest.server);
    await dashboard.call("POST", "/api/sessions", { session_uuid: UUID, project_path: "/p", tmux_pane_id: "%0" });
    await dashboard.hook("session-start", { session_id: "s1", headspace_session_id: UUID });
    await dashboard.hook("user-prompt-submit", { session_id: "s1", prompt: "go" });
    await ask(dashboard);
    const { status, json } = await dashboard.respond(AGENT, { text: "x" });
    expect([status, json["error_type"]]).toEqual([503, "tmux_not_installed"]);
    expect((await dashboard.call("GET", "/api/agents")).json).toHaveProperty("gone_since_unix_ms");
  });
});

test("a pane of another tmux server is not taken for the one with its id here", async () => {
  await using agent = await guestAgent("inkPrompt");
  await using dashboard = await dashboardFixture(agent.server);
  const own = agent.socket.tmux("display-message", "-p", "-t", agent.pane, "#{socket_path},#{pid},0").trim();
  const start = (session: string, tmux: string) =>
    dashboard.hook("session-start", { session_id: session, cwd: "/" }, { "x-tmux-pane": agent.pane, "x-tmux": tmux });
  expect((await start("elsewhere", "/tmp/other,1,0")).status).toBe(404);
  expect((await start("here", own)).json).toMatchObject({ status: "ok", correlation_method: "created" });
  const { json } = await dashboard.call("GET", "/api/agents");
  expect(json["agents"]).toMatchObject([{ tmux_pane_id: agent.pane, tmux_session: "agent", project_path: "/" }]);
});

describe("the live pane", () => {
  test("is streamed from a snapshot, and takes raw keystrokes, without being resized", async () => {
    await using agent = await guestAgent("inkPrompt", { cols: 90, rows: 20 });
    await using dashboard = await dashboardFixture(agent.server);
    await atWork(dashboard, agent.pane);
    const size = agent.socket.tmux("display-message", "-p", "-t", agent.pane, "#{pane_width}x#{pane_height}");
    const abort = new AbortController();
    const response = await fetch(`${dashboard.url}/api/agents/${AGENT}/pane/stream`, { signal: abort.signal });
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    let text = "";
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk as Uint8Array).toString("latin1");
    })().catch(() => undefined);
    await eventually(() => text.includes("event: snapshot"));
    for (const [place, body] of [
      { text: "hello?" },
      { text: "\u007f" },
      { text: "!" },
      { keys: ["Enter"] },
    ].entries()) {
      const typed = await dashboard.call("POST", `/api/agents/${AGENT}/input`, body);
      expect(typed.json).toEqual({ status: "ok", agent_id: AGENT });
      await eventually(() => agent.channel.count("read") > place || agent.channel.count("submit") > 0);
    }
    await agent.channel.next("submit");
    expect(agent.channel.submits()).toEqual(["hello!"]);
    await eventually(() => text.includes("event: output"));
    expect(agent.socket.tmux("display-message", "-p", "-t", agent.pane, "#{pane_width}x#{pane_height}")).toBe(size);
    abort.abort();
    await reading;
    for (const body of [{}, { keys: ["Zap"] }, { keys: [] }, { text: "" }]) {
      expect((await dashboard.call("POST", `/api/agents/${AGENT}/input`, body)).status).toBe(400);
    }
  });
});
