/** The eight hooks row by row (docs/contracts/dashboard.md §3): what is refused, what each does. */
import { describe, expect, test } from "vitest";
import { HOOKS } from "../../adapters/dashboard/hooks/hookNames.ts";
import { DASHBOARD_SETTINGS } from "../support/daemon/dashboardFixture.ts";
import { eachHasScene, scene } from "../support/daemon/dashboardScene.ts";

eachHasScene();

describe("refusals", () => {
  test.each(HOOKS)("%s: every error has the contract's message", async (name) => {
    const post = (body: string, headers: Record<string, string>) =>
      scene.dashboard.call("POST", `/hook/${name}`, body, headers);
    const json = { "content-type": "application/json" };
    for (const [body, headers, message] of [
      ["{}", { "content-type": "text/plain" }, "Content-Type must be application/json"],
      [
        "session_id=s1",
        { "content-type": "application/x-www-form-urlencoded" },
        "Content-Type must be application/json",
      ],
      ["{", json, "Invalid JSON payload"],
      ["null", json, "Invalid JSON payload"],
      ["{}", json, "Missing required fields: session_id"],
      ["[]", json, "Missing required fields: session_id"],
      ['{"session_id":""}', json, "Missing required fields: session_id"],
      ['{"session_id":5}', json, "Missing required fields: session_id"],
    ] as const) {
      const { status, json: answer } = await post(body, headers);
      expect([body, status, answer]).toEqual([body, 400, { status: "error", message }]);
    }
    expect((await scene.dashboard.call("GET", `/hook/${name}`)).status).toBe(405);
    const dropped = await scene.hook(name, { session_id: "unknown" });
    expect([dropped.status, dropped.json]).toEqual([404, { status: "dropped", message: "Session correlation failed" }]);
  });

  test("an invalid name and an invalid directory are refused", async () => {
    expect((await scene.hook("zap")).status).toBe(404);
    const { status, json } = await scene.hook("session-start", { working_directory: "/no/such/directory" });
    expect([status, json]).toEqual([400, { status: "error", message: "working_directory is not a valid directory" }]);
    const asCwd = await scene.hook("session-start", { cwd: "/no/such/directory" });
    expect(asCwd.status).toBe(404);
  });

  test("disabled hooks are ignored, whatever they contain", async () => {
    await using off = await scene.another({ settings: { ...DASHBOARD_SETTINGS, hooksEnabled: false } });
    for (const name of HOOKS) {
      const { status, json } = await off.call("POST", `/hook/${name}`, "{", { "content-type": "text/plain" });
      expect([status, json]).toEqual([200, { status: "ignored", reason: "hooks_disabled" }]);
    }
    expect((await off.call("GET", "/hook/status")).json).toMatchObject({ enabled: false, events_received: 0 });
  });
});

test("status reports the received hooks", async () => {
  const before = await scene.dashboard.call("GET", "/hook/status");
  expect(before.json).toEqual({
    enabled: true,
    mode: "polling_fallback",
    last_event_at: null,
    last_event_ago: null,
    last_event_type: null,
    events_received: 0,
    polling_interval: 0,
    config: { polling_interval_with_hooks: 0, polling_interval_fallback: 0, fallback_timeout: 300 },
  });
  await scene.register();
  await scene.hook("stop");
  expect((await scene.dashboard.call("GET", "/hook/status")).json).toMatchObject({
    mode: "hooks_active",
    last_event_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
    last_event_ago: "0s ago",
    last_event_type: "stop",
    events_received: 2,
  });
});

