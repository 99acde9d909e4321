/** Tokens: whose they are, rotation, expiry, and what is kept of them (F188–F190, F204). */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Credentials, tokenOf } from "../../../../../adapters/freshell/tokens/credentials.ts";
import { sessionFile } from "../../../../../adapters/freshell/tokens/sessionFile.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";

const TOKEN = "bootstrap-token-of-a-test";
const device = { deviceId: "d1", deviceLabel: "me", deviceType: "cli" } as const;
let directory: string;
let nowMs = 1_000_000;
let targets: readonly string[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tw-sessions-"));
  nowMs = 1_000_000;
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const path = (): string => join(directory, "state", "sessions.json");
const start = (token = TOKEN): Credentials =>
  new Credentials({
    token,
    ttlSec: 900,
    nowUnixMs: () => nowMs,
    clock: new FakeClock(),
    store: sessionFile({ path: path(), token, log: silentLog }),
    remoteTargets: () => targets,
  });

test("the bootstrap token, a device's until it expires, and nobody's", () => {
  const credentials = start();
  const { deviceToken, expiresAt } = credentials.open(device);
  expect(expiresAt).toBe(nowMs + 900_000);
  expect(credentials.principalOf(TOKEN)).toEqual({ kind: "bootstrap" });
  expect(credentials.principalOf(deviceToken)).toEqual({
    kind: "device",
    deviceId: "d1",
    scopes: ["terminals", "layout:write:d1"],
  });
  for (const none of [undefined, "", `${TOKEN}x`, TOKEN.slice(1), deviceToken.slice(1)]) {
    expect(credentials.principalOf(none)).toBeUndefined();
  }
  nowMs = expiresAt;
  expect(credentials.principalOf(deviceToken)).toBeUndefined();
});

test("D13: a token is told whose layout its device may change, at its login and at each refresh; the session keeps none of it", () => {
  const credentials = start();
  targets = ["desk"];
  const first = credentials.open(device);
  expect(first.scopes).toEqual(["terminals", "layout:write:d1", "remote-control:desk"]);
  expect(credentials.principalOf(first.deviceToken)).toMatchObject({ scopes: ["terminals", "layout:write:d1"] });
  targets = [];
  expect(credentials.refresh(first.refreshToken).scopes).toEqual(["terminals", "layout:write:d1"]);
});

test("sessions outlive the daemon in a file that only we may read, without a token in it", () => {
  const first = start().open(device);
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  const text = readFileSync(path(), "utf8");
  for (const secret of [TOKEN, first.deviceToken, first.refreshToken]) expect(text).not.toContain(secret);
  const again = start();
  expect(again.principalOf(first.deviceToken)).toMatchObject({ deviceId: "d1" });
  const second = again.refresh(first.refreshToken);
  expect(start().principalOf(first.deviceToken)).toBeUndefined();
  expect(() => start().refresh(first.refreshToken)).toThrow(/freshell auth login/);
  expect(again.close(second.deviceToken)).toBe(true);
  expect(again.close(second.deviceToken)).toBe(false);
  expect(start().principalOf(second.deviceToken)).toBeUndefined();
});

test("with another bootstrap token they are nobody's; a damaged file is none", () => {
  const { deviceToken } = start().open(device);
  expect(start("another-bootstrap-token").principalOf(deviceToken)).toBeUndefined();
  writeFileSync(path(), "{");
  expect(start().principalOf(deviceToken)).toBeUndefined();
});

test("a refresh token that nobody used for a month is no good", () => {
  const credentials = start();
  const { refreshToken } = credentials.open(device);
  nowMs += 31 * 86_400_000;
  expect(() => credentials.refresh(refreshToken)).toThrow(/auth login/);
});

test("a request's token: the header of the contract, or a bearer", () => {
  const of = (headers: Record<string, string>) => tokenOf({ header: (name) => headers[name] });
  expect(of({ "x-auth-token": " a " })).toBe("a");
  expect(of({ authorization: "Bearer b" })).toBe("b");
  expect(of({ "x-auth-token": "a", authorization: "Bearer b" })).toBe("a");
  expect(of({ authorization: "Basic b" })).toBeUndefined();
  expect(of({})).toBeUndefined();
});
