/** Connections that say nothing take no place from those that do: a listener responds whatever sits on it. */
import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { Agent as SecureAgent, request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { KeyPair } from "../../adapters/kit/listeners/boundedServer.ts";
import { FIRST_BYTE_WITHIN_MS, MAX_CONNECTIONS } from "../../adapters/kit/peers/httpLimits.ts";
import { type Listener, listen } from "../../adapters/kit/listeners/listen.ts";
import { makeAuthority } from "../../adapters/kit/trust/localAuthority.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { ADDIN_ORIGIN } from "../support/daemon/addinClient.ts";
import { type RunningBackend, addinApp, stubBackend } from "../support/daemon/backends.ts";
import { isRoot, OTHER_UID, tellSkip } from "../support/daemon/otherUser.ts";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A process that holds silent connections to a port and opens each anew as soon as it is closed, at a steady count. */
const PROGRAM = `
const [port, count, text] = [Number(process.argv[1]), Number(process.argv[2]), process.argv[3]];
let opened = 0, connected = 0;
const open = () => {
  const socket = require("net").connect(port, "127.0.0.1");
  opened += 1;
  socket.once("connect", () => { connected += 1; if (text !== "") socket.write(text); });
  socket.on("error", () => undefined);
  socket.resume();
  // A socket that cannot even be opened is not tried again in the same turn.
  socket.once("close", () => setTimeout(open, 10));
};
for (let at = 0; at < count; at += 1) open();
setInterval(() => console.log(JSON.stringify({ opened, connected })), 50);
`;

interface SilentCrowd extends AsyncDisposable {
  /** How many connections it has begun so far, as it last said. */
  opened(): number;
  /** Once it has begun so many. */
  until(opened: number): Promise<void>;
}

/** @param text what each of them sends; nothing when it is empty */
function silentCrowd(port: number, count: number, text = "", uid?: number): SilentCrowd {
  const child = spawn(process.execPath, ["-e", PROGRAM, String(port), String(count), text], {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: "/",
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
  let opened = 0;
  const waiting = new Set<() => void>();
  createInterface(child.stdout).on("line", (line) => {
    ({ opened } = JSON.parse(line) as { opened: number });
    for (const probe of waiting) probe();
  });
  return {
    opened: () => opened,
    until: (wanted) =>
      new Promise((resolve) => {
        const probe = (): void => {
          if (opened < wanted) return;
          waiting.delete(probe);
          resolve();
        };
        waiting.add(probe);
        probe();
      }),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

let backend: RunningBackend;
let listener: Listener | undefined;
let tls: KeyPair;
beforeAll(async () => {
  backend = await stubBackend.start();
  const { key, cert } = await makeAuthority(Date.now(), "tmuxwire test");
  tls = { key, cert };
});
afterEach(async () => {
  await listener?.close();
  listener = undefined;
});
afterAll(() => backend.close());

async function start(secure: boolean): Promise<number> {
  listener = await listen({
    fetch: addinApp(backend.server, { token: "t0ken" }).fetch,
    host: "127.0.0.1",
    port: 0,
    tls: secure ? tls : undefined,
    clock: systemClock,
  });
  return listener.port;
}

interface Client {
  /** Health, on a connection that has never been used. */
  health(): Promise<number>;
  /** With the token, on one kept connection; which one it was. */
  list(): Promise<string>;
  close(): void;
}

const BODY = '{"action":"list_sessions"}';

function client(port: number, secure: boolean): Client {
  const kept = secure
    ? new SecureAgent({ keepAlive: true, maxSockets: 1 })
    : new Agent({ keepAlive: true, maxSockets: 1 });
  const send = (
    path: string,
    body: string | undefined,
    agent: Agent | SecureAgent | false,
  ): Promise<[number, string]> =>
    new Promise((resolve, reject) => {
      const headers = {
        origin: ADDIN_ORIGIN,
        authorization: "Bearer t0ken",
        ...(body === undefined ? {} : { "content-type": "application/json", "content-length": body.length }),
      };
      const method = body === undefined ? "GET" : "POST";
      const call = (secure ? httpsRequest : httpRequest)(
        { host: "127.0.0.1", port, path, method, headers, agent, rejectUnauthorized: false },
        (response) => {
          response.resume();
          const localPort = String(response.socket.localPort);
          response.once("end", () => resolve([response.statusCode ?? 0, localPort]));
        },
      );
      call.once("error", reject);
      call.end(body);
    });
  return {
    health: async () => (await send("/health", undefined, false))[0],
    list: async () => {
      const [status, localPort] = await send("/v1/tmux", BODY, kept);
      expect(status).toBe(200);
      return localPort;
    },
    close: () => kept.destroy(),
  };
}

/** A machine with other work on it may take its time. Locked out was for as long as the others stayed: 10 to 15 s. */
const PROMPT_MS = 5_000;

tellSkip("a crowd of another user's connections");
test.each<[what: string, scheme: string, text: string, uid: number | undefined]>([
  ["silent", "http", "", undefined],
  ["silent", "https", "", undefined],
  ["begun and left", "http", "POST /v1/tmux HTTP/1.1\r\nHost:", undefined],
  ["refused", "http", `GET /v1/tmux HTTP/1.1\r\nHost: localhost\r\nOrigin: ${ADDIN_ORIGIN}\r\n\r\n`, undefined],
  ...(isRoot ? [["silent and another user's", "http", "", OTHER_UID] satisfies [string, string, string, number]] : []),
])("300 %s connections over %s, opened again and again", { timeout: 40_000 }, async (_what, scheme, text, uid) => {
  const secure = scheme === "https";
  const port = await start(secure);
  const mine = client(port, secure);
  try {
    const connection = await mine.list();
    await using crowd = silentCrowd(port, 300, text, uid);
    await crowd.until(300);
    let [answers, slowestMs] = [0, 0];
    // They were sent away and came again, as many once more: else this would show nothing.
    while (answers < 20 || crowd.opened() < 900) {
      const startMs = performance.now();
      const [health, list] = await Promise.all([mine.health(), mine.list()]);
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
      // The connection that was there is the one that is still there.
      expect([health, list]).toEqual([200, connection]);
      answers += 1;
    }
    expect(slowestMs).toBeLessThan(PROMPT_MS);
  } finally {
    mine.close();
  }
});

test(
  "a client that sends a request gets its response despite a burst larger than the limit",
  { timeout: 30_000 },
  async () => {
    const port = await start(false);
    const mine = client(port, false);
    try {
      await using crowd = silentCrowd(port, MAX_CONNECTIONS + 200);
      await crowd.until(MAX_CONNECTIONS + 200);
      const startMs = performance.now();
      // One that found every place taken tries again, as clients do.
      await expect.poll(() => mine.health().catch(() => 0), { timeout: 10_000 }).toBe(200);
      expect(performance.now() - startMs).toBeLessThan(FIRST_BYTE_WITHIN_MS + PROMPT_MS);
    } finally {
      mine.close();
    }
  },
);

test.each(["http", "https"])("a silent connection over %s is closed", async (scheme) => {
  const port = await start(scheme === "https");
  const startMs = performance.now();
  const silent = connect(port, "127.0.0.1");
  silent.on("error", () => undefined);
  await once(silent, "close");
  const waitedMs = performance.now() - startMs;
  expect(waitedMs).toBeGreaterThan(FIRST_BYTE_WITHIN_MS - 100);
  expect(waitedMs).toBeLessThan(FIRST_BYTE_WITHIN_MS + PROMPT_MS);
});