describe("effects", () => {
  test("session-start returns the state and stores the pane", async () => {
    const agentId = await scene.register({ pane: undefined });
    const { json } = await scene.hook("session-start", { tmux_pane: scene.pane });
    expect(json).toEqual({
      status: "ok",
      agent_id: agentId,
      is_new_agent: false,
      correlation_method: "session_id",
      state: "idle",
    });
    expect(await scene.card(agentId)).toMatchObject({ state: "IDLE", tmux_pane_id: scene.pane });
  });

  test("a prompt, a turn's end, a session's end", async () => {
    const agent_id = await scene.register();
    expect((await scene.hook("user-prompt-submit", { prompt: "build it" })).json).toEqual({
      status: "ok",
      agent_id,
      state: "processing",
      state_changed: true,
    });
    expect(await scene.card(agent_id)).toMatchObject({ state: "PROCESSING", task_instruction: "build it" });
    expect((await scene.hook("stop")).json).toEqual({ status: "ok", agent_id, state: "complete", state_changed: true });
    expect(await scene.card(agent_id)).toMatchObject({ state: "COMPLETE" });
    expect((await scene.hook("stop")).json).toEqual({ status: "ok", agent_id, state: null, state_changed: false });
    expect((await scene.hook("session-end")).json).toEqual({ status: "ok", agent_id, state: "complete" });
  });

  test.each(["<system-reminder>x</system-reminder>", "<task-notification>done</task-notification>"])(
    "%s is no prompt",
    async (prompt) => {
      const agent_id = await scene.register();
      const { json } = await scene.hook("user-prompt-submit", { prompt });
      expect(json).toEqual({ status: "ok", agent_id, state: null, state_changed: false });
      expect(await scene.card(agent_id)).toMatchObject({ state: "IDLE" });
    },
  );

  test.each([
    ["AskUserQuestion", { questions: [{ question: "Which?", options: [{ label: "A" }, { label: "B" }] }] }, "Which?"],
    ["ExitPlanMode", { plan: "…" }, "Approve plan and proceed?"],
  ])("%s opens a question, which only its own end answers", async (tool_name, tool_input, text) => {
    const agent_id = await scene.working();
    const asked = await scene.hook("pre-tool-use", { tool_name, tool_input });
    expect(asked.json).toEqual({ status: "ok", agent_id, state_changed: true, new_state: "AWAITING_INPUT" });
    expect(await scene.card(agent_id)).toMatchObject({ state: "AWAITING_INPUT", question: { text } });
    // The permission dialog of the same tool is no other question.
    expect((await scene.hook("permission-request", { tool_name })).json).toMatchObject({ state_changed: false });
    // A turn's end while a question is open leaves it open.
    expect((await scene.hook("stop")).json).toEqual({
      status: "ok",
      agent_id,
      state: "AWAITING_INPUT",
      state_changed: false,
    });
    const other = await scene.hook("post-tool-use", { tool_name: "Bash" });
    expect(other.json).toEqual({ status: "ok", agent_id, state_changed: false, new_state: "awaiting_input" });
    const own = await scene.hook("post-tool-use", { tool_name });
    expect(own.json).toEqual({ status: "ok", agent_id, state_changed: true, new_state: "processing" });
    expect(await scene.card(agent_id)).toMatchObject({ state: "PROCESSING", question: null });
  });

  test("other tools do nothing", async () => {
    const agent_id = await scene.working();
    const before = await scene.hook("pre-tool-use", { tool_name: "Bash", tool_input: { command: "ls" } });
    expect(before.json).toEqual({ status: "ok", agent_id, state_changed: false, new_state: null });
    const after = await scene.hook("post-tool-use", { tool_name: "Bash" });
    expect(after.json).toEqual({ status: "ok", agent_id, state_changed: false, new_state: "processing" });
  });

  test("a permission request asks a question that a person can decide", async () => {
    const agent_id = await scene.working();
    const { json } = await scene.hook("permission-request", {
      tool_name: "Bash",
      tool_input: { command: "rm  -rf\nbuild" },
    });
    expect(json).toEqual({ status: "ok", agent_id, state_changed: true, new_state: "AWAITING_INPUT" });
    expect(await scene.card(agent_id)).toMatchObject({
      state: "AWAITING_INPUT",
      question: { text: "Bash: rm -rf build", kind: "select", options: [] },
    });
    expect(scene.reported.at(-1)).toBe("asking");
  });

  test("a permission request without a tool asks in its own words", async () => {
    const agent_id = await scene.working();
    // As Gemini CLI writes it.
    const message = "Tool Confirm Shell Command requires execution";
    const details = { type: "exec", title: "Confirm Shell Command", command: "touch x1", rootCommand: "touch" };
    await scene.hook("permission-request", { notification_type: "ToolPermission", message, details });
    expect(await scene.card(agent_id)).toMatchObject({ question: { text: `${message}: touch x1` } });
  });

  test.each([
    ["hook", "processing"],
    ["title", "awaiting_input"],
  ] as const)(
    "a question without a tool, which a %s tells of, and the end of a tool: %s",
    async (source, new_state) => {
      await scene.working();
      await scene.hook("permission-request", { message: "Run: ls" });
      scene.shows("asking", undefined, "copilot", source);
      expect((await scene.hook("post-tool-use", { tool_name: "Bash" })).json).toMatchObject({ new_state });
    },
  );

  test("other agents' names for a session and for what was said last", async () => {
    const agent_id = await scene.working();
    const { json } = await scene.hook("permission-request", { session_id: null, sessionId: "s1", message: "Run: ls" });
    expect(json).toMatchObject({ agent_id, new_state: "AWAITING_INPUT" });
    expect(await scene.card(agent_id)).toMatchObject({ question: { text: "Run: ls" } });
    await scene.hook("post-tool-use");
    await scene.hook("stop", { prompt_response: "all done" });
    expect(await scene.card(agent_id)).toMatchObject({ state: "COMPLETE", task_completion_summary: "all done" });
  });

  test("a notification asks while the agent works, and only then", async () => {
    const agent_id = await scene.register();
    const notify = (message: string) => scene.hook("notification", { message });
    const unchanged = { status: "ok", agent_id, state_changed: false, new_state: null };
    expect((await notify("Claude is waiting for your input")).json).toEqual(unchanged);
    await scene.prompt("go");
    expect((await notify("Interruption detected")).json).toEqual(unchanged);
    expect((await notify("Claude is waiting for your input")).json).toEqual({
      ...unchanged,
      state_changed: true,
      new_state: "AWAITING_INPUT",
    });
    expect((await notify("Claude is waiting for your input")).json).toEqual(unchanged);
    expect(await scene.card(agent_id)).toMatchObject({
      question: { text: "Claude is waiting for your input", kind: "text" },
    });
    // In its prompt box: nothing that refuses text.
    expect(scene.reported).not.toContain("asking");
  });

  test("the next prompt at the program itself answers the question", async () => {
    const agentId = await scene.asking();
    expect((await scene.hook("user-prompt-submit", { prompt: "typed by hand" })).json).toMatchObject({
      state: "processing",
      state_changed: true,
    });
    const { json } = await scene.dashboard.call("GET", `/api/agents/${agentId}/turns`);
    const turns = json["turns"] as Record<string, unknown>[];
    expect(turns.map(({ actor, intent, text }) => [actor, intent, text])).toEqual([
      ["user", "answer", "typed by hand"],
      ["agent", "question", "Claude is waiting for your input"],
      ["user", "command", "go"],
    ]);
    expect(turns[0]?.["answers_turn_id"]).toBe(turns[1]?.["turn_id"]);
  });
});

