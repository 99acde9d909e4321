/** Layout and process together: reserve, act, finalize or take back (docs/contracts/freshell.md). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StubServer } from "../../daemon/servers/stub/stubServer.ts";
import type { TerminalEntry } from "../../protocol/api/freshell/freshellHttp.ts";
import { eventually } from "../support/clock/eventually.ts";
import { FreshellFixture } from "../support/daemon/freshellFixture.ts";
import { stubServer } from "../support/daemon/nativeServer.ts";
import { FakeOwner, requestOf } from "../support/freshell/fakeOwner.ts";

let server: StubServer;
let freshell: FreshellFixture;
let desk: FakeOwner;
beforeEach(async () => {
  server = stubServer();
  freshell = await FreshellFixture.start(server);
  desk = await FakeOwner.start(freshell, "desk", { allow: ["caller"] });
});
afterEach(() => freshell[Symbol.asyncDispose]());

const ask = async (request: object) => {
  const { status, json } = await freshell.call("POST", "/api/rpc", request);
  const { error = {}, result = {}, appliedRevision } = json as Record<string, Record<string, unknown>>;
  return { status, error, result, appliedRevision, json };
};
const entries = async () => (await freshell.call("GET", "/api/terminals")).json as unknown as readonly TerminalEntry[];
const split = (fields: object = {}, args: object = {}) =>
  requestOf("split-pane", "desk", { target: "pane:p1", direction: "horizontal", ...args }, fields);
/** A pane of the owner's that shows this terminal. */
const show = (terminalId: string): void => {
  desk.panes = [{ id: "p1", content: { kind: "terminal", terminalId } }];
};

