/** What holds for every listener of one daemon: native on a port and on its socket, team's routes on it, add-in, dashboard, Freshell. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { connect as connectSecurely } from "node:tls";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BODY_BYTES_FOR_LITTLE, MAX_BODY_BYTES_UNDER_WAY } from "../../adapters/kit/peers/httpLimits.ts";
import { NATIVE_MAX_BODY_BYTES } from "../../protocol/api/native/nativeRequests.ts";
import { eventually } from "../support/clock/eventually.ts";
import { ADDIN_ORIGIN } from "../support/daemon/addinClient.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { AUTH_TOKEN } from "../support/freshell/freshellScene.ts";

interface Listener {
  readonly open: () => Socket;
  /** Undefined where it is no port. */
  readonly url?: string;
  readonly headers: readonly string[];
  /** Answered with JSON. */
  readonly get: string;
  /** Takes a body. */
  readonly post: string;
  /** What `post` says to `{}`. */
  readonly refusal: string;
}

const NAMES = ["native", "native's socket", "team", "add-in", "dashboard", "Freshell"] as const;
let sandbox: CliSandbox;
let listeners: Readonly<Record<(typeof NAMES)[number], Listener>>;

beforeAll(async () => {
  sandbox = cliSandbox();
  const ports = ["--port", "0", "--addin-port", "0", "--dashboard-port", "0"];
  const daemon = sandbox.start(["serve", "--only", "native,team,addin,dashboard,freshell", ...ports], {
    env: { AUTH_TOKEN, PORT: "0" },
  });
  const portOf = async (name: string): Promise<number> => {
    const [, port = ""] = await daemon.line(new RegExp(`${name} listening on https?://[^:]+:(\\d+)`));
    return Number(port);
  };
  const [native, addin] = [await portOf("native API"), await portOf("tmux bridge")];
  const [dashboard, freshell] = [await portOf("dashboard"), await portOf("Freshell")];
  const bearer = (token: string): readonly string[] => [`Authorization: Bearer ${token}`];
  const token = bearer(readFileSync(sandbox.tokenPath, "utf8").trim());
  const urlOf = (port: number): { url: string } => ({ url: `http://127.0.0.1:${port}` });
  const api = { headers: token, get: "/v1/servers", post: "/v1/servers/main/panes/0/input", refusal: '"error"' };
  listeners = {
    native: { ...api, ...urlOf(native), open: () => connect(native, "127.0.0.1") },
    "native's socket": { ...api, open: () => connect(sandbox.socketPath) },
    team: {
      ...urlOf(native),
      open: () => connect(native, "127.0.0.1"),
      headers: token,
      get: "/team/v1/tmux/list",
      post: "/team/v1/tmux/list",
      refusal: '"error"',
    },
    "add-in": {
      url: `https://127.0.0.1:${addin}`,
      open: () => connectSecurely({ port: addin, host: "127.0.0.1", rejectUnauthorized: false }),
      headers: [`Origin: ${ADDIN_ORIGIN}`],
      get: "/health",
      post: "/v1/tmux",
      refusal: '"ok":false',
    },
    dashboard: {
      ...urlOf(dashboard),
      open: () => connect(dashboard, "127.0.0.1"),
      headers: [],
      get: "/api/agents",
      post: "/api/sessions",
      refusal: '"error"',
    },
    Freshell: {
      ...urlOf(freshell),
      open: () => connect(freshell, "127.0.0.1"),
      headers: [`x-auth-token: ${AUTH_TOKEN}`],
      get: "/api/health",
      post: "/api/rpc",
      refusal: '"error"',
    },
  };
});
afterAll(() => sandbox[Symbol.asyncDispose]());

/** All that comes until the other end closes. */
function exchange({ open, headers }: Listener, lines: readonly string[], body = ""): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = open();
    let received = "";
    socket.setEncoding("latin1").on("data", (text: string) => (received += text));
    socket.once("error", reject).once("close", () => resolve(received));
    socket.write(`${[...lines, "Host: 127.0.0.1", ...headers].join("\r\n")}\r\n\r\n${body}`);
  });
}

