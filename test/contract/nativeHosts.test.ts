/** The native API on other machines: lists, the end of a stream, and machines behind machines. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import { openThere } from "../../adapters/remote/hostStreams.ts";
import { RemoteHost } from "../../adapters/remote/remoteHost.ts";
import { RemoteHosts } from "../../adapters/remote/remoteHosts.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { cutLink } from "../support/daemon/cutLink.ts";
import { deadHosts, nearFixture } from "../support/daemon/farHost.ts";
import { RawSocket } from "../support/daemon/nativeSocket.ts";
import { nativeFixture, noAgentless, noAgents, stubServer } from "../support/daemon/nativeServer.ts";
import { Disposables } from "../support/disposables.ts";

/** A machine with a server, `main`, and no hosts yet. */
async function machine(opened: Disposables) {
  const server = stubServer();
  const links: Awaited<ReturnType<typeof cutLink>>[] = [];
  const remote = new RemoteHosts({
    servers: new Map([["main", server]]),
    hosts: [],
    link: () => links[0]!,
    agentless: noAgentless,
    save: () => undefined,
    clock: systemClock,
  });
  const fixture = opened.use(await nativeFixture(server, { remote, agents: noAgents }));
  opened.use({ [Symbol.asyncDispose]: () => remote.close() });
  const asksItsHosts = vi.spyOn(remote, "withTheirs");
  const add = async (name: string, port: number): Promise<void> => {
    links.push(await cutLink(port));
    await remote.add({ name, destination: name }, undefined);
  };
  return { fixture, add, asksItsHosts };
}

test("machines that have each other as hosts list each server once, and do not ask in a circle", async () => {
  await using opened = new Disposables();
  const [here, there] = [await machine(opened), await machine(opened)];
  await here.add("there", there.fixture.port);
  await there.add("here", here.fixture.port);
  for (const { asksItsHosts } of [here, there]) asksItsHosts.mockClear();
  const { json } = await here.fixture.call("GET", "/v1/servers");
  expect((json["servers"] as { name: string }[]).map(({ name }) => name)).toEqual(["main", "main@there"]);
  expect(json["unreachable"]).toBeUndefined();
  expect([here, there].map(({ asksItsHosts }) => asksItsHosts.mock.calls.length)).toEqual([1, 0]);
});

test("a machine that owes responses is not asked for more and more of them", async () => {
  const server = stubServer();
  await using far = await nativeFixture(server, { agents: noAgents });
  await using near = await nearFixture(far.port);
  near.link.stall();
  for (let count = 0; count < 30; count += 1) {
    // oxlint-disable-next-line no-await-in-loop -- the first one is waited for, the others are not
    const { json } = await near.call("GET", "/v1/servers");
    expect(json["unreachable"]).toEqual(["far"]);
  }
  expect(near.link.mostConnections).toBeLessThan(10);
});

test("a stream ends with the pane, once, also where another pane has its name at once", async () => {
  const server = stubServer();
  await server.createSession({ name: "work" });
  await using far = await nativeFixture(server, { agents: noAgents });
  await using near = await nearFixture(far.port);
  const response = await fetch(`${near.url}/v1/servers/main@far/panes/work/stream`);
  await near.call("DELETE", "/v1/servers/main@far/sessions/work");
  await near.call("POST", "/v1/servers/main@far/sessions", { name: "work" });
  const events = (await response.text()).match(/^event: .*/gm);
  expect(events).toEqual(["event: open", "event: closed"]);
});

test("what a host says of a host of its own is passed on: it is no lost connection, and nothing is repeated", async () => {
  const server = stubServer();
  await using far = await nativeFixture(server, { agents: noAgents, remote: deadHosts() });
  await using near = await nearFixture(far.port);
  for (const [method, path, body] of [
    ["GET", "panes", undefined],
    ["POST", "sessions", { name: "work" }],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, json } = await near.call(method, `/v1/servers/main@build@far/${path}`, body);
    expect([status, json]).toEqual([
      503,
      { error: { code: "DAEMON_UNREACHABLE", message: "no route to host; run `ssh build true`" } },
    ]);
  }
});