describe("the hook that reports our own answer", () => {
  const echo = { status: "ok", state: null, state_changed: false };
  const answers = async (agentId: number) => {
    const { json } = await scene.dashboard.call("GET", `/api/agents/${agentId}/turns`);
    return (json["turns"] as Record<string, unknown>[]).filter((turn) => turn["intent"] === "answer").length;
  };

  test("is recognised by its text once, however late", async () => {
    const agentId = await scene.asking();
    await scene.dashboard.respond(agentId, { text: "go on" });
    expect((await scene.hook("user-prompt-submit", { prompt: "go on\n" })).json).toMatchObject(echo);
    expect(await answers(agentId)).toBe(1);
    expect((await scene.hook("user-prompt-submit", { prompt: "go on" })).json).toMatchObject({ state_changed: true });
  });

  test("does not hide the next real prompt, however soon", async () => {
    const agentId = await scene.asking();
    await scene.dashboard.respond(agentId, { text: "go on" });
    expect((await scene.hook("user-prompt-submit", { prompt: "something else" })).json).toMatchObject({
      state: "processing",
      state_changed: true,
    });
  });

  test("may come before the delivery has its result", async () => {
    const agentId = await scene.asking();
    const release = scene.holdSubmit();
    const answer = scene.dashboard.respond(agentId, { text: "go on" });
    await scene.untilSubmitted(1);
    expect((await scene.hook("user-prompt-submit", { prompt: "go on" })).json).toMatchObject(echo);
    expect(await scene.card(agentId)).toMatchObject({ state: "PROCESSING" });
    expect((await scene.hook("stop")).json).toMatchObject({ state: "complete" });
    release();
    expect((await answer).status).toBe(200);
    // What came after it stays.
    expect(await scene.card(agentId)).toMatchObject({ state: "COMPLETE" });
    expect(await answers(agentId)).toBe(1);
  });

  test("does not count as success if the delivery failed", async () => {
    const agentId = await scene.asking();
    const release = scene.holdSubmit("indeterminate");
    const answer = scene.dashboard.respond(agentId, { text: "go on" });
    await scene.untilSubmitted(1);
    await scene.hook("user-prompt-submit", { prompt: "go on" });
    release();
    expect((await answer).json).toMatchObject({ status: "ok", delivery: "submitted" });
  });
});

test("a prompt of 1 MB, every character of it escaped, is taken, and events carry its beginning", async () => {
  const agentId = await scene.register();
  const events = await scene.dashboard.events("?types=turn_created");
  const prompt = `${"\u0001".repeat(1_000_000)}end`;
  expect((await scene.hook("user-prompt-submit", { prompt })).status).toBe(200);
  const turn = await events.next("turn_created");
  expect(String(turn.data["text"]).length).toBeLessThanOrEqual(16_384);
  const { json } = await scene.dashboard.call("GET", `/api/agents/${agentId}/turns?limit=1`);
  expect((json["turns"] as { text: string }[])[0]?.text).toBe(prompt);
});
