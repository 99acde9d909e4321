/** Prompts over HTTP and by the typed client, against the stub (docs/contracts/native.md §10). */
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import * as answers from "../../protocol/api/native/nativeResponses.ts";
import { deliveryResponseSchema } from "../../protocol/api/native/nativeDelivery.ts";
import { engines } from "../support/agents/deliveryScene.ts";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";

const PANE = "/v1/servers/main/panes/0";

async function withPane() {
  const server = stubServer();
  await server.createSession({ name: "work" });
  const on = engines();
  const fixture = await nativeFixture(server, { readiness: on.readiness, delivery: on.delivery });
  return {
    ...fixture,
    server,
    lines: async () => (await server.capture(server.panes()[0]!.id)).lines,
    [Symbol.asyncDispose]: async () => {
      on[Symbol.dispose]();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

describe("submit", () => {
  test("returns the outcome of the prompt", async () => {
    await using api = await withPane();
    const { status, json } = await api.call("POST", `${PANE}/submit`, { text: "hello" });
    expect(status).toBe(200);
    const answer = v.parse(deliveryResponseSchema, json);
    expect(answer).toMatchObject({ outcome: "submitted", confirmedBy: "output", enterPresses: 1 });
    expect(answer.position).toMatch(/^\w+:0$/);
    expect(answer.enterMs! - answer.firstByteMs!).toBeGreaterThanOrEqual(60);
    expect(answer.latencyMs).toBeGreaterThanOrEqual(answer.enterMs!);
    expect(await api.lines()).toEqual(["hello", "<Enter>"]);
  });

  test("once per key, whoever asks", async () => {
    await using api = await withPane();
    const submit = (text: string) => api.call("POST", `${PANE}/submit`, { text }, { "idempotency-key": "k-1" });
    const [first, joined] = await Promise.all([submit("hello"), submit("hello")]);
    expect([first.json["outcome"], joined.json["outcome"]]).toEqual(["submitted", "submitted"]);
    expect([first.json["repeated"], joined.json["repeated"]].filter((repeated) => repeated === true)).toHaveLength(1);
    expect((await submit("hello")).json).toMatchObject({ outcome: "submitted", repeated: true });
    const other = await submit("something else");
    expect([other.status, other.json]).toMatchObject([409, { error: { code: "ALREADY_EXISTS" } }]);
    expect(await api.lines()).toEqual(["hello", "<Enter>"]);
  });

  test.each([
    [{}, "text"],
    [{ text: "" }, "blank"],
    [{ text: "a\u0003" }, "control"],
    [{ text: "a", whileBusy: "wait" }, "whileBusy"],
    [{ text: "a", gapMs: 10_001 }, "gapMs"],
    [{ text: "a", timeoutMs: 0 }, "timeoutMs"],
    [{ text: "a", profile: "nobody" }, "profile"],
    [{ text: "a", enter: true }, "enter"],
    [{ text: "a\nb" }, "bracketed"],
  ])("refuses %j", async (body, word) => {
    await using api = await withPane();
    const { status, json } = await api.call("POST", `${PANE}/submit`, body);
    const { error } = v.parse(answers.errorResponseSchema, json);
    expect([status, error.code]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(error.message).toContain(word);
    expect(await api.lines()).toEqual([]);
  });

  test("of an unknown pane, or with an invalid key, is refused", async () => {
    await using api = await withPane();
    expect((await api.call("POST", "/v1/servers/main/panes/7/submit", { text: "a" })).status).toBe(404);
    const badKey = await api.call("POST", `${PANE}/submit`, { text: "a" }, { "idempotency-key": "a b" });
    expect([badKey.status, badKey.json]).toMatchObject([400, { error: { code: "INVALID_ARGUMENT" } }]);
    expect(await api.lines()).toEqual([]);
  });
});

describe("choose, interrupt, clear", () => {
  test.each([
    [{}, "answer"],
    [{ answer: { kind: "option", index: -1 } }, "index"],
    [{ answer: { kind: "multi", answers: [] } }, "answers"],
    [{ answer: { kind: "multi", answers: [[]] } }, "answers"],
    [{ answer: { kind: "shout" } }, "kind"],
  ])("refuses %j", async (body, word) => {
    await using api = await withPane();
    const { status, json } = await api.call("POST", `${PANE}/choose`, body);
    const { error } = v.parse(answers.errorResponseSchema, json);
    expect([status, error.code]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(error.message).toContain(word);
  });

  test("without a dialog there is nothing to choose", async () => {
    await using api = await withPane();
    const answer = { kind: "option", index: 0 };
    const { status, json } = await api.call("POST", `${PANE}/choose`, { answer });
    expect([status, json]).toMatchObject([409, { error: { code: "WRONG_STATE" } }]);
    expect(await api.lines()).toEqual([]);
  });

  test("press the profile's keys", async () => {
    await using api = await withPane();
    expect((await api.call("POST", `${PANE}/interrupt`, {})).json).toEqual({ ok: true });
    expect((await api.call("POST", `${PANE}/clear`, {})).json).toEqual({ ok: true });
    expect(await api.lines()).toEqual(["<C-c>", "<C-u>"]);
    expect((await api.call("POST", `${PANE}/clear`, { now: true })).status).toBe(400);
  });
});

test("the typed client offers them", async () => {
  await using api = await withPane();
  const pane = createClient({ url: api.url }).server("main").pane("work");
  const options = { idempotencyKey: "k-1", timeoutMs: 5_000 };
  expect(await pane.submit("hi", options)).toMatchObject({ outcome: "submitted" });
  expect(await pane.submit("hi", options)).toMatchObject({ outcome: "submitted", repeated: true });
  await expect(pane.choose({ kind: "option", index: 0 })).rejects.toMatchObject({ code: "WRONG_STATE", status: 409 });
  await pane.interrupt();
  await pane.clear();
  expect(await api.lines()).toEqual(["hi", "<Enter>", "<C-c>", "<C-u>"]);
});

test("a daemon without the engine says so", async () => {
  const server = stubServer();
  await server.createSession({ name: "work" });
  await using api = await nativeFixture(server);
  const { status, json } = await api.call("POST", `${PANE}/submit`, { text: "a" });
  expect([status, json]).toMatchObject([400, { error: { code: "INVALID_ARGUMENT" } }]);
});
