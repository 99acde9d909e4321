/** The dashboard behind a proxy that ends TLS elsewhere and keeps the name under which the page was opened. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { privateSocket } from "../support/tmux/ownedFixture.ts";

const NAME = "agents.example";
const ORIGIN = `https://${NAME}`;
const TOKEN = "a-token-that-is-long-enough-0123456789";

interface Answer {
  readonly status: number;
  readonly cookie: string;
  readonly text: string;
}

/** Every request under this name, as the proxy passes it on. */
async function behindProxy(target: string) {
  const { port: to } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const passed = request({ host: "127.0.0.1", port: to, method, path: url, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const ask = (method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const asked = request(
        { host: "127.0.0.1", port, method, path, headers: { host: NAME, ...headers } },
        (response) => {
          let text = "";
          response.on("data", (chunk: Buffer) => {
            text += chunk.toString();
            // Of a stream the beginning says enough.
            if (path.endsWith("/stream") && text.includes(": heartbeat")) response.destroy();
          });
          response.once("close", () =>
            resolve({ status: response.statusCode ?? 0, cookie: String(response.headers["set-cookie"] ?? ""), text }),
          );
        },
      );
      asked.once("error", reject);
      asked.end();
    });
  return { ask, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())) };
}

async function dashboard(sandbox: CliSandbox, socketPath: string, env: Readonly<Record<string, string>>) {
  const args = ["serve", "--only", "dashboard", "--dashboard-tmux-socket", socketPath];
  const daemon = sandbox.start(args, { env });
  const [, url = ""] = await daemon.line(/dashboard listening on (http:\S+)/);
  return url;
}

test("works under its name with the token, for its pages alone, and is refused under any other", async () => {
  await using socket = privateSocket();
  await using sandbox = cliSandbox();
  const env = { TMUXWIRE_DASHBOARD_ORIGINS: ORIGIN, TMUXWIRE_DASHBOARD_TOKEN: TOKEN };
  await using proxy = await behindProxy(await dashboard(sandbox, socket.socketPath, env));
  const { ask } = proxy;
  expect(await ask("GET", "/")).toMatchObject({ status: 200, text: expect.stringContaining("<html") as string });
  expect((await ask("GET", "/api/agents")).status).toBe(401);
  const given = await ask("POST", "/api/token", { origin: ORIGIN, authorization: `Bearer ${TOKEN}` });
  expect(given.status).toBe(204);
  expect(given.cookie).toMatch(/; HttpOnly; SameSite=Strict; .*; Secure$/);
  const cookie = given.cookie.split(";")[0]!;
  expect((await ask("GET", "/api/agents", { cookie, origin: ORIGIN })).status).toBe(200);
  expect(await ask("GET", "/api/events/stream", { cookie })).toMatchObject({
    status: 200,
    text: expect.stringContaining("heartbeat") as string,
  });
  expect((await ask("GET", "/api/agents", { cookie, origin: "https://other.example" })).status).toBe(403);
  expect((await ask("GET", "/", { host: "other.example" })).status).toBe(403);
});

test.each([
  [
    { TMUXWIRE_DASHBOARD_ORIGINS: ORIGIN },
    /dashboard from elsewhere .*whoever reaches https:\/\/agents\.example can type/,
  ],
  [
    { TMUXWIRE_DASHBOARD_ORIGINS: `http://${NAME}`, TMUXWIRE_DASHBOARD_TOKEN: TOKEN },
    /dashboard from elsewhere .*not encrypted/,
  ],
  [
    { TMUXWIRE_DASHBOARD_ORIGINS: ORIGIN, TMUXWIRE_DASHBOARD_TOKEN: TOKEN },
    /dashboard from elsewhere .*at https:\/\/agents\.example, with the token/,
  ],
])("doctor says how open %j is", async (env, said) => {
  await using sandbox = cliSandbox();
  const { stdout, stderr } = await sandbox.run(["doctor"], { env });
  expect(stdout + stderr).toMatch(said);
  expect(stdout + stderr).not.toContain(TOKEN);
});