describe("F089 F090 F091 F092: a new pane with a terminal", () => {
  test.each<[string, object]>([
    ["new-tab", {}],
    ["split-pane", { target: "pane:p1", direction: "vertical" }],
  ])("%s: a place, then a terminal, then both", async (command, args) => {
    const seen: string[] = [];
    desk.answer = (asked) => {
      seen.push(`${asked.phase} ${freshell.freshell.terminals.list().length}`);
      return desk.honest(asked);
    };
    const request = requestOf(command, "desk", args);
    const { status, result, appliedRevision } = await ask(request);
    const [terminal] = await entries();
    expect([status, appliedRevision, result["terminalId"], result["paneId"]]).toEqual([
      200,
      2,
      terminal?.terminalId,
      "new1",
    ]);
    expect(seen).toEqual(["reserve 0", "finalize 1"]);
    const [reserve, finalize] = desk.asked;
    expect(reserve).toEqual({ ...request, phase: "reserve", deadlineMs: 15_000 });
    const reservationId = `r-new1-${String(request["requestId"])}`;
    expect(finalize).toEqual({
      ...request,
      requestId: `${String(request["requestId"])}.finalize`,
      args: { reservationId, contentRef: { terminalId: terminal?.terminalId } },
      phase: "finalize",
      reservationId,
      deadlineMs: 15_000,
    });
    expect(terminal).not.toHaveProperty("orphan");
  });

  test("the program knows its pane, after a respawn and in a terminal that a page makes as well", async () => {
    const made: unknown[] = [];
    const createSession = server.createSession.bind(server);
    server.createSession = (request) => {
      made.push(request.environment);
      return createSession(request);
    };
    const { result } = await ask(split());
    const { terminalId, paneId, tabId } = result as Record<string, string>;
    const place = { FRESHELL_DEVICE_ID: "desk", FRESHELL_TAB_ID: tabId, FRESHELL_PANE_ID: paneId };
    const all = { FRESHELL_URL: freshell.url, FRESHELL_TERMINAL_ID: terminalId };
    await freshell.call("POST", `/api/terminals/${terminalId}/respawn`);
    expect(made).toEqual([
      { ...all, ...place },
      { ...all, ...place },
    ]);
    await freshell.call("POST", "/api/terminals", { pane: { deviceId: "desk", tabId: "t", paneId: "p" } });
    await freshell.call("POST", "/api/terminals", {});
    expect(made.slice(2)).toMatchObject([{ FRESHELL_TAB_ID: "t", FRESHELL_PANE_ID: "p" }, {}]);
    expect(made[3]).not.toHaveProperty("FRESHELL_PANE_ID");
  });

  test.each([
    { deviceId: "d" },
    { deviceId: "a b", tabId: "t", paneId: "p" },
    { deviceId: "d", tabId: "t\n", paneId: "p" },
  ])("an invalid pane is refused: %j", async (pane) => {
    const { status, json } = await freshell.call("POST", "/api/terminals", { pane });
    expect([status, json]).toMatchObject([400, { error: { code: "INVALID_ARGUMENT" } }]);
  });

  test("F090: nothing is made when the owner refuses to reserve", async () => {
    const { status, error } = await ask(split({ expectedRevision: 7 }));
    expect([status, error["code"], error["currentRevision"]]).toEqual([409, "REVISION_CONFLICT", 1]);
    expect([await entries(), desk.phases(), desk.revision]).toEqual([[], ["reserve"], 1]);
  });

  test.each([
    [{ shell: "/nonexistent" }, "INVALID_ARGUMENT"],
    [{ cwd: "/nonexistent" }, "INVALID_ARGUMENT"],
  ])("F048 F091: %j: the reservation is compensated, and the layout is as before", async (args, code) => {
    const before = JSON.stringify(desk.snapshot());
    const { error } = await ask(split({}, args));
    expect([error["code"], error["stage"]]).toEqual([code, "relay"]);
    expect(desk.phases()).toEqual(["reserve", "compensate"]);
    expect([desk.reserved.size, desk.revision, JSON.stringify(desk.snapshot())]).toEqual([0, 1, before]);
    expect(await entries()).toEqual([]);
  });

  test("F092: the terminal stays, with a way to kill it, when the owner disconnects after reserving", async () => {
    desk.answer = (asked) => {
      desk.result(asked.requestId, desk.honest(asked));
      desk.client.socket.close();
      return undefined;
    };
    const { status, error } = await ask(split());
    const [terminal] = await entries();
    expect([status, error["code"], error["stage"]]).toEqual([409, "INCONSISTENT_STATE", "owner"]);
    expect(error["details"]).toMatchObject({
      terminalId: terminal?.terminalId,
      remediation: `freshell kill-terminal --target terminal:${terminal?.terminalId}`,
      cause: "DEVICE_OFFLINE",
    });
    expect(terminal).toMatchObject({ status: "running", orphan: true });
    // It is no orphan any more once a device shows it.
    const back = await FakeOwner.start(freshell, "desk");
    back.panes = [{ id: "p1", content: { kind: "terminal", terminalId: terminal?.terminalId } }];
    back.publish();
    await back.settled();
    expect((await entries())[0]).not.toHaveProperty("orphan");
  });

  test.each([
    ["refuses", { ok: false, error: { code: "NOT_FOUND", message: "the place is gone" } }, "NOT_FOUND"],
    ["names no revision", { ok: true, result: {} }, "INTERNAL_ERROR"],
    ["names an old one", { ok: true, result: {}, appliedRevision: 1 }, "INTERNAL_ERROR"],
  ])("F092: it %s to finalize", async (_what, answer, cause) => {
    desk.answer = (asked) => (asked.phase === "finalize" ? answer : desk.honest(asked));
    const { error } = await ask(split());
    expect(error).toMatchObject({ code: "INCONSISTENT_STATE", details: { cause } });
    expect(await entries()).toMatchObject([{ orphan: true }]);
  });

  test("a request continues when its caller disconnects", async () => {
    const caller = await freshell.connect({
      device: { deviceId: "caller", deviceLabel: "c", deviceType: "cli", role: "caller" },
    });
    desk.answer = (asked) => {
      if (asked.phase !== "reserve") return desk.honest(asked);
      caller.socket.terminate();
      void caller.closed.then(() => desk.result(asked.requestId, desk.honest(asked)));
      return undefined;
    };
    caller.send(split());
    await eventually(() => desk.revision === 2);
    expect(desk.phases()).toEqual(["reserve", "finalize"]);
    expect(await entries()).toHaveLength(1);
  });

  test("an owner's ids are quoted in what can be pasted", async () => {
    const { terminalId } = await freshell.create();
    desk.answer = (asked) =>
      asked.phase === "reserve"
        ? { ok: true, result: { reservationId: "r", tabId: "t1", paneId: "p1';reboot;'" } }
        : { ok: false, error: { code: "NOT_FOUND", message: "no" } };
    const request = requestOf("attach-terminal", "desk", { target: `terminal:${terminalId}`, to: "pane:p1" });
    const { details } = (await ask(request)).error as { details: Record<string, unknown> };
    expect(details["remediation"]).toBe(
      `freshell attach-terminal --target terminal:${terminalId} --to 'pane:p1'\\'';reboot;'\\''' --device desk`,
    );
  });
});