const UPGRADES: Readonly<Record<string, readonly string[]>> = {
  h2c: ["Connection: Upgrade, HTTP2-Settings, close", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"],
  "TLS/1.0": ["Connection: close, upgrade", "Upgrade: TLS/1.0"],
  "something unknown": ["connection: UPGRADE", "Connection: close", "upgrade: what/1, ever"],
  "a WebSocket where there is none": [
    "Connection: Upgrade, close",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ],
};

describe.each(Object.keys(UPGRADES))("an upgrade to %s is ignored", (upgrade) => {
  const asked = UPGRADES[upgrade] ?? [];
  test.each(NAMES)("by %s", async (name) => {
    const listener = listeners[name];
    const plain = await exchange(listener, [`GET ${listener.get} HTTP/1.1`, "Connection: close"]);
    expect(plain).toMatch(/^HTTP\/1\.1 [24]0\d [^]*\r\n\r\n[^]*\{/);
    const answer = await exchange(listener, [`GET ${listener.get} HTTP/1.1`, ...asked]);
    expect(statusAndBody(answer)).toEqual(statusAndBody(plain));
    // With its body, part of which comes later.
    const post = [`POST ${listener.post} HTTP/1.1`, "Content-Type: application/json", "Content-Length: 65000"];
    const posted = await exchange(listener, [...post, ...asked], "{}".padEnd(65_000));
    expect(posted).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(posted).toContain(listener.refusal);
  });
});

/** Ids and times differ from request to request. */
const statusAndBody = (response: string): readonly (string | undefined)[] => [
  response.split("\r\n", 1)[0],
  response
    .split("\r\n\r\n")
    .slice(1)
    .join("")
    .replaceAll(/"(?:\w*time\w*|uptime\w*|now\w*)":[^,}]+/gi, "")
    .slice(0, 60),
];

test("two requests on one connection, the first of which asks for an upgrade, are answered in turn", async () => {
  const { native } = listeners;
  const [first, second] = [
    `GET ${native.get} HTTP/1.1`,
    "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
  ];
  const answer = await exchange(native, [first, "Connection: Upgrade", "Upgrade: h2c"], second);
  expect(answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  expect(answer.trim()).toMatch(/\{"ok":true\}$/);
});

test.each(["/v1/stream", "/mcp", "/ws"])(
  "%s still becomes a WebSocket, and says what it is without one",
  async (path) => {
    const listener = listeners[path === "/ws" ? "Freshell" : "native"];
    const handshake = [...(UPGRADES["a WebSocket where there is none"] ?? []), "Sec-WebSocket-Protocol: tmuxwire.v1"];
    const socket = listener.open();
    socket.write([`GET ${path} HTTP/1.1`, "Host: 127.0.0.1", ...listener.headers, ...handshake, "", ""].join("\r\n"));
    const status = await new Promise((resolve) =>
      socket.once("data", (data) => resolve(data.toString().split("\r\n")[0])),
    );
    socket.destroy();
    expect(status).toBe("HTTP/1.1 101 Switching Protocols");
    // The word without the question.
    const named = await exchange(listener, [`GET ${path} HTTP/1.1`, "Connection: close", "Upgrade: websocket"]);
    expect(named).toMatch(/^HTTP\/1\.1 4\d\d [^]*\{/);
  },
);

test("curl --http2 gets its response", () => {
  const { status, stdout, stderr } = spawnSync(
    "curl",
    ["-sS", "--http2", "--max-time", "60", "--unix-socket", sandbox.socketPath, "http://localhost/livez"],
    { encoding: "utf8" },
  );
  expect([status, stdout, stderr]).toEqual([0, '{"ok":true}', ""]);
});

const hasJava = spawnSync("java", ["--version"]).status === 0;
if (!hasJava) console.log("there is no java: its HttpClient is not tried");

// It asks for h2c with each request, and sends a body by itself.
test.skipIf(!hasJava)("Java's HttpClient gets its responses from every port", async () => {
  const asked = Object.entries(listeners).flatMap(([name, { url, get, post, headers }]) =>
    url === undefined
      ? []
      : [
          [`${name} GET`, "GET", url + get, ...headers.flatMap((header) => header.split(": "))],
          [`${name} POST`, "POST", url + post, ...headers.flatMap((header) => header.split(": "))],
        ],
  );
  const program = fileURLToPath(new URL("../support/daemon/HttpAsker.java", import.meta.url));
  const child = spawn("java", [program, ...asked.map((words) => words.join("\t"))], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  const answers = stdout.trimEnd().split("\n");
  const answered = answers.map((line) => line.split("\t")[0]);
  expect({ answered, stderr }).toMatchObject({ answered: asked.map(([name]) => name) });
  for (const line of answers) expect(line).toMatch(/ GET\t[24]0\d\t\W*[{[]| POST\t4\d\d\t\{.*error/);
  expect(answers.filter((line) => / GET\t200\t/.test(line)).length).toBeGreaterThanOrEqual(4);
});

describe("while large bodies hold what all may hold together", () => {
  const large = (listener: Listener): Promise<string> => postOf(listener, "{}".padEnd(65_000));
  let holders: readonly Socket[];

  /** They announce what they never send. */
  beforeAll(async () => {
    const { native } = listeners;
    const announced = MAX_BODY_BYTES_UNDER_WAY - BODY_BYTES_FOR_LITTLE;
    holders = Array.from({ length: announced / NATIVE_MAX_BODY_BYTES }, (_, at) => {
      const socket = native.open();
      const post = [`POST /v1/servers/main/panes/${at}/input HTTP/1.1`, `Content-Length: ${NATIVE_MAX_BODY_BYTES}`];
      socket.write([...post, "Host: 127.0.0.1", ...native.headers, "", "{"].join("\r\n"));
      return socket;
    });
    await eventually(async () => (await large(native)).startsWith("HTTP/1.1 429 "));
  });

  test.each(NAMES)("%s refuses a large one with 429, and takes a small one", async (name) => {
    const listener = listeners[name];
    const refused = await large(listener);
    expect(refused).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
    expect(refused).toMatch(/\r\nretry-after: 1\r\n/i);
    expect(refused).toMatch(/\{.*too many large requests at once; try again shortly.*\}/);
    expect(await postOf(listener, "{}")).toMatch(/^HTTP\/1\.1 4(?!29)/);
  });

  test("a large message waits unread, and goes on when they end; so do large bodies", async () => {
    const { native } = listeners;
    const socket = await webSocket(native);
    const answered = new Promise<string>((resolve) =>
      socket.on("data", (data) => data.includes("INVALID_ARGUMENT") && resolve("large")),
    );
    socket.write(maskedText("x".repeat(1_048_576)));
    const other = await webSocket(native);
    const first = new Promise<string>((resolve) => other.once("data", () => resolve("small")));
    other.write(maskedText("x"));
    expect(await Promise.race([answered, first])).toBe("small");
    for (const holder of holders) holder.destroy();
    expect(await answered).toBe("large");
    for (const each of [socket, other]) each.destroy();
    for (const name of NAMES) expect(await large(listeners[name])).toMatch(/^HTTP\/1\.1 4(?!29)/);
  });
});

const postOf = (listener: Listener, body: string): Promise<string> => {
  const length = `Content-Length: ${body.length}`;
  const post = [`POST ${listener.post} HTTP/1.1`, "Content-Type: application/json", length, "Connection: close"];
  return exchange(listener, post, body);
};

async function webSocket({ open, headers }: Listener): Promise<Socket> {
  const handshake = UPGRADES["a WebSocket where there is none"]?.slice(1) ?? [];
  const socket = open();
  const head = ["GET /v1/stream HTTP/1.1", "Host: 127.0.0.1", "Connection: Upgrade", ...handshake, ...headers];
  socket.write([...head, "Sec-WebSocket-Protocol: tmuxwire.v1", "", ""].join("\r\n"));
  await once(socket, "data");
  return socket;
}

/** RFC 6455 §5.2: one frame, with a mask of zeros. */
function maskedText(text: string): Buffer {
  const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeBigUInt64BE(BigInt(text.length), 2);
  return Buffer.concat([head, Buffer.from(text)]);
}
