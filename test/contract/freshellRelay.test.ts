/** Devices: who is online, their layouts, the way to owners and back, permissions, the audit (docs/contracts/freshell.md). */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sessionFile } from "../../adapters/freshell/tokens/credentials.ts";
import { silentLog } from "../../bench/silentLog.ts";
import type { StubServer } from "../../daemon/servers/stub/stubServer.ts";
import {
  CAPABILITIES,
  FRESHELL_TOKEN,
  FreshellFixture,
  type FreshellFixtureOptions,
} from "../support/daemon/freshellFixture.ts";
import { stubServer } from "../support/daemon/nativeServer.ts";
import { eventually } from "../support/clock/eventually.ts";
import { FakeOwner, requestOf } from "../support/freshell/fakeOwner.ts";

let server: StubServer;
let freshell: FreshellFixture;
beforeEach(async () => {
  server = stubServer();
  freshell = await FreshellFixture.start(server);
});
afterEach(() => freshell[Symbol.asyncDispose]());

async function startWith(options: FreshellFixtureOptions): Promise<void> {
  await freshell[Symbol.asyncDispose]();
  server = stubServer();
  freshell = await FreshellFixture.start(server, options);
}

const ask = async (request: object, headers?: Record<string, string>) => {
  const { status, json } = await freshell.call("POST", "/api/rpc", request, headers);
  return { status, json: json as Record<string, unknown> & { error: Record<string, unknown> } };
};
const audit = (): readonly Record<string, unknown>[] =>
  readFileSync(join(freshell.home, ".freshell/audit/remote-control.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const device = (deviceId: string, role = "caller") => ({ deviceId, deviceLabel: "me", deviceType: "cli", role });

describe("F021 F022 F023 F025 F026 F027 F028: presence", () => {
  test("a device is online while connected; everyone is told; the list shows both states", async () => {
    const observer = await freshell.connect();
    const desk = await FakeOwner.start(freshell, "desk");
    const message = { type: "device.presence", deviceId: "desk", deviceLabel: "label of desk", deviceType: "browser" };
    expect(await observer.next("device.presence")).toMatchObject({ ...message, online: true });
    desk.client.send({ type: "device.presence", deviceId: "desk", workspaceRevision: 5 });
    await desk.settled();
    expect((await freshell.call("GET", "/api/devices")).json).toEqual([
      {
        deviceId: "desk",
        deviceLabel: "label of desk",
        deviceType: "browser",
        online: true,
        lastSeenAt: expect.any(Number) as unknown,
        workspaceRevision: 5,
      },
    ]);
    desk.client.socket.close();
    expect(await observer.next("device.presence")).toMatchObject({ ...message, online: false });
    expect((await freshell.call("GET", "/api/devices/desk")).json).toMatchObject({ online: false });
  });

  test("a repeated frame takes effect again, whatever came in between", async () => {
    const desk = await FakeOwner.start(freshell, "desk");
    const say = async (workspaceRevision: number, allow: readonly string[]) => {
      desk.client.send({ type: "device.presence", deviceId: "desk", workspaceRevision, remoteControl: { allow } });
      await desk.settled();
      const { json } = await freshell.call("GET", "/api/devices/desk");
      const { status } = await ask(
        requestOf("kill-pane", "desk", { target: "pane:p1" }, { expectedRevision: desk.revision }),
      );
      return [json["workspaceRevision"], status];
    };
    expect(await say(1, ["caller"])).toEqual([1, 200]);
    expect(await say(4, [])).toEqual([4, 401]);
    expect(await say(1, ["caller"])).toEqual([1, 200]);
    expect(await say(4, [])).toEqual([4, 401]);
  });

  test("silence for the time to live: offline, 4012; frames of any kind keep it online", async () => {
    await startWith({ config: { presenceTtlMs: 300 } });
    const [silent, talking] = [await FakeOwner.start(freshell, "silent"), await FakeOwner.start(freshell, "talking")];
    const beat = setInterval(() => talking.client.send({ type: "ping" }), 40);
    try {
      expect((await silent.client.closed).code).toBe(4_012);
      expect((await freshell.call("GET", "/api/devices/silent")).json["online"]).toBe(false);
      expect((await freshell.call("GET", "/api/devices/talking")).json["online"]).toBe(true);
    } finally {
      clearInterval(beat);
    }
  });

  test("a second owner takes over: 4011 for the first, requests to the second alone", async () => {
    const first = await FakeOwner.start(freshell, "desk", { allow: ["*"] });
    const second = await FakeOwner.start(freshell, "desk", { allow: ["*"] });
    expect((await first.client.closed).code).toBe(4_011);
    expect(await ask(requestOf("kill-pane", "desk", { target: "pane:p1" }))).toMatchObject({ status: 200 });
    expect([first.asked.length, second.asked.length]).toEqual([0, 1]);
    expect((await freshell.call("GET", "/api/devices/desk")).json["online"]).toBe(true);
  });

  test("D1: ready tells a caller whether the device's owner is online", async () => {
    const ready = async (role: string): Promise<unknown> => {
      const client = await freshell.connect(false);
      client.send({
        type: "hello",
        token: FRESHELL_TOKEN,
        capabilities: { layoutOwnershipV1: true, layoutRpcV1: true, devicePresenceV1: true },
        device: device("cli1", role),
      });
      return (await client.next("ready"))["device"];
    };
    expect(await ready("caller")).toEqual({ deviceId: "cli1", role: "caller", online: false });
    expect(await ready("owner")).toEqual({ deviceId: "cli1", role: "owner", online: true });
    expect(await ready("caller")).toEqual({ deviceId: "cli1", role: "caller", online: true });
  });

  test("flooding presence: 4008, and others are not affected", async () => {
    const [flood, calm] = [await FakeOwner.start(freshell, "flood"), await FakeOwner.start(freshell, "calm")];
    for (let count = 0; count < 100; count += 1) flood.client.send({ type: "device.presence", deviceId: "flood" });
    expect((await flood.client.closed).code).toBe(4_008);
    await calm.settled();
    expect((await freshell.call("GET", "/api/devices/calm")).json["online"]).toBe(true);
  });

  test.each(["a b", "../x", "x".repeat(65), "", "a.b"])("%j is no device's id", async (deviceId) => {
    const client = await freshell.connect(false);
    client.send({ type: "hello", token: FRESHELL_TOKEN, capabilities: {}, device: device(deviceId) });
    expect(await client.next("error")).toMatchObject({ code: "INVALID_MESSAGE" });
  });
});

describe("F002 F041 F167 F168 F169 F170 F171 F172 F209: reads", () => {
  const layout = async (query = "") => {
    const { status, json } = await freshell.call("GET", `/api/devices/desk/layout${query}`);
    return { status, json: json as Record<string, unknown> & { error: Record<string, unknown> } };
  };
  const leave = async (desk: FakeOwner): Promise<void> => {
    desk.client.socket.close();
    await desk.client.closed;
    await eventually(async () => (await freshell.call("GET", "/api/devices/desk")).json["online"] === false);
  };

  test("a live read is the owner's reply, a stale one what it published", async () => {
    const desk = await FakeOwner.start(freshell, "desk");
    desk.publish();
    await desk.settled();
    desk.panes = [{ id: "p9", content: { kind: "editor", filePath: "/f", unknown: 1 } }];
    desk.revision = 2;
    for (const query of ["", "?allowStale=1"]) {
      expect(await layout(query)).toMatchObject({
        status: 200,
        json: { source: "live", ownerOnline: true, workspaceRevision: 2, snapshot: desk.snapshot() },
      });
    }
    await leave(desk);
    expect(await layout()).toMatchObject({ status: 503, json: { error: { code: "DEVICE_OFFLINE", stage: "relay" } } });
    const stale = await layout("?allowStale=1");
    expect(stale).toMatchObject({
      status: 200,
      json: {
        source: "cache",
        ownerDeviceId: "desk",
        ownerOnline: false,
        workspaceRevision: 1,
        capturedAt: expect.any(Number) as unknown,
        ownerLastSeenAt: expect.any(Number) as unknown,
        snapshot: { layouts: { t1: { id: "p1" } } },
      },
    });
    await ask(requestOf("kill-pane", "desk", { target: "pane:p1" }));
    expect(await layout("?allowStale=1")).toEqual(stale);
  });

  test("without a published layout: NOT_FOUND", async () => {
    await leave(await FakeOwner.start(freshell, "desk"));
    expect(await layout("?allowStale=1")).toMatchObject({ status: 404, json: { error: { code: "NOT_FOUND" } } });
    expect((await layout("?allowStale=maybe")).status).toBe(400);
    expect((await layout("?more=1")).status).toBe(400);
  });

  test("what was published outlives the daemon, in a file of its owner alone; one without an owner is not served", async () => {
    const desk = await FakeOwner.start(freshell, "desk");
    desk.publish();
    await desk.settled();
    const { home } = freshell;
    const path = join(home, ".freshell/devices/desk.json");
    await freshell.freshell.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const stored = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    expect(stored["ownerDeviceId"]).toBe("desk");
    const config = { homePath: join(home, ".freshell"), resultsPath: join(home, "results.jsonl") };
    const { ownerDeviceId: _gone, ...without } = stored;
    writeFileSync(join(home, ".freshell/devices/old.json"), JSON.stringify(without));
    await using next = await FreshellFixture.start(stubServer(), { config });
    const { status, json } = await next.call("GET", "/api/devices/desk/layout?allowStale=1");
    expect([status, json["source"], json["snapshot"]]).toEqual([200, "cache", desk.snapshot()]);
    expect((await next.call("GET", "/api/devices/old/layout?allowStale=1")).status).toBe(404);
    expect(existsSync(join(home, ".freshell/devices/old.json"))).toBe(true);
  });
});

const [tab, pane, neighbour, url] = ["tab:t1", "pane:p1", "pane:p2", "https://h/"];

type Form = readonly [command: string, args: object];

/** One of each of the forms that change a layout and nothing else (§6.1). The tab's title is `a:b c`. */
const LAYOUT_FORMS: readonly Form[] = [
  ["new-tab", { browser: url }],
  ["kill-tab", { target: tab }],
  ["rename-tab", { target: "tab-name:a:b c", title: "new" }],
  ["select-tab", { target: "tab-index:0" }],
  ["split-pane", { target: pane, direction: "horizontal", browser: url }],
  ["split-pane", { target: "pane-index:0", tab, direction: "vertical", editor: "/f" }],
  ["kill-pane", { target: pane }],
  ["resize-pane", { target: pane, x: 30 }],
  ["swap-pane", { source: pane, target: neighbour }],
  ["select-pane", { target: pane }],
  ["open-browser", { target: pane, url }],
  ["navigate", { target: pane, url }],
  ["open-editor", { target: pane, filePath: "/f" }],
];

/** All that cannot be done while the owner is away (§6.5), but for `attach-terminal`. */
const OWNER_FORMS: readonly Form[] = [
  ...LAYOUT_FORMS,
  ["new-tab", {}],
  ["split-pane", { target: pane, direction: "horizontal", shell: "system" }],
  ["respawn-pane", { target: pane }],
  ["send-keys", { target: pane, keys: ["a"] }],
  ["capture-pane", { target: pane }],
  ["wait-for", { target: pane, exit: true }],
  ["read", {}],
  ["resolve", { target: pane }],
];

describe("F003 F012 F153 F156 F184: a mutation of another device", () => {
  test.each(LAYOUT_FORMS)(
    "%s %j: one frame to its owner, as it was asked, and the owner's answer",
    async (command, args) => {
      const desk = await FakeOwner.start(freshell, "desk", { allow: ["caller"] });
      const other = await FakeOwner.start(freshell, "other");
      const request = requestOf(command, "desk", args, { idempotencyKey: "k1" });
      expect(await ask(request)).toEqual({
        status: 200,
        json: {
          type: "layout.rpc.result",
          requestId: request["requestId"],
          ok: true,
          result: { tabId: "t1", paneId: "p1" },
          appliedRevision: 2,
        },
      });
      expect(desk.asked).toEqual([{ ...request, phase: "apply", deadlineMs: 15_000 }]);
      expect(other.asked).toEqual([]);
      expect(audit()).toEqual([
        {
          requestId: request["requestId"],
          callerDeviceId: "caller",
          targetDeviceId: "desk",
          command,
          result: "ok",
          errorCode: null,
          stage: null,
          timestamp: expect.any(String) as unknown,
        },
      ]);
    },
  );

  test("F153: over the WebSocket as over HTTP", async () => {
    const desk = await FakeOwner.start(freshell, "desk", { allow: ["*"] });
    const caller = await freshell.connect({ device: device("caller") });
    const request = requestOf("kill-pane", "desk", { target: "pane:p1" });
    caller.send(request);
    expect(await caller.next("layout.rpc.result")).toMatchObject({ ok: true, appliedRevision: 2 });
    caller.send({ ...request, requestId: "again" });
    expect(await caller.next("layout.rpc.result")).toEqual({
      type: "layout.rpc.result",
      requestId: "again",
      ok: false,
      error: {
        code: "REVISION_CONFLICT",
        message: "the revision is 2",
        stage: "owner",
        currentRevision: 2,
        details: { currentRevision: 2 },
      },
    });
    expect(desk.asked).toHaveLength(2);
  });

  test("F183: what the owner refuses has the status of its code", async () => {
    await FakeOwner.start(freshell, "desk", { allow: ["*"] });
    const { status, json } = await ask(requestOf("kill-pane", "desk", { target: "pane:p1" }, { expectedRevision: 7 }));
    expect([status, json["ok"], json.error["currentRevision"]]).toEqual([409, false, 1]);
  });
});

describe("F004 F005 F006 F024 F064 F078 F102 D12: an owner that is not there", () => {
  test.each(OWNER_FORMS)("%s %j: DEVICE_OFFLINE, at once", async (command, args) => {
    const desk = await FakeOwner.start(freshell, "desk", { allow: ["caller"] });
    desk.client.socket.close();
    await desk.client.closed;
    await eventually(async () => (await freshell.call("GET", "/api/devices/desk")).json["online"] === false);
    const { status, json } = await ask(requestOf(command, "desk", args));
    expect([status, json.error["code"], json.error["stage"]]).toEqual([503, "DEVICE_OFFLINE", "relay"]);
    expect(audit().at(-1)).toMatchObject({ result: "error", errorCode: "DEVICE_OFFLINE", stage: "relay" });
    const back = await FakeOwner.start(freshell, "desk");
    await back.settled();
    expect(back.asked).toEqual([]);
  });

  test("an unknown device: NOT_FOUND", async () => {
    const { status, json } = await ask(requestOf("kill-pane", "nobody", { target: "pane:p1" }));
    expect([status, json.error["code"], json.error["stage"]]).toEqual([404, "NOT_FOUND", "relay"]);
    for (const path of ["/api/devices/nobody", "/api/devices/nobody/layout?allowStale=1"]) {
      expect((await freshell.call("GET", path)).status).toBe(404);
    }
  });

  test("F030: a device that has logged in and never owned a layout is known, and offline", async () => {
    await freshell.call("POST", "/api/device-sessions", { deviceId: "cli1", deviceLabel: "me", deviceType: "cli" });
    const { json } = await ask(requestOf("kill-pane", "cli1", { target: "pane:p1" }));
    expect(json.error["code"]).toBe("DEVICE_OFFLINE");
  });
});

describe("F154 F155 F157 F158: silence", () => {
  beforeEach(() => startWith({ config: { rpcAckTimeoutMs: 60, ownerTimeoutMs: 120 } }));

  test("no ack: RPC_TIMEOUT of the relay; a late result is dropped and recorded", async () => {
    const desk = await FakeOwner.start(freshell, "desk", { allow: ["*"] });
    desk.acks = false;
    desk.answer = () => undefined;
    const request = requestOf("kill-pane", "desk", { target: "pane:p1" });
    const { status, json } = await ask(request);
    expect([status, json.error["code"], json.error["stage"]]).toEqual([504, "RPC_TIMEOUT", "relay"]);
    desk.result(String(request["requestId"]), { ok: true, result: {}, appliedRevision: 2 });
    await eventually(() => audit().length === 2);
    expect(audit().map(({ result, errorCode }) => [result, errorCode])).toEqual([
      ["error", "RPC_TIMEOUT"],
      ["late", null],
    ]);
    expect(desk.asked).toHaveLength(1);
  });

  test("an ack and silence: OWNER_TIMEOUT of the owner", async () => {
    const desk = await FakeOwner.start(freshell, "desk", { allow: ["*"] });
    desk.answer = () => undefined;
    const { status, json } = await ask(requestOf("kill-pane", "desk", { target: "pane:p1" }));
    expect([status, json.error["code"], json.error["stage"]]).toEqual([504, "OWNER_TIMEOUT", "owner"]);
  });

  test("the socket closes: after the ack OWNER_TIMEOUT at once, before it DEVICE_OFFLINE", async () => {
    await startWith({});
    for (const [acks, code, stage] of [
      [true, "OWNER_TIMEOUT", "owner"],
      [false, "DEVICE_OFFLINE", "relay"],
    ] as const) {
      const desk = await FakeOwner.start(freshell, "desk", { allow: ["*"] });
      desk.acks = acks;
      desk.answer = () => {
        desk.client.socket.close();
        return undefined;
      };
      const { json } = await ask(requestOf("kill-pane", "desk", { target: "pane:p1" }));
      expect([json.error["code"], json.error["stage"]]).toEqual([code, stage]);
      // What was under way is not sent to the next connection.
      const next = await FakeOwner.start(freshell, "desk");
      await next.settled();
      expect(next.asked).toEqual([]);
    }
  });
});

describe("F164 F165 F166 F191 F197 F198: who may do what", () => {
  const login = async (deviceId: string): Promise<Record<string, string>> => {
    const { json } = await freshell.call("POST", "/api/device-sessions", {
      deviceId,
      deviceLabel: deviceId,
      deviceType: "cli",
    });
    return { "x-auth-token": String(json["deviceToken"]) };
  };

  test("F198: another device is refused unless the owner allows it, and what is taken away is gone at once", async () => {
    const desk = await FakeOwner.start(freshell, "desk");
    const [phone, tablet] = [await login("phone"), await login("tablet")];
    const from = (callerDeviceId: string, headers: Record<string, string>) =>
      ask(
        requestOf("kill-pane", "desk", { target: "pane:p1" }, { callerDeviceId, expectedRevision: desk.revision }),
        headers,
      );
    const refused = await from("phone", phone);
    expect([refused.status, refused.json.error["code"], refused.json.error["stage"]]).toEqual([
      401,
      "UNAUTHORIZED",
      "relay",
    ]);
    expect(desk.asked).toEqual([]);
    await desk.allow("phone");
    expect((await from("phone", phone)).status).toBe(200);
    expect((await from("tablet", tablet)).status).toBe(401);
    await desk.allow();
    expect((await from("phone", phone)).status).toBe(401);
    const path = join(freshell.home, ".freshell/remote-control.json");
    writeFileSync(path, JSON.stringify({ desk: ["tablet"] }), { mode: 0o600 });
    expect((await from("tablet", tablet)).status).toBe(200);
    expect((await from("phone", phone)).status).toBe(401);
    writeFileSync(path, JSON.stringify({ desk: ["*"] }));
    expect((await from("phone", phone)).status).toBe(200);
    writeFileSync(path, JSON.stringify({ __proto__: ["*"], other: ["*"] }));
    expect((await from("phone", phone)).status).toBe(401);
    expect(audit().filter(({ errorCode }) => errorCode === "UNAUTHORIZED")).toHaveLength(5);
  });

  test("F197: tokens of another bootstrap token have no access, for mutations and reads", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "freshell-sessions-")), "sessions.json");
    const of = (token: string): FreshellFixtureOptions => ({
      token,
      app: { sessions: sessionFile({ path, token, log: silentLog }) },
    });
    const THEIRS = "bootstrap-token-of-others";
    await startWith(of(THEIRS));
    const opening = { deviceId: "caller", deviceLabel: "c", deviceType: "cli" };
    const { json } = await freshell.call("POST", "/api/device-sessions", opening, { "x-auth-token": THEIRS });
    const { deviceToken, refreshToken } = json as { deviceToken: string; refreshToken: string };
    const before = await ask(requestOf("read", "nobody", {}), { "x-auth-token": deviceToken });
    expect(before.json.error["code"]).toBe("NOT_FOUND");

    await startWith(of(FRESHELL_TOKEN));
    const desk = await FakeOwner.start(freshell, "desk", { allow: ["*"] });
    for (const token of [THEIRS, deviceToken]) {
      for (const request of [requestOf("kill-pane", "desk", { target: "pane:p1" }), requestOf("read", "desk", {})]) {
        const { status, json: refused } = await ask(request, { "x-auth-token": token });
        expect([status, refused.error["code"]]).toEqual([401, "UNAUTHORIZED"]);
      }
      const client = await freshell.connect(false);
      client.send({ type: "hello", token, capabilities: CAPABILITIES, device: device("caller") });
      expect((await client.next("error"))["code"]).toBe("NOT_AUTHENTICATED");
      expect((await client.closed).code).toBe(4_001);
    }
    const renewed = await freshell.call("POST", "/api/device-sessions/refresh", { refreshToken }, {});
    expect(renewed.status).toBe(401);
    expect(desk.asked).toEqual([]);
    // The same device, logged in here.
    expect((await ask(requestOf("kill-pane", "desk", { target: "pane:p1" }), await login("caller"))).status).toBe(200);
    rmSync(dirname(path), { recursive: true });
  });

  test("D13: a login and a refresh tell whose layout the device may change, and no scope stands for the permission", async () => {
    const opening = { deviceId: "phone", deviceLabel: "p", deviceType: "cli" };
    const remote = (answer: { readonly json: Record<string, unknown> }): readonly string[] =>
      (answer.json["scopes"] as readonly string[]).filter((scope) => scope.startsWith("remote-control:"));
    const first = await freshell.call("POST", "/api/device-sessions", opening);
    expect(remote(first)).toEqual([]);
    const desk = await FakeOwner.start(freshell, "desk", { allow: ["phone"] });
    await FakeOwner.start(freshell, "tablet", { allow: ["others"] });
    await FakeOwner.start(freshell, "phone", { allow: ["*"] });
    const file = join(freshell.home, ".freshell/remote-control.json");
    writeFileSync(file, JSON.stringify({ away: ["*"], tablet: ["laptop"], "no id!": ["*"] }), { mode: 0o600 });
    const body = { refreshToken: first.json["refreshToken"] };
    const second = await freshell.call("POST", "/api/device-sessions/refresh", body, {});
    expect(remote(second)).toEqual(["remote-control:away", "remote-control:desk"]);
    await desk.allow();
    const headers = { "x-auth-token": String(second.json["deviceToken"]) };
    const request = requestOf("kill-pane", "desk", { target: "pane:p1" }, { callerDeviceId: "phone" });
    expect((await ask(request, headers)).status).toBe(401);
  });

  test("a list that others may read or write, or that is none, allows nobody", async () => {
    await FakeOwner.start(freshell, "desk");
    const path = join(freshell.home, ".freshell/remote-control.json");
    for (const [text, mode] of [
      [JSON.stringify({ desk: ["*"] }), 0o644],
      ["no JSON", 0o600],
      [JSON.stringify(["desk"]), 0o600],
    ] as const) {
      writeFileSync(path, text);
      chmodSync(path, mode);
      expect((await ask(requestOf("kill-pane", "desk", { target: "pane:p1" }))).status).toBe(401);
    }
  });

  test("the device itself needs no permission; a device that has come anew allows nobody yet", async () => {
    const desk = await FakeOwner.start(freshell, "desk", { allow: ["caller"] });
    const own = await login("desk");
    const request = requestOf("kill-pane", "desk", { target: "pane:p1" }, { callerDeviceId: "desk" });
    expect((await ask(request, own)).status).toBe(200);
    desk.client.socket.close();
    await desk.client.closed;
    await FakeOwner.start(freshell, "desk");
    expect((await ask(requestOf("kill-pane", "desk", { target: "pane:p1" }))).status).toBe(401);
  });

  test("F166 F191: a device that acts for another is refused over both transports and recorded under its own id", async () => {
    const desk = await FakeOwner.start(freshell, "desk", { allow: ["*"] });
    const phone = await login("phone");
    const request = requestOf("kill-pane", "desk", { target: "pane:p1" }, { callerDeviceId: "desk" });
    expect(await ask(request, phone)).toMatchObject({ status: 401, json: { error: { code: "UNAUTHORIZED" } } });
    const client = await freshell.connect({ device: device("laptop") });
    client.send(request);
    expect(await client.next("layout.rpc.result")).toMatchObject({ error: { code: "UNAUTHORIZED", stage: "relay" } });
    expect(desk.asked).toEqual([]);
    expect(audit().map(({ callerDeviceId }) => callerDeviceId)).toEqual(["phone", "laptop"]);
  });

  test("reads and resolves need no permission", async () => {
    await FakeOwner.start(freshell, "desk");
    const phone = await login("phone");
    for (const [command, args] of [
      ["read", {}],
      ["resolve", { target: "pane:p1" }],
    ] as const) {
      expect((await ask(requestOf(command, "desk", args, { callerDeviceId: "phone" }), phone)).status).toBe(200);
    }
  });

  test("F164: a result of another connection has no effect, and is counted", async () => {
    const desk = await FakeOwner.start(freshell, "desk", { allow: ["*"] });
    const spoof = await FakeOwner.start(freshell, "spoof");
    desk.answer = (asked) => {
      spoof.result(asked.requestId, { ok: true, result: { paneId: "spoofed" }, appliedRevision: 2 });
      void spoof.settled().then(() => desk.result(asked.requestId, desk.honest(asked)));
      return undefined;
    };
    const { json } = await ask(requestOf("kill-pane", "desk", { target: "pane:p1" }));
    expect(json["result"]).toEqual({ tabId: "t1", paneId: "p1" });
    const { text } = await freshell.call("GET", "/api/metrics");
    expect(text).toMatch(/^freshell_rpc_ignored_total 1$/m);
  });

  test("F165: only a device publishes its layout; a revision that goes back is refused", async () => {
    const desk = await FakeOwner.start(freshell, "desk");
    const other = await FakeOwner.start(freshell, "other");
    other.publish({ ownerDeviceId: "desk" });
    expect(await other.client.next("error")).toMatchObject({ code: "UNAUTHORIZED" });
    desk.revision = 5;
    desk.publish();
    desk.publish({ workspaceRevision: 4 });
    expect(await desk.client.next("error")).toMatchObject({ code: "INVALID_MESSAGE" });
    desk.publish({ ownerDeviceId: undefined });
    expect(await desk.client.next("error")).toMatchObject({ code: "INVALID_MESSAGE" });
    expect((await freshell.call("GET", "/api/devices/desk")).json["workspaceRevision"]).toBe(5);
  });
});

