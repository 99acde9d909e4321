/** What goes to a browser: only it can read it, and its push service knows who sent it. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type PushChannel, requireAddress } from "../../../../../adapters/agents/notify/channelBook.ts";
import { type Notice, tellRequest, withdrawRequest } from "../../../../../adapters/agents/notify/notices.ts";
import { WebPush } from "../../../../../adapters/agents/notify/webPush.ts";
import { signedBy, subscriber } from "../../../../support/agents/pushReceiver.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

let directory = "";
let path = "";
beforeEach(() => {
  directory = ownDirectory();
  path = join(directory, "pushKeys.json");
});

const browser = subscriber();
const CHANNEL: PushChannel = { name: "chrome", kind: "push", url: "https://push.example/secret", keys: browser.keys };
const NOTICE: Notice = {
  id: "notice-5b1c0e7f2a9d4c38",
  kind: "asking",
  subject: "agent-3f9c21ab04de",
  name: "api",
  program: "Claude Code",
  project: "payments",
  sinceUnixMs: 1_795_149_767_000,
};
const TEXT = { text: "Bash command\nrm -rf build", options: ["Yes", "No"] };

async function sealed(channel: PushChannel, notice: Notice, others: readonly Notice[] = []) {
  const push = new WebPush(path);
  const request = await push.seal(channel, tellRequest(channel, notice, TEXT, others));
  const bytes = request.body as Uint8Array;
  return { request, bytes, read: browser.read(bytes), key: await push.publicKey() };
}

test("the browser reads names alone, the push service knows who sends it, and what is taken back takes its place", async () => {
  const { request, read, key, bytes } = await sealed(CHANNEL, NOTICE);
  expect(read).toEqual({
    id: NOTICE.id,
    event: "asking",
    state: "open",
    subject: NOTICE.subject,
    sinceUnixMs: NOTICE.sinceUnixMs,
    title: "api asks a question",
    message: "Claude Code in payments",
  });
  expect(request).toMatchObject({
    method: "POST",
    url: CHANNEL.url,
    headers: { ttl: "21600", urgency: "high", topic: NOTICE.id, "content-encoding": "aes128gcm" },
  });
  expect(signedBy(request.headers["authorization"]!, key).aud).toBe("https://push.example");
  expect(Buffer.from(bytes).toString("latin1")).not.toContain("payments");
  const settled = await new WebPush(path).seal(CHANNEL, withdrawRequest(CHANNEL, NOTICE, undefined)!);
  expect(settled.headers["topic"]).toBe(NOTICE.id);
  expect(browser.read(settled.body as Uint8Array)).toMatchObject({
    id: NOTICE.id,
    state: "withdrawn",
    title: "api: the question is settled",
  });
});

test("text is sent where it is chosen", async () => {
  const { read } = await sealed({ ...CHANNEL, text: true }, NOTICE);
  expect(read.message).toBe("Claude Code in payments\nBash command\nrm -rf build\n1. Yes\n2. No");
});

test("the longest fits into what every push service takes", async () => {
  const name = '\u{ffff}"'.repeat(400);
  const many = Array.from({ length: 300 }, () => ({ ...NOTICE, kind: "done" as const, name, project: name }));
  const { bytes } = await sealed(CHANNEL, { ...NOTICE, kind: "done", name }, many);
  const { bytes: one } = await sealed({ ...CHANNEL, text: true }, { ...NOTICE, name, project: name });
  expect(Math.max(bytes.length, one.length)).toBeLessThanOrEqual(4_096);
});

test("keys are made once, and only their owner can read them", async () => {
  const keys = await Promise.all([new WebPush(path).publicKey(), new WebPush(path).publicKey()]);
  keys.push(await new WebPush(path).publicKey());
  expect(new Set(keys).size).toBe(1);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ version: 1, publicKey: keys[0] });
});

test("a file that is of a newer version, or none, stays as it is", async () => {
  writeFileSync(path, '{"version": 2}', { mode: 0o600 });
  await expect(new WebPush(path).publicKey()).rejects.toMatchObject({ code: "INCONSISTENT_STATE" });
  writeFileSync(path, '{"version": 1}', { mode: 0o600 });
  await expect(new WebPush(path).publicKey()).rejects.toThrow(/holds no keys for Web Push; move it away/);
  expect(readFileSync(path, "utf8")).toBe('{"version": 1}');
});

test.each([
  [{ url: "http://push.example/x" }, /^url: must begin with https/],
  [{ url: "ftp://push.example/x" }, /^url/],
  [{ url: "https://me:secret@push.example/x" }, /^url: leave out/],
  [{ keys: { ...browser.keys, p256dh: Buffer.alloc(65, 4).toString("base64url") } }, /^keys.p256dh: must be a point/],
  [{ keys: { ...browser.keys, auth: "short" } }, /^keys.auth: must be 16 bytes/],
])("%j is refused by name", (wrong, message) => {
  expect(() => requireAddress({ ...CHANNEL, ...wrong })).toThrow(message);
  expect(() => requireAddress(CHANNEL)).not.toThrow();
  expect(() => requireAddress({ ...CHANNEL, url: "http://127.0.0.1:9/x" })).not.toThrow();
});
