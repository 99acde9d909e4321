/** Which device a command line is, and that its login's token goes nowhere else. */
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FreshellFake, runFreshell } from "../../../support/freshell/freshellFake.ts";
import { LoginServer, NO_TOKEN } from "../../../support/freshell/loginServer.ts";

let server: LoginServer;
let fake: FreshellFake;
beforeEach(async () => {
  server = await LoginServer.start();
  ({ fake } = server);
});
afterEach(() => server[Symbol.asyncDispose]());

describe("a login's token goes to its server alone", () => {
  test("another server is refused before anything is asked", async () => {
    await server.login();
    await using other = await FreshellFake.start();
    const { code, err } = await fake.run(["list-terminals"], { FRESHELL_URL: other.url });
    expect([code, other.asked]).toEqual([6, []]);
    expect(err).toContain(`logged in at ${fake.url}, not at ${other.url}`);
  });

  test("the login's server is the default, by any name of this machine", async () => {
    await server.login();
    expect((await fake.run(["list-terminals"], { FRESHELL_URL: "" })).code).toBe(0);
    expect(
      (await fake.run(["list-terminals"], { FRESHELL_URL: `${fake.url.replace("127.0.0.1", "localhost")}/` })).code,
    ).toBe(0);
  });

  test("FRESHELL_TOKEN comes before the login and is never renewed", async () => {
    await server.login();
    fake.asked.length = 0;
    expect((await fake.run(["list-terminals"], { FRESHELL_TOKEN: "mine" })).code).toBe(6);
    expect(fake.asked.map(({ path, token }) => [path, token])).toEqual([["/api/terminals", "mine"]]);
    expect((await fake.run(["list-terminals"], { FRESHELL_TOKEN: "a b" })).code).toBe(6);
    expect(fake.asked.length).toBe(1);
  });
});

describe("F016 F018 the device", () => {
  const path = (): string => join(fake.home, ".freshell", "cli-device.json");

  test.each(["health", "list-terminals", "auth status", "new-tab"])("is made by %s", async (line) => {
    await fake.run(line.split(" "), NO_TOKEN);
    const { deviceId, deviceLabel } = JSON.parse(readFileSync(path(), "utf8")) as Record<string, string>;
    expect(deviceId).toMatch(/^[A-Za-z0-9_-]{21}$/);
    const escaped = RegExp(`^${hostname().replaceAll(".", "\\.")}-${userInfo().username}-\\w+$`);
    expect(deviceLabel).toMatch(escaped);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    const before = readFileSync(path(), "utf8");
    await fake.run(["health"], NO_TOKEN);
    expect(readFileSync(path(), "utf8")).toBe(before);
  });

  test("whose file is damaged is not made anew: only who needs it fails", async () => {
    mkdirSync(join(fake.home, ".freshell"));
    writeFileSync(path(), "{}");
    expect((await fake.run(["list-terminals"])).err).toContain("UNAUTHORIZED");
    const { code, err } = await server.login();
    expect([code, readFileSync(path(), "utf8")]).toEqual([1, "{}"]);
    expect(err).toContain(`${path()} contains no device id`);
  });

  test("whose file cannot be made keeps nobody from a terminal", async () => {
    writeFileSync(join(fake.home, ".freshell"), "");
    await fake.run(["list-terminals"]);
    expect(fake.asked.length).toBe(1);
    expect((await server.login()).code).toBe(1);
  });

  test("may have its directory elsewhere", async () => {
    mkdirSync(join(fake.home, "other"));
    symlinkSync("other", join(fake.home, "link"));
    await runFreshell(["health"], {
      env: { FRESHELL_URL: fake.url, FRESHELL_HOME: join(fake.home, "link") },
      homeDir: "/nonexistent",
    });
    expect(existsSync(join(fake.home, "other/.freshell/cli-device.json"))).toBe(true);
  });
});