describe("F160 F161 F162: idempotency", () => {
  test.each([
    ["a new pane with a terminal", () => split({ idempotencyKey: "k" }), ["reserve", "finalize"]],
    ["one without", () => split({ idempotencyKey: "k" }, { browser: "http://h/" }), ["apply"]],
  ])("%s: a repeated or concurrent request is performed once", async (_what, request, phases) => {
    const [one, two] = await Promise.all([ask(request()), ask(request())]);
    expect(one.result).toEqual(two.result);
    const again = await ask({ ...request(), expectedRevision: 1 });
    expect([again.result, again.appliedRevision, desk.phases()]).toEqual([one.result, 2, phases]);
    const other = await ask({ ...request(), args: { target: "pane:p1", direction: "vertical" } });
    expect(other).toMatchObject({ status: 400, error: { code: "INVALID_ARGUMENT", stage: "relay" } });
    expect(desk.revision).toBe(2);
  });

  test("it holds over a start of the server, and without its memory the owner's holds", async () => {
    const request = split({ idempotencyKey: "k" });
    const { result } = await ask(request);
    const { home } = freshell;
    await freshell.freshell.close();
    for (const resultsPath of [`${home}/results.jsonl`, `${home}/lost.jsonl`]) {
      await using next = await FreshellFixture.start(stubServer(), {
        config: { homePath: `${home}/.freshell`, resultsPath },
      });
      const again = await FakeOwner.start(next, "desk", { allow: ["caller"] });
      for (const [key, answer] of desk.done) again.done.set(key, answer);
      again.revision = 2;
      const { json } = await next.call("POST", "/api/rpc", { ...request, requestId: "again" });
      expect(json).toMatchObject({ ok: true, result, appliedRevision: 2 });
      expect(again.phases()).toEqual(resultsPath.includes("lost") ? ["reserve"] : []);
      expect((await next.call("GET", "/api/terminals")).json).toEqual([]);
    }
  });

  test("a failure is not remembered: the same key with the right revision succeeds", async () => {
    const request = split({ idempotencyKey: "k", expectedRevision: 5 });
    expect((await ask(request)).error["code"]).toBe("REVISION_CONFLICT");
    expect((await ask({ ...request, expectedRevision: 1 })).appliedRevision).toBe(2);
  });
});

describe("F096 F097 F098 F099 F100: attach-terminal", () => {
  const attach = (terminalId: string, fields: object = {}, args: object = {}) =>
    requestOf("attach-terminal", "desk", { target: `terminal:${terminalId}`, to: "pane:p1", ...args }, fields);

  test("the pane shows the terminal; no process moves", async () => {
    const { terminalId } = await freshell.create();
    const [before] = await entries();
    const { appliedRevision, result } = await ask(attach(terminalId));
    expect([appliedRevision, result]).toEqual([2, { tabId: "t1", paneId: "p1", terminalId }]);
    expect(desk.panes).toEqual([{ id: "p1", content: { kind: "terminal", terminalId } }]);
    expect((await entries())[0]?.pid).toBe(before?.pid);
  });

  test("an unknown terminal is NOT_FOUND, and the owner hears nothing", async () => {
    const { status, error } = await ask(attach("x".repeat(21)));
    expect([status, error["code"], desk.asked]).toEqual([404, "NOT_FOUND", []]);
  });

  test("a terminal killed meanwhile: NOT_FOUND, and the reservation is compensated", async () => {
    const { terminalId } = await freshell.create();
    desk.answer = (asked) => {
      if (asked.phase !== "reserve") return desk.honest(asked);
      void freshell
        .call("POST", `/api/terminals/${terminalId}/kill`)
        .then(() => desk.result(asked.requestId, desk.honest(asked)));
      return undefined;
    };
    expect((await ask(attach(terminalId))).error["code"]).toBe("NOT_FOUND");
    expect([desk.phases(), desk.revision]).toEqual([["reserve", "compensate"], 1]);
  });

  test.each([
    [{ expectedRevision: undefined }, {}, "INVALID_ARGUMENT"],
    [{ idempotencyKey: undefined }, {}, "INVALID_ARGUMENT"],
    [{ expectedRevision: 9 }, {}, "REVISION_CONFLICT"],
    [{}, { to: "pane-index:0" }, "INVALID_ARGUMENT"],
  ])("%j %j: %s", async (fields, args, code) => {
    const { terminalId } = await freshell.create();
    expect((await ask(attach(terminalId, fields, args))).error["code"]).toBe(code);
    expect(desk.revision).toBe(1);
  });
});

