/** The native API over a server, on a listener of its own: everything that stands between a socket and tmux. */
import { createNativeApp, type NativeApp, type NativeAppOptions } from "../../../adapters/native/nativeApp.ts";
import { listen } from "../../../adapters/kit/listeners/listen.ts";
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

export async function nativeFixture(
  server: TmuxServer,
  options: Partial<NativeAppOptions> = {},
  port = 0,
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
