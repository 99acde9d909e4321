/** The login of a command line: its file and its renewal. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FreshellFake } from "../../../support/freshell/freshellFake.ts";
import { BOOTSTRAP, HOUR_MS, LoginServer, NO_TOKEN } from "../../../support/freshell/loginServer.ts";

let server: LoginServer;
let fake: FreshellFake;
beforeEach(async () => {
  server = await LoginServer.start();
  ({ fake } = server);
});
afterEach(() => server[Symbol.asyncDispose]());

const data = (out: string) => (JSON.parse(out) as { data: Record<string, unknown> }).data;

describe("F200 auth login", () => {
  test.each([
    [["--from-env", "MY_TOKEN"], { MY_TOKEN: BOOTSTRAP }, ""],
    [["--auth-token", BOOTSTRAP], {}, ""],
    [["--auth-token", "-"], {}, `${BOOTSTRAP}\n`],
    [[], { AUTH_TOKEN: BOOTSTRAP }, ""],
  ])("%j", async (options, env, input) => {
    const stdin = Readable.from(input === "" ? [] : [Buffer.from(input)]);
    const { code, out, err } = await fake.run(["auth", "login", ...options, "--json"], env, { stdin });
    expect([code, err]).toEqual([0, ""]);
    expect(data(out)).toMatchObject({ loggedIn: true, url: fake.url, deviceId: "d1", scopes: ["layout:d1"] });
    const [{ body } = { body: undefined }] = fake.asked;
    const { deviceId, deviceLabel } = JSON.parse(
      readFileSync(join(fake.home, ".freshell/cli-device.json"), "utf8"),
    ) as Record<string, string>;
    expect(body).toEqual({ deviceId, deviceLabel, deviceType: "cli" });
  });

  test("F194 writes a file for its owner alone, and nothing else stays there", async () => {
    expect((await server.login()).code).toBe(0);
    expect(statSync(server.file).mode & 0o777).toBe(0o600);
    expect(statSync(join(fake.home, ".freshell")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(fake.home, ".freshell")).toSorted()).toEqual(["cli-auth.json", "cli-device.json"]);
  });

  test("with another token is UNAUTHORIZED and leaves what there was", async () => {
    expect((await fake.run(["auth", "login", "--auth-token", "wrong"], NO_TOKEN)).code).toBe(6);
    expect(existsSync(server.file)).toBe(false);
    await server.login();
    const before = readFileSync(server.file, "utf8");
    expect((await fake.run(["auth", "login", "--auth-token", "wrong"], NO_TOKEN)).code).toBe(6);
    expect(readFileSync(server.file, "utf8")).toBe(before);
  });

  test.each([
    [["--auth-token", "a", "--from-env", "B"], { B: "b" }, 2],
    [["--from-env", "NOT_THERE"], {}, 2],
    [[], {}, 2],
    [["--auth-token", "a b"], {}, 6],
    [["--auth-token", "a\u00e9"], {}, 6],
    [["--auth-token", "-"], {}, 6],
  ])("%j is refused before anything is asked", async (options, env, code) => {
    const ended = await fake.run(["auth", "login", ...options], env);
    expect(ended.code).toBe(code);
    expect(fake.asked).toEqual([]);
  });

  test("no token is ever printed", async () => {
    const all: string[] = [];
    for (const args of [
      ["auth", "login"],
      ["auth", "status"],
      ["auth", "refresh"],
      ["auth", "logout"],
      ["auth", "login", "--from-env", "WRONG"],
    ]) {
      for (const more of [[], ["--json"]]) {
        const { out, err } = await fake.run([...args, ...more], { AUTH_TOKEN: BOOTSTRAP, WRONG: "wrong-token" });
        all.push(out, err);
      }
    }
    expect(all.join("")).not.toMatch(/server's-token|device-\d|refresh-\d|wrong-token/);
  });
});

describe("F195 a file that others can read", () => {
  const commands = [
    "list-terminals",
    "health",
    "lan-info",
    "new-tab",
    "auth status",
    "auth refresh",
    "auth logout",
    "kill-terminal --target terminal:x",
    "send-keys --target terminal:x a",
  ];

  test.each([0o644, 0o640, 0o604, 0o660, 0o601])(
    "with mode %o is refused by every command, before anything is asked",
    async (mode) => {
      await server.login();
      fake.asked.length = 0;
      chmodSync(server.file, mode);
      for (const line of commands) {
        for (const env of [NO_TOKEN, { FRESHELL_TOKEN: "t".repeat(20), AUTH_TOKEN: BOOTSTRAP }]) {
          const { code, out, err } = await fake.run([...line.split(" "), "--json"], env);
          expect([code, JSON.parse(out)]).toMatchObject([6, { code: "UNAUTHORIZED" }]);
          expect(err).toContain(`chmod 600 ${server.file}`);
        }
      }
      expect((await server.login()).code).toBe(6);
      expect(fake.asked).toEqual([]);
    },
  );

  test.each([
    "",
    "{",
    "[]",
    "null",
    '{"url":"x"}',
    '{"url":"nowhere","deviceId":"d","deviceLabel":"l","deviceToken":"t","refreshToken":"r","expiresAt":1,"scopes":[]}',
  ])("and one that is not a login file (%j) as well", async (text) => {
    mkdirSync(join(fake.home, ".freshell"));
    writeFileSync(server.file, text, { mode: 0o600 });
    const { code, err } = await fake.run(["list-terminals"], NO_TOKEN);
    expect(code).toBe(6);
    expect(err).toContain("is not a login file");
    expect(fake.asked).toEqual([]);
  });
});

describe("who is not logged in", () => {
  test.each(["list-terminals", "lan-info", "auth status", "auth refresh"])(
    "%s: UNAUTHORIZED, and how to log in",
    async (line) => {
      const { code, err } = await fake.run(line.split(" "), NO_TOKEN);
      expect(code).toBe(6);
      expect(err).toContain("freshell auth login");
      expect(fake.asked).toEqual([]);
    },
  );

  test("can ask for health, and log out", async () => {
    expect((await fake.run(["health"], NO_TOKEN)).out).toBe("ok, version 1.0.0, not ready: tmux is not running\n");
    expect(fake.asked.map(({ token }) => token)).toEqual([undefined]);
    expect(await fake.run(["auth", "logout"], NO_TOKEN)).toEqual({ code: 0, out: "logged out\n", err: "" });
  });
});

describe("renewal", () => {
  test("F192 a token that is about to end is renewed first, and the new one is kept", async () => {
    server.lifeMs = 30_000;
    await server.login();
    const before = server.saved();
    server.lifeMs = HOUR_MS;
    expect((await fake.run(["send-keys", "--target", "terminal:x", "a"], NO_TOKEN)).code).toBe(0);
    expect(server.saved()["deviceToken"]).not.toBe(before["deviceToken"]);
    expect(fake.asked.map(({ path, token }) => [path, token]).slice(1)).toEqual([
      ["/api/device-sessions/refresh", undefined],
      ["/api/terminals/x/input", "device-2"],
    ]);
    expect(statSync(server.file).mode & 0o777).toBe(0o600);
  });

  test("one that holds is used as it is", async () => {
    await server.login();
    await fake.run(["list-terminals"], NO_TOKEN);
    expect(fake.asked.map(({ path }) => path)).toEqual(["/api/device-sessions", "/api/terminals"]);
  });

  test("one that the server has forgotten is renewed once", async () => {
    await server.login();
    server.tokens.device = "another";
    expect((await fake.run(["list-terminals"], NO_TOKEN)).code).toBe(0);
    expect(fake.asked.map(({ path }) => path).slice(1)).toEqual([
      "/api/terminals",
      "/api/device-sessions/refresh",
      "/api/terminals",
    ]);
  });

  test("F193 when it is refused: UNAUTHORIZED, and how to log in again; the file stays", async () => {
    server.lifeMs = 1_000;
    await server.login();
    server.tokens.refresh = "";
    const { code, out } = await fake.run(["list-terminals", "--json"], NO_TOKEN);
    expect([code, JSON.parse(out)]).toMatchObject([6, { code: "UNAUTHORIZED" }]);
    expect(out).toContain("freshell auth login");
    expect(existsSync(server.file)).toBe(true);
  });

  test("of commands at once, one renews the login and the others use what it was given", async () => {
    server.lifeMs = 1_000;
    await server.login();
    server.lifeMs = HOUR_MS;
    const ended = await Promise.all(Array.from({ length: 4 }, () => fake.run(["list-terminals"], NO_TOKEN)));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const refreshes = fake.asked.filter(({ path }) => path === "/api/device-sessions/refresh");
    const used = fake.asked.filter(({ path }) => path === "/api/terminals").map(({ token }) => token);
    expect([refreshes.length, new Set(used)]).toEqual([1, new Set(["device-2"])]);
    expect(server.saved()["refreshToken"]).toBe("refresh-2");
    expect(readdirSync(join(fake.home, ".freshell")).toSorted()).toEqual(["cli-auth.json", "cli-device.json"]);
  });

  test("F202 auth refresh renews at once", async () => {
    await server.login();
    const before = server.saved();
    server.lifeMs = 2 * HOUR_MS;
    const { code, out } = await fake.run(["auth", "refresh", "--json"], NO_TOKEN);
    expect(code).toBe(0);
    expect(data(out)["expiresAt"]).toBeGreaterThan(before["expiresAt"] as number);
    expect(server.saved()["refreshToken"]).toBe("refresh-2");
  });
});

describe("F201 F203 status and logout", () => {
  test("status tells until when, and as whom, without the server", async () => {
    await server.login();
    fake.asked.length = 0;
    const { code, out } = await fake.run(["auth", "status", "--json"], NO_TOKEN);
    expect(code).toBe(0);
    const { expiresAt, deviceLabel } = server.saved();
    expect(data(out)).toEqual({
      loggedIn: true,
      url: fake.url,
      deviceId: "d1",
      deviceLabel,
      expiresAt,
      expired: false,
      scopes: ["layout:d1"],
    });
    expect((await fake.run(["auth", "status"], NO_TOKEN)).out).toContain(new Date(expiresAt as number).toISOString());
    expect(fake.asked).toEqual([]);
  });

  test("logout ends the login at the server and removes the file", async () => {
    await server.login();
    expect((await fake.run(["auth", "logout"], NO_TOKEN)).code).toBe(0);
    expect([existsSync(server.file), server.tokens.refresh]).toEqual([false, ""]);
  });

  test("logout of a login that the server has forgotten removes the file", async () => {
    server.lifeMs = 1_000;
    await server.login();
    server.tokens = { device: "", refresh: "", count: 9 };
    expect((await fake.run(["auth", "logout"], NO_TOKEN)).code).toBe(0);
    expect(existsSync(server.file)).toBe(false);
  });

  test("logout without a server keeps the file, to try again", async () => {
    await server.login();
    fake.answer = (_asked, response) => response.destroy();
    expect((await fake.run(["auth", "logout"], NO_TOKEN)).code).toBe(69);
    expect(existsSync(server.file)).toBe(true);
  });

  test.each(["status", "refresh", "logout"])("%s takes no token", async (action) => {
    expect((await fake.run(["auth", action, "--auth-token", "x"], NO_TOKEN)).code).toBe(2);
  });
});
