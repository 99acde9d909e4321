/** Windows, panes and events of a server over HTTP and WebSocket, against the stub as far as it knows windows. */
import * as v from "valibot";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createClient, type ServerEventWithId } from "../../adapters/client/client.ts";
import type { NativeAppOptions } from "../../adapters/native/nativeApp.ts";
import { STREAM_PROTOCOL } from "../../protocol/api/native/nativeFrames.ts";
import { layoutResultSchema } from "../../protocol/api/native/nativeLayout.ts";
import { LAYOUT_OPERATION_NAMES } from "../../protocol/api/operationRoutes.ts";
import { serverEventSchema, treeSchema, windowsSchema } from "../../protocol/api/native/nativeTree.ts";
import { eventually } from "../support/clock/eventually.ts";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";

const TREE = "/v1/servers/main/tree";
const LAYOUT = "/v1/servers/main/layout";

async function withSession(options: Partial<NativeAppOptions> = {}) {
  const server = stubServer();
  await server.createSession({ name: "work" });
  const fixture = await nativeFixture(server, options);
  return { ...fixture, server, client: createClient({ url: fixture.url }).server("main") };
}

const stops: AbortController[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort();
});

/** Reads in the background; what has come so far. */
function reading(events: (signal: AbortSignal) => AsyncGenerator<ServerEventWithId, void, void>) {
  const stop = new AbortController();
  stops.push(stop);
  const come: ServerEventWithId[] = [];
  const ended = (async () => {
    for await (const event of events(stop.signal)) come.push(event);
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    come,
    types: () => come.map(({ event }) => event.type),
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}

describe("lists", () => {
  test("the tree and the windows match their schemas", async () => {
    await using api = await withSession();
    const tree = v.parse(treeSchema, (await api.call("GET", TREE)).json);
    expect(tree).toMatchObject({
      state: "ready",
      sessions: [{ id: "$0", name: "work", windows: [{ index: 0, window: "@0" }], activeWindow: "@0" }],
      windows: [{ id: "@0", cols: 80, rows: 24, zoomed: false, panes: ["%0"], activePane: "%0" }],
      panes: [{ id: "%0", window: "@0", exit: null }],
    });
    const { windows } = v.parse(windowsSchema, (await api.call("GET", "/v1/servers/main/windows")).json);
    expect(windows).toMatchObject([{ id: "@0", sessions: ["$0"] }]);
    expect((await api.call("GET", "/v1/servers/other/tree")).status).toBe(404);
  });
});

describe("operations", () => {
  test("every operation refuses an unknown target, an unknown member and an empty body", async () => {
    await using api = await withSession();
    const before = await api.client.tree();
    const needed = { name: "x", layout: "tiled", option: "mode-keys", value: null, with: "0", to: "0" };
    for (const name of LAYOUT_OPERATION_NAMES) {
      const empty = await api.call("POST", `${LAYOUT}/${name}`, {});
      expect([name, empty.status]).toEqual([name, 400]);
      const { message } = (empty.json["error"] ?? {}) as { message: string };
      const member = /^(pane|window|session): /.exec(message)?.[1] ?? "";
      expect([name, member]).not.toEqual([name, ""]);
      const unknown = await api.call("POST", `${LAYOUT}/${name}`, { [member]: "work", nonsense: 1 });
      expect([name, unknown.status]).toEqual([name, 400]);
      // What else it needs is told by its schema; targets are looked up after that.
      let body: Record<string, unknown> = { [member]: "no such thing" };
      let answer = await api.call("POST", `${LAYOUT}/${name}`, body);
      for (let tries = 0; answer.status === 400 && tries < 4; tries += 1) {
        const [, missing = ""] = /^(\w+): /.exec((answer.json["error"] as { message: string }).message) ?? [];
        body = { ...body, [missing]: needed[missing as keyof typeof needed] };
        answer = await api.call("POST", `${LAYOUT}/${name}`, body);
      }
      expect([name, answer.status, answer.json]).toMatchObject([name, 404, { error: { code: "NOT_FOUND" } }]);
    }
    expect(await api.client.tree()).toEqual(before);
  });

  test("operations on a session with one pane succeed and are reported", async () => {
    await using api = await withSession();
    const events = reading((signal) => api.client.events({ signal }));
    await eventually(() => events.come.length === 1);
    const { layout } = api.client;
    const result = await layout
      .renameWindow({ window: "work", name: "a <b>\u001b[31m\n" })
      .catch((error: unknown) => error);
    expect(result).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(v.parse(layoutResultSchema, await layout.renameWindow({ window: "@0", name: "#{pid} <b>" }))).toEqual({
      session: "$0",
      window: "@0",
      pane: null,
    });
    await layout.renameSession({ session: "work", name: "play" });
    await layout.resizeWindow({ window: "play", cols: 100 });
    await layout.setWindowOption({ window: "play", option: "mode-keys", value: "vi" });
    await expect(layout.setWindowOption({ window: "play", option: "mode-keys", value: "nano" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: 'mode-keys must be one of vi, emacs, not "nano"',
    });
    await expect(
      layout.setWindowOption({ window: "play", option: "default-command", value: "x" }),
    ).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(layout.splitWindow({ pane: "play" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(layout.selectLayout({ window: "play", layout: "bb63,1x1,0,0" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    await layout.killPane({ pane: "play" });
    await eventually(() => events.types().includes("window-closed"));
    expect(events.types()).toEqual([
      ..."reset window-renamed session-renamed layout-changed pane-resized session-closed pane-closed".split(" "),
      ..."window-closed".split(" "),
    ]);
    for (const { event } of events.come) expect(v.parse(serverEventSchema, event)).toEqual(event);
    expect(events.come[1]?.event).toMatchObject({ name: "#{pid} <b>" });
  });
});

describe("events", () => {
  test("events resume after a tree or any of its events, and none is repeated", async () => {
    await using api = await withSession();
    const { id } = await api.client.tree();
    const first = reading((signal) => api.client.events({ after: id, signal }));
    await api.server.createSession({ name: "b" });
    await eventually(() => first.come.length === 3);
    expect(first.types()).toEqual(["window-created", "pane-created", "session-created"]);
    await first.stop();
    await api.client.layout.renameSession({ session: "b", name: "c" });
    const again = reading((signal) => api.client.events({ after: first.come[1]!.id, signal }));
    await eventually(() => again.come.length === 2);
    expect(again.types()).toEqual(["session-created", "session-renamed"]);
    expect(again.come[0]).toEqual(first.come[2]);
  });

  test("an unknown or expired id gets the whole tree once", async () => {
    await using api = await withSession({ eventBounds: { maxEvents: 2 } });
    const { id } = await api.client.tree();
    for (const name of ["b", "c", "d"]) await api.client.layout.renameSession({ session: "$0", name });
    for (const after of [id, "abcdefabcdef:1", `${id.split(":")[0]}:999`]) {
      const events = reading((signal) => api.client.events({ after, signal }));
      await eventually(() => events.come.length === 1);
      expect(events.come[0]?.event).toMatchObject({ type: "reset", reason: "unknown", sessions: [{ name: "d" }] });
      await events.stop();
    }
    const bad = await api.call("GET", "/v1/servers/main/events?after=x%0Ay");
    expect(bad.status).toBe(400);
  });

  test("a stopping daemon says so on both transports, also to a reader without a resume", async () => {
    await using api = await withSession();
    const socket = new WebSocket(`${api.url.replace("http", "ws")}/v1/stream`, STREAM_PROTOCOL);
    const told: { type: string; event?: { type: string } }[] = [];
    socket.on("message", (data: Buffer) => told.push(JSON.parse(data.toString()) as (typeof told)[number]));
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send(JSON.stringify({ type: "follow-events", id: 1, server: "main" }));
    const types: string[] = [];
    const ended = (async () => {
      for await (const { event } of api.client.events({ resume: false })) types.push(event.type);
    })();
    await eventually(() => types.length === 1 && told.length === 2);
    const response = await fetch(`${api.url}/v1/servers/main/events`);
    api.native.close();
    await expect(ended).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    expect(await response.text()).toMatch(
      /\n\nevent: closed\ndata: \{"type":"closed","code":"SHUTTING_DOWN",.*\}\n\n$/,
    );
    await eventually(() => told.at(-1)?.event?.type === "closed");
  });

  test("a reader that does not read has no queue and gets the whole tree when it reads again", async () => {
    await using api = await withSession({ eventBounds: { maxEvents: 16 } });
    const socket = new WebSocket(`${api.url.replace("http", "ws")}/v1/stream`, STREAM_PROTOCOL);
    const told: { type: string; event?: { type: string; reason?: string } }[] = [];
    socket.on("message", (data: Buffer) => told.push(JSON.parse(data.toString()) as (typeof told)[number]));
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send(JSON.stringify({ type: "follow-events", id: 1, server: "main" }));
    await eventually(() => told.length === 2);
    expect(told).toMatchObject([
      { type: "ack", id: 1 },
      { type: "server-event", event: { type: "reset", reason: "start" } },
    ]);
    socket.pause();
    // More than the connection and the kernel hold for a reader.
    const name = "x".repeat(250);
    let renamed = 0;
    const fill = async (): Promise<void> => {
      for (let at = 0; at < 2_000; at += 1) {
        renamed += 1;
        await api.server.layout.run({
          kind: "rename-window",
          window: "@0" as never,
          name: `${name}${renamed % 1_000}`,
        });
      }
    };
    for (let at = 0; at < 15; at += 1) await fill();
    socket.resume();
    await eventually(() => told.some(({ event }) => event?.reason === "behind"));
    expect(told.length).toBeLessThan(renamed);
    const after = told.length;
    await api.client.layout.renameWindow({ window: "@0", name: "end" });
    await eventually(() => told.at(-1)?.event?.type === "window-renamed" && told.length > after);
    socket.send(JSON.stringify({ type: "follow-events", id: 2, server: "main" }));
    socket.send(JSON.stringify({ type: "unfollow-events", id: 3, server: "main" }));
    await eventually(() => told.at(-1)?.type === "ack");
    expect(told.at(-2)).toMatchObject({ type: "error", id: 2, code: "ALREADY_EXISTS" });
    socket.close();
  });
});
