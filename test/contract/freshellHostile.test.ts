/** What owners and callers may send instead of what they should: each gets its response, and nobody else notices. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FreshellFixture } from "../support/daemon/freshellFixture.ts";
import { stubServer } from "../support/daemon/nativeServer.ts";
import { eventually } from "../support/clock/eventually.ts";
import { FakeOwner, requestOf } from "../support/freshell/fakeOwner.ts";

let freshell: FreshellFixture;
let desk: FakeOwner;
beforeEach(async () => {
  freshell = await FreshellFixture.start(stubServer(), { config: { ownerTimeoutMs: 400 } });
  desk = await FakeOwner.start(freshell, "desk", { allow: ["caller"] });
});
afterEach(() => freshell[Symbol.asyncDispose]());

const ask = async (request: object) => {
  const { status, json } = await freshell.call("POST", "/api/rpc", request);
  const { error = {} } = json as Record<string, Record<string, unknown>>;
  return { status, json, error };
};
const killPane = (fields: object = {}) => requestOf("kill-pane", "desk", { target: "pane:p1" }, fields);
const deep = (levels: number): object =>
  levels === 1
    ? { type: "leaf", id: "leaf", content: { kind: "picker" } }
    : {
        type: "split",
        id: `s${levels}`,
        direction: "vertical",
        sizes: [50, 50],
        children: [{ type: "leaf", id: `l${levels}`, content: { kind: "picker" } }, deep(levels - 1)],
      };
const treeOf = (tree: object): object => ({ ...desk.snapshot(), layouts: { t1: tree }, activePane: { t1: "leaf" } });
const readAs = (snapshot: object, fields: object = {}): object => ({
  ok: true,
  result: { ownerDeviceId: "desk", workspaceRevision: 1, capturedAt: 1, snapshot, ...fields },
});

describe("an owner whose result is invalid: INTERNAL_ERROR of the owner, at once", () => {
  test.each<[string, object]>([
    ["ok and an error", { ok: true, result: {}, error: { code: "NOT_FOUND", message: "no" }, appliedRevision: 2 }],
    ["a revision that jumps by two", { ok: true, result: {}, appliedRevision: 3 }],
    ["a revision that goes back", { ok: true, result: {}, appliedRevision: 0 }],
    ["no revision", { ok: true, result: {} }],
  ])("%s", async (_what, answer) => {
    desk.answer = () => answer;
    const { status, error } = await ask(killPane());
    expect([status, error["code"], error["stage"], error["details"]]).toEqual([
      500,
      "INTERNAL_ERROR",
      "owner",
      { cause: "OWNER_ANSWER", retry: false },
    ]);
  });

  test.each<[string, () => object]>([
    ["a tree of 17 levels", () => readAs(treeOf(deep(17)))],
    ["another device's layout", () => readAs(desk.snapshot(), { ownerDeviceId: "other" })],
    ["no snapshot", () => ({ ok: true, result: {} })],
  ])("read: %s", async (_what, answer) => {
    desk.answer = answer;
    const { status, error } = await ask(requestOf("read", "desk", {}));
    expect([status, error["code"], error["stage"], error["details"]]).toEqual([
      500,
      "INTERNAL_ERROR",
      "owner",
      { cause: "OWNER_ANSWER", retry: false },
    ]);
  });

  test("a reservation without an id", async () => {
    desk.answer = () => ({ ok: true, result: { reservationId: 7 } });
    expect((await ask(requestOf("new-tab", "desk", {}))).error).toMatchObject({
      code: "INTERNAL_ERROR",
      stage: "owner",
      details: { cause: "OWNER_ANSWER" },
    });
    expect((await freshell.call("GET", "/api/terminals")).json).toEqual([]);
  });

  test("a foreign requestId and a second result are ignored and counted", async () => {
    desk.answer = (asked) => {
      desk.result("foreign", { ok: true, result: { paneId: "foreign" }, appliedRevision: 2 });
      desk.result(asked.requestId, desk.honest(asked));
      return { ok: true, result: { paneId: "second" }, appliedRevision: 9 };
    };
    expect((await ask(killPane())).json).toMatchObject({ ok: true, result: { paneId: "p1" }, appliedRevision: 2 });
    await desk.settled();
    expect((await freshell.call("GET", "/api/metrics")).text).toMatch(/^freshell_rpc_ignored_total 2$/m);
  });

  test("2 MiB: its connection is closed with 1009, the caller hears OWNER_TIMEOUT at once", async () => {
    desk.answer = () => ({ ok: true, result: { text: "x".repeat(2_097_152) }, appliedRevision: 2 });
    const { error } = await ask(killPane());
    expect([error["code"], error["stage"]]).toEqual(["OWNER_TIMEOUT", "owner"]);
    expect((await desk.client.closed).code).toBe(1_009);
  });
});

describe("invalid snapshots: INVALID_MESSAGE, and the known one stays", () => {
  test.each<[string, () => object]>([
    ["a tree of 17 levels", () => ({ snapshot: treeOf(deep(17)) })],
    ["no owner", () => ({ ownerDeviceId: undefined })],
    ["a revision that is none", () => ({ workspaceRevision: -1 })],
  ])("%s", async (_what, fields) => {
    desk.publish();
    await desk.settled();
    desk.publish({ workspaceRevision: 2, ...fields() });
    expect(await desk.client.next("error")).toMatchObject({ code: "INVALID_MESSAGE" });
    expect((await freshell.call("GET", "/api/devices/desk")).json["workspaceRevision"]).toBe(1);
  });
});

describe("an invalid request: INVALID_ARGUMENT of the relay, and the owner gets nothing", () => {
  test.each([
    killPane({ phase: "finalize" }),
    killPane({ expectedRevision: undefined }),
    requestOf("new-tab", "desk", {}, { idempotencyKey: undefined }),
    requestOf("navigate", "desk", { target: "pane:p1", url: "javascript:alert(1)" }),
    requestOf("kill-pane", "desk", { target: "0:1.2" }),
  ])("%j", async (request) => {
    const { status, error, json } = await ask(request);
    expect([status, json["ok"], error["code"], error["stage"]]).toEqual([400, false, "INVALID_ARGUMENT", "relay"]);
    const caller = await freshell.connect();
    caller.send(request);
    expect(await caller.next("layout.rpc.result")).toMatchObject({ ok: false, error });
    expect(desk.asked).toEqual([]);
  });

  test("no requestId: there is nothing to respond to", async () => {
    expect((await freshell.call("POST", "/api/rpc", killPane({ requestId: undefined }))).json).toMatchObject({
      error: { code: "INVALID_ARGUMENT" },
    });
    const caller = await freshell.connect();
    caller.send(killPane({ requestId: 7 }));
    expect(await caller.next("error")).toMatchObject({ code: "INVALID_MESSAGE" });
  });

  test("two callers with one requestId: each gets its own response, the owner two ids", async () => {
    const callers = await Promise.all(["one", "two"].map(() => freshell.connect()));
    const waiting: (() => void)[] = [];
    desk.answer = (asked) => {
      waiting.push(() =>
        desk.result(asked.requestId, { ok: true, result: { for: asked.callerDeviceId }, appliedRevision: 2 }),
      );
      return undefined;
    };
    await desk.allow("*");
    for (const [at, caller] of callers.entries())
      caller.send(killPane({ requestId: "same", callerDeviceId: `c${at}` }));
    await eventually(() => waiting.length === 2);
    for (const answer of waiting.toReversed()) answer();
    for (const [at, caller] of callers.entries()) {
      expect(await caller.next("layout.rpc.result")).toMatchObject({ requestId: "same", result: { for: `c${at}` } });
    }
    expect(desk.asked.map(({ requestId }) => requestId).toSorted()).toEqual(["same", "same.2"]);
  });
});

test("the clock goes back an hour while tokens, presence and requests run", async () => {
  let backMs = 0;
  await using other = await FreshellFixture.start(stubServer(), {
    config: { deviceTokenTtlSec: 1, presenceTtlMs: 250 },
    app: { nowUnixMs: () => Date.now() - backMs },
  });
  const { json } = await other.call("POST", "/api/device-sessions", {
    deviceId: "d",
    deviceLabel: "d",
    deviceType: "cli",
  });
  const headers = { "x-auth-token": String(json["deviceToken"]) };
  const owner = await FakeOwner.start(other, "desk", { allow: ["caller"] });
  const beat = setInterval(() => owner.client.send({ type: "ping" }), 40);
  try {
    backMs = 3_600_000;
    const silent = await FakeOwner.start(other, "silent");
    expect((await silent.client.closed).code).toBe(4_012);
    const request = requestOf("new-tab", "desk", {});
    const { json: done } = await other.call("POST", "/api/rpc", request);
    expect(done).toMatchObject({ ok: true, appliedRevision: 2 });
    expect((await other.call("POST", "/api/rpc", request)).json).toEqual(done);
    // Not an hour later.
    await eventually(async () => (await other.call("GET", "/api/devices", undefined, headers)).status === 401);
    const lines = readFileSync(join(other.home, ".freshell/audit/remote-control.jsonl"), "utf8").trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { result: string }).result)).toEqual(["ok", "ok"]);
  } finally {
    clearInterval(beat);
  }
});
