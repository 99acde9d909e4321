/** `POST /api/respond/:id` row by row (docs/contracts/dashboard.md §2), with a delivery that says what it is told to say. */
import { describe, expect, test } from "vitest";
import type { DeliveryOutcome, SubmitRequest } from "../../daemon/delivery/delivery.ts";
import { AppError } from "../../protocol/errors.ts";
import { DASHBOARD_SETTINGS } from "../support/daemon/dashboardFixture.ts";
import { eachHasScene, failed, otherScene, scene } from "../support/daemon/dashboardScene.ts";

eachHasScene();

describe("an invalid body", () => {
  test.each<[unknown, string, string | RegExp]>([
    [{}, "missing_text", "Response text is required."],
    ["", "missing_text", "Response text is required."],
    ["[]", "missing_text", "Response text is required."],
    ["{", "missing_text", "Response text is required."],
    [{ text: " \n" }, "missing_text", "Response text is required."],
    [{ text: 5 }, "missing_text", "Response text is required."],
    [{ mode: "text" }, "missing_text", "Response text is required."],
    [{ mode: "other" }, "missing_text", "Text is required for 'other' mode."],
    [{ mode: "other", text: "  " }, "missing_text", "Text is required for 'other' mode."],
    [{ mode: "zap" }, "invalid_mode", "Invalid mode 'zap'. Must be 'text', 'select', 'other', or 'multi_select'."],
    [{ mode: 5 }, "invalid_mode", "Invalid mode '5'. Must be 'text', 'select', 'other', or 'multi_select'."],
    ...[undefined, null, -1, 1.5, true, "0"].map((index): [unknown, string, string] => [
      { mode: "select", option_index: index },
      "invalid_option_index",
      "option_index must be a non-negative integer.",
    ]),
    ...[undefined, [], {}, "x"].map((answers): [unknown, string, string] => [
      { mode: "multi_select", answers },
      "invalid_answers",
      "answers must be a non-empty array for 'multi_select' mode.",
    ]),
    [{ mode: "multi_select", answers: [5] }, "invalid_answers", "answers[0] must be an object."],
    ...[{}, { option_index: true }, { option_index: -1 }, { option_indices: [] }, { option_indices: ["0"] }].map(
      (bad): [unknown, string, string] => [
        { mode: "multi_select", answers: [{ option_index: 0 }, bad] },
        "invalid_answers",
        "answers[1] must have option_index (int >= 0) or option_indices (non-empty list).",
      ],
    ),
    [{ mode: "keys" }, "invalid_keys", "keys must be a list of 1 to 64 key names."],
    [{ mode: "keys", keys: ["Zap"] }, "invalid_keys", /'Zap' is no key/],
    [{ text: "a\0b" }, "invalid_text", /NUL/],
  ])("%j: %s", async (body, errorType, message) => {
    // Before the agent is looked for.
    const { status, json } = await scene.dashboard.respond(999, body);
    expect([status, json]).toEqual([400, failed(errorType, message)]);
  });
});

