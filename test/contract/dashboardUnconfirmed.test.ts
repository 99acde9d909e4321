/**
 * Answers of which nobody knows whether the program took them (`echoed_unconfirmed`): never called processing, kept in the
 * history, and settled by whatever tells of them later. And those that were stopped, because another program took the pane.
 */
import { expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { type EventReader, UUID } from "../support/daemon/dashboardFixture.ts";
import { eachHasScene, failed, scene } from "../support/daemon/dashboardScene.ts";

eachHasScene();

const told = (events: EventReader) =>
  events.events.map(({ event, data }) => `${event} ${String(data["reason"] ?? data["event_type"] ?? data["intent"])}`);

/** As the contract's page sends it. */
async function unconfirmed(text = "go on"): Promise<number> {
  const agentId = await scene.asking();
  scene.submits("echoed_unconfirmed");
  const { status, json } = await scene.dashboard.respond(agentId, { text });
  expect([status, json]).toMatchObject([
    200,
    { status: "ok", mode: "text", new_state: "awaiting_input", delivery: "echoed_unconfirmed" },
  ]);
  return agentId;
}

async function intents(agentId: number): Promise<readonly unknown[]> {
  const { json } = await scene.dashboard.call("GET", `/api/agents/${agentId}/turns`);
  return (json["turns"] as { readonly intent: string }[]).map(({ intent }) => intent);
}

test("the question stays open, and the history has the answer", async () => {
  const asking = scene.asking();
  const events = await scene.dashboard.events();
  const agentId = await asking;
  await events.next(({ data }) => data["intent"] === "question");
  events.events.length = 0;
  scene.submits("echoed_unconfirmed");
  await scene.dashboard.respond(agentId, { text: "go on" });
  await events.next("turn_created");
  expect(told(events)).toEqual(["card_refresh respond_unconfirmed", "turn_created answer"]);
  expect(await scene.card(agentId)).toMatchObject({
    state: "AWAITING_INPUT",
    question: { kind: "text" },
    last_delivery: { delivery: "echoed_unconfirmed", mode: "text" },
  });
  const { json } = await scene.dashboard.call("GET", `/api/agents/${agentId}/turns?limit=1`);
  expect(json["turns"]).toMatchObject([{ intent: "answer", text: "go on", answers_turn_id: 2 }]);
});

test("the hook of that prompt confirms it", async () => {
  const agentId = await unconfirmed();
  const { json } = await scene.hook("user-prompt-submit", { prompt: "go on" });
  expect(json).toMatchObject({ state: "processing", state_changed: true });
  expect(await scene.card(agentId)).toMatchObject({ state: "PROCESSING", question: null });
  const turns = await scene.dashboard.call("GET", `/api/agents/${agentId}/turns`);
  expect((turns.json["turns"] as unknown[]).length).toBe(3);
});

const REPORTED: readonly (readonly [string, string, string])[] = [
  ["letters composed", "re\u0301sume\u0301 it", "r\u00e9sum\u00e9 it"],
  ["spaces for tabs", "a\tb", "a    b"],
  ["line feeds for line ends", "one\r\ntwo", "one\ntwo"],
  ["blanks gone", "  go on \n", "go on"],
];

test.each(REPORTED)("the program reports it with %s: one turn all the same", async (_how, typed, reported) => {
  const agentId = await unconfirmed(typed);
  const { json } = await scene.hook("user-prompt-submit", { prompt: reported });
  expect(json).toMatchObject({ state: "processing", state_changed: true });
  expect(await intents(agentId)).toEqual(["answer", "question", "command"]);
});

test("an agent whose first hook reports the answer has one turn of it", async () => {
  const body = { session_uuid: UUID, project_path: "/p", tmux_pane_id: scene.pane };
  const { json } = await scene.dashboard.call("POST", "/api/sessions", body);
  const agentId = Number(json["agent_id"]);
  const options = [{ index: 0, number: "1", label: "Yes", keys: ["1"] }];
  scene.shows("asking", { id: "d1", multi: false, text: "Go on?", options, otherIndex: 0 });
  scene.submits("echoed_unconfirmed");
  await scene.dashboard.respond(agentId, { mode: "other", text: "on a branch" });
  const hook = await scene.hook("user-prompt-submit", { headspace_session_id: UUID, prompt: "on a branch" });
  expect(hook.json).toMatchObject({ state: "processing", state_changed: true });
  expect(await intents(agentId)).toEqual(["answer", "question"]);
});

test("text typed by the contract's keys and then reported is one turn", async () => {
  const agentId = await scene.working();
  const tool_input = { questions: [{ question: "Which?", options: [{ label: "Red" }, { label: "Green" }] }] };
  await scene.hook("pre-tool-use", { tool_name: "AskUserQuestion", tool_input });
  const { json } = await scene.dashboard.respond(agentId, { mode: "other", text: "Blue" });
  expect(json).toMatchObject({ delivery: "echoed_unconfirmed", new_state: "awaiting_input" });
  await scene.hook("user-prompt-submit", { prompt: "Blue" });
  expect(await scene.card(agentId)).toMatchObject({ state: "PROCESSING", question: null });
  expect(await intents(agentId)).toEqual(["answer", "question", "command"]);
});

test("the hook closes no other question", async () => {
  const agentId = await unconfirmed();
  await scene.hook("permission-request", { tool_name: "Bash", tool_input: { command: "ls" } });
  const { json } = await scene.hook("user-prompt-submit", { prompt: "go on" });
  expect(json).toMatchObject({ state: null, state_changed: false });
  expect(await scene.card(agentId)).toMatchObject({ state: "AWAITING_INPUT", question: { text: "Bash: ls" } });
});

test("the question may be answered again", async () => {
  const agentId = await unconfirmed();
  scene.submits("submitted");
  const { json } = await scene.dashboard.respond(agentId, { text: "go on" });
  expect(json).toMatchObject({ status: "ok", new_state: "processing", delivery: "submitted" });
  expect(scene.submitted.length).toBe(2);
});

test("a hook that comes while it is pending takes precedence", async () => {
  const agentId = await scene.asking();
  const release = scene.holdSubmit("echoed_unconfirmed");
  const answer = scene.dashboard.respond(agentId, { text: "go on" });
  await scene.untilSubmitted(1);
  await scene.hook("user-prompt-submit", { prompt: "go on" });
  release();
  expect((await answer).json).toMatchObject({ new_state: "processing", delivery: "submitted" });
  expect(await scene.card(agentId)).toMatchObject({ state: "PROCESSING" });
});

test("its hook still confirms it after a restart", async () => {
  const restart = await scene.onDisk();
  const agentId = await unconfirmed();
  await restart();
  expect(await scene.card(agentId)).toMatchObject({ state: "AWAITING_INPUT" });
  await scene.hook("user-prompt-submit", { prompt: "go on" });
  expect(await scene.card(agentId)).toMatchObject({ state: "PROCESSING" });
});

test.each<[string, { readonly textWritten?: boolean }]>([
  ["before anything was typed", {}],
  ["after the text and before Enter", { textWritten: true }],
])("another program took the pane %s: 409 with its reason", async (_when, details) => {
  const agentId = await scene.asking();
  scene.submitsWith(() =>
    Promise.reject(
      new AppError("WRONG_STATE", "a shell reads from the pane", {
        details: { reason: "program_changed", ...details },
      }),
    ),
  );
  const body = { text: "touch x" };
  const { status, json } = await scene.dashboard.respond(agentId, body);
  expect([status, json]).toMatchObject([409, failed("wrong_state", "A shell reads from the pane.")]);
  expect(json["reason"]).toBe("program_changed");
  expect(json["text_written"]).toBe(details.textWritten);
  expect(await scene.card(agentId)).toMatchObject({ state: "AWAITING_INPUT" });
});

test("what the screen says is in the response and on the card", async () => {
  const agentId = await scene.asking();
  scene.submits("echoed_unconfirmed");
  scene.screenNote = "No API key found";
  const { json } = await scene.dashboard.respond(agentId, { text: "go on" });
  expect(json).toMatchObject({ delivery: "echoed_unconfirmed", screen_note: "No API key found" });
  expect(await scene.card(agentId)).toMatchObject({ last_delivery: { screen_note: "No API key found" } });
  scene.screenNote = undefined;
  expect((await scene.dashboard.respond(agentId, { text: "go on" })).json).not.toHaveProperty("screen_note");
  expect(await scene.card(agentId)).toMatchObject({ last_delivery: { screen_note: null } });
});

/** As the delivery words them, for callers of the native API. */
const REFUSALS: readonly (readonly [string, string, Readonly<Record<string, unknown>>, RegExp])[] = [
  [
    "box_not_empty",
    "the prompt box already holds text; empty it (clearFirst), or wait (whileTyping)",
    { box: "half a\n  thought" },
    /already holds text \(“half a thought”\)/,
  ],
  ["box_changed", "x", { box: "both", textWritten: true, enterPresses: 0 }, /stands in the agent's prompt box, unsent/],
  ["question_opened", "x", { textWritten: true, enterPresses: 0 }, /stands in the agent's prompt box, unsent/],
  ["screen_unknown", "look at the pane, or ask to type anyhow (whileUnknown)", {}, /Nothing that is known/],
  ["question_unreadable", "look at the pane and press keys with input", {}, /Answer it in its pane/],
];

test.each(REFUSALS)("a refusal has its reason and a message for people: %s", async (reason, message, more, words) => {
  const agentId = await scene.asking();
  const details = { reason, ...more };
  scene.submitsWith(() => Promise.reject(new AppError("WRONG_STATE", message, { details })));
  const { status, json } = await scene.dashboard.respond(agentId, { text: "x" });
  expect([status, json]).toMatchObject([409, failed("wrong_state", words)]);
  expect(json).toMatchObject({ reason });
  expect([json["box"], json["text_written"]]).toEqual([more["box"], more["textWritten"]]);
  expect(json["message"]).not.toMatch(/clearFirst|while[A-Z]|with input/);
  const left = more["textWritten"] === true ? { delivery: "not_entered" } : null;
  expect((await scene.card(agentId))?.["last_delivery"]).toEqual(left === null ? null : expect.objectContaining(left));
});

test("text that stays in the box because the screen kept changing is not reported as late", async () => {
  const agentId = await scene.asking();
  const details = { textWritten: true, enterPresses: 0 };
  scene.submitsWith(() => Promise.reject(new AppError("TIMEOUT", "x", { details })));
  const { status, json } = await scene.dashboard.respond(agentId, { text: "x" });
  expect([status, json]).toMatchObject([502, failed("timeout", /stands in the agent's prompt box, unsent/)]);
  expect(json).toMatchObject({ reason: "not_entered", text_written: true });
});

test("a refusal is not repeated from memory: once the box is empty, the same answer is delivered", async () => {
  const agentId = await scene.asking();
  const details = { reason: "box_changed", textWritten: true, enterPresses: 0 };
  scene.submitsWith(() => Promise.reject(new AppError("WRONG_STATE", "x", { details })));
  expect((await scene.dashboard.respond(agentId, { text: "go on" })).status).toBe(409);
  scene.submits("submitted");
  const { status, json } = await scene.dashboard.respond(agentId, { text: "go on" });
  expect([status, json["delivery"]]).toEqual([200, "submitted"]);
});
