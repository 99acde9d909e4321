/** What is stored of device sessions (F204), and how long a refresh token lasts. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { Credentials, sessionFile } from "../../../../../adapters/freshell/tokens/credentials.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

const TOKEN = "bootstrap-token-of-a-test";
const device = { deviceId: "d1", deviceLabel: "me", deviceType: "cli" } as const;
let directory: string;
let nowMs = 1_000_000;
beforeEach(() => {
  directory = ownDirectory();
  nowMs = 1_000_000;
});

const path = (): string => join(directory, "state", "sessions.json");
const start = (token = TOKEN): Credentials =>
  new Credentials({
    token,
    ttlSec: 900,
    nowUnixMs: () => nowMs,
    clock: new FakeClock(),
    store: sessionFile({ path: path(), token, log: silentLog }),
    remoteTargets: () => [],
  });

test("F204 sessions outlive the daemon in a private file, which holds no token", () => {
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
  writeFileSync(path(), "{");
  expect(() => start().refresh(second.refreshToken)).toThrow(/freshell auth login/);
});

test("a refresh token expires a month after its last use", () => {
  const credentials = start();
  const { refreshToken } = credentials.open(device);
  nowMs += 31 * 86_400_000;
  expect(() => credentials.refresh(refreshToken)).toThrow(/auth login/);
});