describe("the agent an answer is for", () => {
  test("an unknown agent", async () => {
    const { status, json } = await scene.dashboard.respond(999, { text: "x" });
    expect([status, json]).toEqual([404, failed("agent_not_found", "Agent with ID 999 not found.")]);
    const available = await scene.dashboard.call("GET", "/api/respond/999/availability");
    expect([available.status, available.json]).toEqual([
      404,
      failed("agent_not_found", "Agent with ID 999 not found."),
    ]);
  });

  test.each([
    ["POST", "/api/respond/abc", 404],
    ["POST", "/api/respond/", 404],
    ["POST", "/api/respond/-1", 404],
    ["GET", "/api/respond/1", 405],
    ["PUT", "/api/respond/1", 405],
    ["POST", "/api/respond/1/availability", 405],
  ])("%s %s: %i", async (method, path, status) => {
    expect((await scene.dashboard.call(method, path)).status).toBe(status);
  });

  test("no pane, whatever the state", async () => {
    const agentId = await scene.register({ pane: undefined });
    const { status, json } = await scene.dashboard.respond(agentId, { text: "x" });
    expect([status, json]).toEqual([400, failed("no_pane_id", "Agent has no tmux pane ID — cannot send input.")]);
  });

  test("an agent that does not wait", async () => {
    const agentId = await scene.register();
    const idle = await scene.dashboard.respond(agentId, { text: "x" });
    expect([idle.status, idle.json]).toEqual([
      409,
      failed("wrong_state", "Agent is not awaiting input (current state: no_task)."),
    ]);
    await scene.prompt("go");
    const busy = await scene.dashboard.respond(agentId, { text: "x" });
    expect([busy.status, busy.json]).toEqual([
      409,
      failed("wrong_state", "Agent is not awaiting input (current state: processing)."),
    ]);
  });

  test("a pane that never existed, on this tmux server or an earlier one", async () => {
    const agentId = await scene.register({ pane: "%77" });
    await scene.prompt("go");
    await scene.notify();
    const { status, json } = await scene.dashboard.respond(agentId, { text: "x" });
    expect([status, json]).toEqual([503, failed("pane_not_found", /pane %77 is gone/)]);
  });
});

