/** The native API over a server, on a listener of its own: everything that stands between a socket and tmux. */
import { createNativeApp, type NativeApp, type NativeAppOptions } from "../../../adapters/native/nativeApp.ts";
import { listen } from "../../../adapters/kit/listeners/listen.ts";
import { ScreenSearch } from "../../../adapters/agents/running/screenSearch.ts";
import type { AgentDirectory } from "../../../adapters/agents/running/agentDirectory.ts";
import { RemoteHosts } from "../../../adapters/remote/remoteHosts.ts";
import { cutLink } from "./cutLink.ts";
import { silentLog } from "../../../bench/silentLog.ts";
import { StubServer } from "../../../daemon/servers/stub/stubServer.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { WaitManager } from "../../../daemon/waits/waitManager.ts";

export interface NativeFixture extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly native: NativeApp;
  readonly waits: WaitManager;
  readonly servers: Map<string, TmuxServer>;
  /** JSON in, JSON out. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<NativeAnswer>;
}

export interface NativeAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

/** The project `host` runs: there is another daemon between a test and the servers. */
export const isThroughHost = process.env["THROUGH_HOST"] === "1";

export function nativeFixture(
  server: TmuxServer,
  options: Partial<NativeAppOptions> = {},
  port = 0,
): Promise<NativeFixture> {
  return isThroughHost ? throughHost(server, options, port) : directFixture(server, options, port);
}

async function directFixture(
  server: TmuxServer,
  options: Partial<NativeAppOptions>,
  port: number,
): Promise<NativeFixture> {
  const servers = new Map([["main", server]]);
  const waits = new WaitManager({ clock: systemClock });
  const native = createNativeApp({ servers, waits, clock: systemClock, log: silentLog, ...options });
  const listener = await listen({
    fetch: native.app.fetch,
    host: "127.0.0.1",
    port,
    websocket: native.websocket,
    clock: systemClock,
  });
  return {
    url: listener.url,
    port: listener.port,
    native,
    waits,
    servers,
    call: (method, path, body, headers = {}) => callJson(listener.url, method, path, body, headers),
    [Symbol.asyncDispose]: async () => {
      native.close();
      waits.close();
      await listener.close();
    },
  };
}

/** For a daemon that has no agents of its own. */
export const noAgents = {
  agents: () => [],
  screens: new ScreenSearch(),
  running: () => undefined,
  refresh: async () => undefined,
} as unknown as AgentDirectory;

/** For hosts that all have a daemon. */
export const noAgentless = (): never => {
  throw new Error("every host of this test has a daemon");
};

/** What is on the server is there; who may ask, and for how long a reader may stall, is of the daemon that is asked. */
async function throughHost(
  server: TmuxServer,
  { token, hosts, origins, peers, mounts, ...rest }: Partial<NativeAppOptions>,
  port: number,
): Promise<NativeFixture> {
  const far = await directFixture(server, rest, 0);
  const link = await cutLink(far.port);
  const { clock = systemClock, log = silentLog, streamBounds, version } = rest;
  const servers = new Map<string, TmuxServer>();
  const host = { name: "far", destination: "far.example" };
  const remote = new RemoteHosts({
    servers,
    hosts: [host],
    link: () => link,
    agentless: noAgentless,
    save: () => undefined,
    clock,
  });
  const waits = new WaitManager({ clock });
  const guarded = { token, hosts, origins, peers, mounts, streamBounds, version };
  const native = createNativeApp({ ...guarded, servers, waits, clock, log, remote, agents: noAgents });
  const { fetch } = native.app;
  const listener = await listen({ fetch, host: "127.0.0.1", port, websocket: native.websocket, clock: systemClock });
  return {
    ...far,
    url: listener.url,
    port: listener.port,
    native,
    call: async (method, path, body, headers = {}) => {
      if (path === "/readyz") return far.call(method, path, body, headers);
      const answer = await callJson(listener.url, method, path, body, headers);
      // What is counted of a server is counted there.
      return path === "/metrics" ? { ...answer, text: answer.text + (await far.call(method, path)).text } : answer;
    },
    [Symbol.asyncDispose]: async () => {
      native.close();
      waits.close();
      await listener.close();
      await remote.close();
      await far[Symbol.asyncDispose]();
    },
  };
}

const isRaw = (body: unknown): body is string | Uint8Array<ArrayBuffer> =>
  typeof body === "string" || body instanceof Uint8Array;

export async function callJson(
  url: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<NativeAnswer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
  };
}

/** A stub that throws what a listener throws. */
export const stubServer = (retainBytes?: number): StubServer =>
  new StubServer({
    nowUnixMs: () => Date.now(),
    retainBytes,
    onListenerError: (error) => {
      throw error;
    },
  });