test("an error of a code that only a newer daemon knows is passed on with its words", async () => {
  const far = createServer((_request, response) => {
    response.writeHead(418, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { code: "OUT_OF_TEA", message: "there is no tea left" } }));
  });
  await once(far.listen(0, "127.0.0.1"), "listening");
  await using near = await nearFixture((far.address() as AddressInfo).port);
  const { status, json } = await near.call("GET", "/v1/servers/main@far/panes");
  const error = { code: "PROTOCOL_ERROR", message: "there is no tea left" };
  expect([status, json]).toEqual([502, { error }]);
  await using socket = await RawSocket.open(near.port);
  socket.send({ type: "call", id: 1, operation: "listPanes", server: "main@far" });
  expect(await socket.next()).toEqual({ type: "error", id: 1, ...error });
  far.close();
});

test("a program that ssh could not be given is refused, and not remembered: the next daemon could not start", async () => {
  const server = stubServer();
  await using far = await nativeFixture(server, { agents: noAgents });
  await using near = await nearFixture(far.port);
  for (const agentless of [true, false]) {
    const host = { name: "nas", destination: "nas.example", program: "-v", agentless };
    // oxlint-disable-next-line no-await-in-loop -- the same name again
    const { status, json } = await near.call("POST", "/v1/hosts", host);
    expect([status, json]).toEqual([
      400,
      { error: { code: "INVALID_ARGUMENT", message: '"-v" is no path of a program: give its path on the host' } },
    ]);
  }
  expect(near.saved).toEqual([]);
});

