/** Devices: who is online, and what their layouts look like (docs/contracts/freshell.md). */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StubServer } from "../../daemon/servers/stub/stubServer.ts";
import { FRESHELL_TOKEN, FreshellFixture, type FreshellFixtureOptions } from "../support/daemon/freshellFixture.ts";
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
