/** What Freshell's listener refuses at its start, in one line that names the reason and never the token (F187). */
import { beforeEach, expect, test } from "vitest";
import { inProcessCli } from "../../../support/daemon/cliOutput.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

let homeDir: string;
beforeEach(() => {
  homeDir = ownDirectory();
});

const GOOD = "0123456789abcdef";
test.each<[Record<string, string>, RegExp]>([
  [{}, /Freshell.*AUTH_TOKEN/],
  [{ AUTH_TOKEN: "short" }, /AUTH_TOKEN must be a secret of at least 16/],
  [{ AUTH_TOKEN: "changeme" }, /AUTH_TOKEN/],
  [{ AUTH_TOKEN: "PASSWORD" }, /AUTH_TOKEN/],
  [{ AUTH_TOKEN: "0123456789 abcdef" }, /AUTH_TOKEN/],
  [{ AUTH_TOKEN: GOOD, HOST: "0.0.0.0" }, /FRESHELL_ALLOW_LAN=1/],
  [{ AUTH_TOKEN: GOOD, HOST: "192.168.1.5" }, /FRESHELL_ALLOW_LAN=1/],
  [{ AUTH_TOKEN: GOOD, PORT: "99999" }, /PORT must be an integer/],
  [{ AUTH_TOKEN: GOOD, MAX_TERMINALS: "0" }, /MAX_TERMINALS must be a whole number from 1/],
  [{ AUTH_TOKEN: GOOD, WAIT_MAX_GLOBAL: "many" }, /WAIT_MAX_GLOBAL/],
  [{ AUTH_TOKEN: GOOD, ALLOWED_ORIGINS: "example.com/x" }, /ALLOWED_ORIGINS must be comma-separated origins/],
])("%j", async (env, message) => {
  const { code, out, err } = await inProcessCli(["serve", "--only", "freshell"], { env, homeDir });
  expect([code, out]).toEqual([1, ""]);
  expect(err).toMatch(/^tmuxwire: [^\n]+\n$/);
  expect(err).toMatch(message);
  if (env["AUTH_TOKEN"] !== undefined && env["AUTH_TOKEN"] !== "changeme") expect(err).not.toContain(env["AUTH_TOKEN"]);
});

test("shown by config, the token without its value", async () => {
  const { code, out } = await inProcessCli(["config", "--json"], { env: { AUTH_TOKEN: GOOD }, homeDir });
  expect(code).toBe(0);
  expect(out).toContain("freshell.token");
  expect(out).not.toContain(GOOD);
});