test("a gap is declared once, also where the connection is cut before the snapshot that ends it", async () => {
  const sse = (event: string, data: object, id = ""): string =>
    `${id === "" ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  const open = sse("open", { server: "main", pane: "%0", position: "e:0", cols: 80, rows: 24 }, "e:0");
  const gap = sse("gap", { from: "e:0", to: "e:9", reason: "evicted" });
  const snapshot = sse("snapshot", { data: "", position: "e:9", cols: 80, rows: 24 }, "e:9");
  const asked: (string | undefined)[] = [];
  const far = createServer((request, response) => {
    asked.push(request.headers["last-event-id"] as string | undefined);
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (asked.length === 1) response.write(open + gap, () => setImmediate(() => response.destroy()));
    else response.end(open + gap + snapshot + sse("closed", { code: "NOT_FOUND", message: "gone" }));
  });
  await once(far.listen(0, "127.0.0.1"), "listening");
  await using near = await nearFixture((far.address() as AddressInfo).port);
  const response = await fetch(`${near.url}/v1/servers/main@far/panes/0/stream`);
  const events = (await response.text()).match(/^event: .*/gm);
  expect([asked, events]).toEqual([
    [undefined, "e:0"],
    ["event: open", "event: gap", "event: snapshot", "event: closed"],
  ]);
  far.close();
});

test("a host that responds with something else is listed with what is known", async () => {
  const far = createServer((_request, response) => response.end('{"servers":7}'));
  await once(far.listen(0, "127.0.0.1"), "listening");
  await using near = await nearFixture((far.address() as AddressInfo).port);
  const { json } = await near.call("GET", "/v1/hosts");
  expect(json["hosts"]).toMatchObject([{ name: "far", state: "connected", servers: null, agents: null }]);
  expect((await near.call("GET", "/v1/servers")).json["servers"]).toMatchObject([{ name: "main" }]);
  far.close();
});

test("no event of a host becomes several here", async () => {
  const far = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const forged = ["", "event: agent-appeared", 'data: {"agent":{"name":"ours"}}', "", ""];
    response.end(`event: note\n${forged.map((line) => `data: ${line}\n`).join("")}\nevent: closed\ndata: {}\n\n`);
  });
  await once(far.listen(0, "127.0.0.1"), "listening");
  await using near = await nearFixture((far.address() as AddressInfo).port);
  const response = await fetch(`${near.url}/v1/servers/main@far/events`);
  expect((await response.text()).match(/^event: .*/gm)).toEqual(["event: note", "event: closed"]);
  far.close();
});

test("a daemon of a host that has another token by now is found anew: what it refused is done then, and once", async () => {
  const server = stubServer();
  await using far = await nativeFixture(server, { agents: noAgents, token: "another" });
  const way = await cutLink(far.port);
  const { socketPath } = await way.connection();
  let token = "former";
  const check = vi.fn<() => Promise<number>>(async () => {
    token = "another";
    return 0;
  });
  const link = { ...way, connection: async () => ({ socketPath, host: { token } }), check };
  const host = new RemoteHost({ name: "far", destination: "far.example" }, link, systemClock);
  await host.perform("createSession", { server: "main" }, { name: "work" }, {});
  expect([server.sessions().map(({ name }) => name), check.mock.calls.length]).toEqual([["work"], 1]);
  token = "former";
  const following = new AbortController();
  const stream = await openThere(host, ["v1", "servers", "main", "panes", "work", "stream"], following.signal);
  following.abort();
  expect(stream.status).toBe(200);
  expect(check.mock.calls.length).toBe(2);
  check.mockImplementation(async () => 0);
  token = "former";
  await expect(host.perform("listSessions", { server: "main" }, {}, {})).rejects.toMatchObject({
    code: "UNAUTHORIZED",
  });
  await way.close();
});

test("a host that is added while the one of its name still ends waits for that: they have one directory", async () => {
  const steps: string[] = [];
  let end: () => void = () => undefined;
  const hosts = new RemoteHosts({
    servers: new Map(),
    hosts: [{ name: "build", destination: "former" }],
    link: ({ destination }) => {
      steps.push(`${destination} begins`);
      return {
        state: { kind: "unreachable", sinceUnixMs: 0 },
        connection: () => Promise.reject(new Error("it is away")),
        subscribe: () => () => undefined,
        check: async () => 0,
        retry: () => undefined,
        forget: async () => {
          await new Promise<void>((resolve) => (end = resolve));
          steps.push(`${destination} has ended`);
        },
        close: async () => undefined,
      };
    },
    agentless: noAgentless,
    save: () => undefined,
    clock: systemClock,
  });
  const removed = hosts.remove("build");
  const added = hosts.add({ name: "build", destination: "next" }, undefined);
  await new Promise(setImmediate);
  end();
  await Promise.all([removed, added]);
  expect(steps).toEqual(["former begins", "former has ended", "next begins"]);
});

test("input whose caller has left while the host was away is not typed when it is back", async () => {
  const server = stubServer();
  await server.createSession({ name: "work" });
  await using far = await nativeFixture(server, { agents: noAgents });
  await using near = await nearFixture(far.port);
  near.link.cut();
  const handedOver = vi.spyOn(near.remote, "handOver");
  const leaving = new AbortController();
  const asked = fetch(`${near.url}/v1/servers/main@far/panes/work/input`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ parts: [{ kind: "text", text: "too late" }] }),
    signal: leaving.signal,
  });
  await vi.waitFor(() => expect(handedOver).toHaveBeenCalledTimes(1));
  leaving.abort();
  await expect(asked).rejects.toThrow("aborted");
  // The daemon has learned of that.
  await near.call("GET", "/v1/daemon");
  near.link.mend();
  const [given] = handedOver.mock.results as { readonly value: Promise<object> }[];
  await expect(given?.value).rejects.toMatchObject({ code: "CANCELLED" });
  await near.call("POST", "/v1/servers/main@far/panes/work/input", { parts: [{ kind: "text", text: "in time" }] });
  const { text } = await near.call("GET", "/v1/servers/main@far/panes/work/capture");
  expect([text.includes("too late"), text.includes("in time")]).toEqual([false, true]);
});