describe("F199: the audit", () => {
  test("its files are their owner's alone, and hold no arguments", async () => {
    await FakeOwner.start(freshell, "desk", { allow: ["*"] });
    await ask(requestOf("rename-tab", "desk", { target: "tab:t1", title: "a-secret-title" }));
    const folder = join(freshell.home, ".freshell/audit");
    const path = join(folder, "remote-control.jsonl");
    expect([statSync(folder).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain("a-secret-title");
    expect(Object.keys(audit()[0]!)).toEqual(
      "requestId callerDeviceId targetDeviceId command result errorCode stage timestamp".split(" "),
    );
    await eventually(() => statSync(join(folder, "remote-control.begun")).size === 0);
  });
});

describe("bounds", () => {
  test("64 requests for one owner; the next is RESOURCE_LIMIT and not sent, others' owners go on", async () => {
    const [desk, other] = [
      await FakeOwner.start(freshell, "desk", { allow: ["*"] }),
      await FakeOwner.start(freshell, "other", { allow: ["*"] }),
    ];
    desk.answer = () => undefined;
    const caller = await freshell.connect({ device: device("caller") });
    for (let count = 0; count < 65; count += 1) caller.send(requestOf("kill-pane", "desk", { target: "pane:p1" }));
    expect(await caller.next("layout.rpc.result")).toMatchObject({
      ok: false,
      error: { code: "RESOURCE_LIMIT", stage: "relay", details: { limit: "requestsPerOwner", max: 64 } },
    });
    expect((await ask(requestOf("kill-pane", "other", { target: "pane:p1" }))).status).toBe(200);
    await eventually(() => desk.asked.length === 64);
    desk.client.socket.close();
    for (let count = 0; count < 64; count += 1) {
      expect(await caller.next("layout.rpc.result")).toMatchObject({ error: { code: "OWNER_TIMEOUT" } });
    }
    expect(other.asked).toHaveLength(1);
  });
});