describe("F101: respawn-pane", () => {
  test("resolved, reserved, started anew under the same id, confirmed", async () => {
    const { terminalId } = await freshell.create();
    show(terminalId);
    const before = freshell.freshell.terminals.require(terminalId).pane;
    const { appliedRevision, result } = await ask(requestOf("respawn-pane", "desk", { target: "pane:p1" }));
    expect([appliedRevision, result["terminalId"]]).toEqual([2, terminalId]);
    expect(desk.phases()).toEqual(["resolve", "reserve", "finalize"]);
    expect(new Set(desk.asked.map(({ requestId }) => requestId)).size).toBe(3);
    expect(freshell.freshell.terminals.require(terminalId).pane).not.toBe(before);
  });

  test.each([
    ["a browser", { kind: "browser", url: "http://h/" }, "INVALID_TARGET"],
    ["a terminal that is no more", { kind: "terminal", terminalId: "x".repeat(21) }, "NOT_FOUND"],
  ])("the pane shows %s: %s", async (_what, content, code) => {
    desk.panes = [{ id: "p1", content }];
    const { error } = await ask(requestOf("respawn-pane", "desk", { target: "pane:p1" }));
    expect([error["code"], desk.phases(), desk.revision]).toEqual([code, ["resolve"], 1]);
  });
});

describe("F043 F077 F093 F094 F095: send-keys, capture-pane and wait-for on a pane", () => {
  test("the owner says once which terminal it is, and the server does the rest", async () => {
    const { terminalId } = await freshell.create();
    show(terminalId);
    const wait = ask(requestOf("wait-for", "desk", { target: "pane:p1", pattern: "hello-42", timeoutSec: 30 }));
    await eventually(() => desk.asked.length === 1);
    // It is needed no more, not even for the wait that goes on.
    desk.client.socket.close();
    await desk.client.closed;
    const next = await FakeOwner.start(freshell, "desk");
    next.panes = desk.panes;
    expect(await ask(requestOf("send-keys", "desk", { target: "pane:p1", keys: ["hello-42", "Enter"] }))).toMatchObject(
      {
        status: 200,
        result: { outputSeq: expect.any(Number) as unknown },
      },
    );
    expect((await wait).result).toMatchObject({ matched: [{ predicate: "pattern", text: "hello-42" }] });
    const { result } = await ask(requestOf("capture-pane", "desk", { target: "pane:p1", S: "-" }));
    expect(String(result["lines"])).toContain("hello-42");
    expect(next.asked.map(({ phase, command, args }) => [phase, command, args])).toEqual([
      ["resolve", "resolve", { target: "pane:p1" }],
      ["resolve", "resolve", { target: "pane:p1" }],
    ]);
  });

  test.each(["send-keys", "capture-pane", "wait-for"])("%s: panes that show no terminal", async (command) => {
    const more = { "send-keys": { keys: ["a"] }, "wait-for": { exit: true } }[command] ?? {};
    const onPane = (target: string) => ask(requestOf(command, "desk", { target, ...more }));
    expect((await onPane("pane:p1")).error["code"]).toBe("INVALID_TARGET");
    expect((await onPane("pane:nowhere")).error).toMatchObject({ code: "NOT_FOUND", stage: "owner" });
    show("x".repeat(21));
    expect((await onPane("pane:p1")).error).toMatchObject({ code: "NOT_FOUND", stage: "relay" });
    expect(desk.revision).toBe(1);
  });

  test("a wait that runs out keeps its response; one of a caller that leaves ends", async () => {
    const { terminalId } = await freshell.create();
    show(terminalId);
    const { status, error } = await ask(
      requestOf("wait-for", "desk", { target: "pane:p1", exit: true, timeoutSec: 0.05 }),
    );
    expect([status, error["code"], error["details"]]).toMatchObject([408, "TIMEOUT", { predicates: { exit: false } }]);
    const caller = await freshell.connect({
      device: { deviceId: "caller", deviceLabel: "c", deviceType: "cli", role: "caller" },
    });
    const active = async () =>
      Number(/^wait_active (\d+)$/m.exec((await freshell.call("GET", "/api/metrics")).text)?.[1]);
    caller.send(requestOf("wait-for", "desk", { target: "pane:p1", exit: true }));
    await eventually(async () => (await active()) === 1);
    caller.socket.terminate();
    await eventually(async () => (await active()) === 0);
  });
});