describe("text in the prompt box", () => {
  test.each<[DeliveryOutcome]>([["submitted"], ["queued"]])("%s", async (outcome) => {
    const agentId = await scene.asking();
    scene.submits(outcome);
    const { status, json } = await scene.dashboard.respond(agentId, { text: "go on" });
    expect([status, json]).toEqual([
      200,
      {
        status: "ok",
        agent_id: agentId,
        mode: "text",
        new_state: "processing",
        latency_ms: expect.any(Number) as number,
        delivery: outcome,
      },
    ]);
    const addressee = { isAgent: true, programs: new Set(["claude"]) };
    expect(scene.submitted).toMatchObject([{ text: "go on", whileBusy: "queue", clearFirst: false, addressee }]);
    const card = await scene.card(agentId);
    expect(card).toMatchObject({
      state: "PROCESSING",
      question: null,
      last_delivery: { delivery: outcome, mode: "text" },
    });
  });

  test("uses the configured gap before Enter and empties the box first", async () => {
    const settings = { ...DASHBOARD_SETTINGS, clearFirst: true, gapMs: 345 };
    await otherScene({ settings });
    await scene.dashboard.respond(await scene.asking(), { text: "go on" });
    expect(scene.submitted).toMatchObject([{ clearFirst: true, gapMs: 345 }]);
  });

  test("the text is exact, including spaces at its ends", async () => {
    const agentId = await scene.asking();
    const text = "  -foo; \"q\" 'a' `x` $(y) 😀\n line two ;";
    await scene.dashboard.respond(agentId, { text });
    expect(scene.submitted[0]?.text).toBe(text);
  });

  test.each<[string, () => Promise<DeliveryOutcome>, number, string, RegExp]>([
    ["not echoed", () => Promise.resolve("not_echoed"), 502, "not_echoed", /Enter was not pressed/],
    ["lost on the way", () => Promise.resolve("indeterminate"), 502, "unknown", /may have arrived/],
    ["late", () => Promise.reject(new AppError("TIMEOUT", "x")), 502, "timeout", /in time/],
    ["refused by tmux", () => Promise.reject(new AppError("TMUX_COMMAND_FAILED", "x")), 502, "send_failed", /refused/],
    ["a bug", () => Promise.reject(new TypeError("secret")), 502, "unknown", /daemon's log/],
    [
      "too many",
      () => Promise.reject(new AppError("RESOURCE_LIMIT", "the pane is busy")),
      502,
      "send_failed",
      /The pane/,
    ],
    ["pane gone", () => Promise.reject(new AppError("NOT_FOUND", "x")), 503, "pane_not_found", /pane is gone/],
    [
      "no tmux",
      () => Promise.reject(new AppError("TMUX_UNAVAILABLE", "x", { details: { reason: "tmux_not_installed" } })),
      503,
      "tmux_not_installed",
      /Install tmux/,
    ],
    [
      "no server",
      () => Promise.reject(new AppError("CONNECTION_LOST", "x", { details: { reason: "tmux_not_running" } })),
      503,
      "tmux_not_running",
      /No tmux server/,
    ],
    [
      "a dialog in between",
      () => Promise.reject(new AppError("WRONG_STATE", "a dialog has opened", { details: { state: "asking" } })),
      409,
      "wrong_state",
      /A dialog has opened/,
    ],
  ])("%s: the state stays", async (_name, outcome, status, errorType, message) => {
    const agentId = await scene.asking();
    scene.submitsWith(outcome);
    const answer = await scene.dashboard.respond(agentId, { text: "x" });
    expect([answer.status, answer.json]).toEqual([
      status,
      { ...failed(errorType, message), latency_ms: expect.any(Number) as number },
    ]);
    expect(await scene.card(agentId)).toMatchObject({ state: "AWAITING_INPUT" });
  });

  test("of two answers at once, one is delivered and the other refused", async () => {
    const agentId = await scene.asking();
    const release = scene.holdSubmit();
    const first = scene.dashboard.respond(agentId, { text: "one" });
    await scene.untilSubmitted(1);
    const second = await scene.dashboard.respond(agentId, { text: "two" });
    expect([second.status, second.json]).toEqual([
      409,
      failed("wrong_state", "Agent is not awaiting input (current state: processing)."),
    ]);
    release();
    expect((await first).status).toBe(200);
    expect(scene.submitted.map(({ text }) => text)).toEqual(["one"]);
  });
});

describe("keys", () => {
  test("are sent to the pane in any state, and change no state", async () => {
    const agentId = await scene.working();
    const { status, json } = await scene.dashboard.respond(agentId, { mode: "keys", keys: ["Escape"] });
    expect([status, json]).toMatchObject([
      200,
      { status: "ok", agent_id: agentId, mode: "keys", new_state: "processing", delivery: "submitted" },
    ]);
    expect(scene.keys()).toEqual(["Escape"]);
  });
});

describe("the same answer again", () => {
  test("with its key gets the first result and types nothing", async () => {
    const agentId = await scene.asking();
    const first = await scene.dashboard.respond(agentId, { text: "one" }, "k1");
    const again = await scene.dashboard.respond(agentId, { text: "one" }, "k1");
    expect([again.status, again.json]).toEqual([200, first.json]);
    expect(scene.submitted).toHaveLength(1);
    const other = await scene.dashboard.respond(agentId, { text: "two" }, "k1");
    expect([other.status, other.json]).toMatchObject([409, failed("idempotency_conflict", /another answer/)]);
  });

  test("while the first is pending joins it", async () => {
    const agentId = await scene.asking();
    const release = scene.holdSubmit();
    const first = scene.dashboard.respond(agentId, { text: "one" }, "k1");
    await scene.untilSubmitted(1);
    const second = scene.dashboard.respond(agentId, { text: "one" }, "k1");
    release();
    expect((await second).json).toEqual((await first).json);
    expect(scene.submitted).toHaveLength(1);
  });

  test.each([["k1"], [undefined]])("after a failure that may have typed something (key %s)", async (key) => {
    const agentId = await scene.asking();
    scene.submits("not_echoed");
    const first = await scene.dashboard.respond(agentId, { text: "one" }, key);
    scene.submits("submitted");
    const again = await scene.dashboard.respond(agentId, { text: "one" }, key);
    expect([again.status, again.json]).toEqual([502, first.json]);
    expect(scene.submitted).toHaveLength(1);
    expect((await scene.dashboard.respond(agentId, { text: "another" })).status).toBe(200);
  });

  test("after a failure that typed nothing is performed", async () => {
    const agentId = await scene.asking();
    scene.submitsWith(() => Promise.reject(new AppError("CONNECTION_LOST", "x")));
    expect((await scene.dashboard.respond(agentId, { text: "one" }, "k1")).status).toBe(503);
    scene.submits("submitted");
    expect((await scene.dashboard.respond(agentId, { text: "one" }, "k1")).status).toBe(200);
    expect(scene.submitted.map(({ text }: SubmitRequest) => text)).toEqual(["one", "one"]);
  });
});
