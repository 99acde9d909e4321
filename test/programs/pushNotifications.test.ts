/**
 * Web Push with the daemon as it is built, an agent in a pane, and a push service on loopback that reads what comes as the
 * browser would. What the page and its service worker do is in dashboardPagePush.test.ts.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PushNotice } from "../../protocol/api/native/nativeNotifications.ts";
import { AgentChannel, unixMs } from "../support/agents/agentPrograms.ts";
import { pushReceiver } from "../support/agents/pushReceiver.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type CliSandbox, cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";

interface Served {
  readonly daemon: Running;
  /** What the page asks; JSON in, JSON out. */
  readonly ask: (path: string, body?: object) => Promise<{ status: number; body: Record<string, unknown> }>;
}

async function serve(sandbox: CliSandbox): Promise<Served> {
  const daemon = sandbox.start(["serve", "--only", "native,dashboard", "--port", "0"]);
  const [, url] = await daemon.line(/dashboard listening on (\S+)/);
  await daemon.line(/listening on unix:/);
  return {
    daemon,
    ask: async (path, body) => {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      const response = await fetch(`${url}${path}`, body === undefined ? {} : init);
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
  };
}

/** A state lasts so long before it is told. */
const SETTLE_MS = 2_000;

async function subscribed(sandbox: CliSandbox) {
  const key = { value: "" };
  const receiver = await pushReceiver(() => key.value);
  const { url, keys } = receiver;
  const served = await serve(sandbox);
  key.value = String((await served.ask("/api/push/key")).body["key"]);
  const subscription = { name: "chrome-linux", url, keys };
  expect(await served.ask("/api/push", subscription)).toMatchObject({
    status: 200,
    body: { name: "chrome-linux", kind: "push", url: `${receiver.origin}/...`, text: false },
  });
  return {
    ...served,
    receiver,
    subscription,
    key: key.value,
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}

test("a question is pushed after it has settled, not if it is answered before, and taken back when it is answered, over a restart", async () => {
  await using sandbox = cliSandbox();
  await using channel = await AgentChannel.open(sandbox.root);
  await using first = await subscribed(sandbox);
  const { received } = first.receiver;
  const bin = sandbox.binaries("bin", { claude: channel.executable("dialog", { busyMs: 0 }) });
  const told = (): string[] => received.map(({ notice: { event, state } }) => `${event} ${state}`);
  const made = await sandbox.run(["new", "work", "--", join(bin, "claude")]);
  expect(made.code).toBe(0);
  await channel.next("ready");
  await channel.tell("ask");
  const askedMs = unixMs();
  await eventually(() => received.length === 1);
  expect(received[0]!.notice).toMatchObject({ event: "asking", state: "open", title: "claude asks a question" });
  expect(JSON.stringify(received[0]!.notice)).not.toContain("Bash");
  expect(received[0]!.headers).toMatchObject({ urgency: "high", topic: received[0]!.notice.id });
  expect(received[0]!.atMs - askedMs).toBeGreaterThanOrEqual(SETTLE_MS);

  // A daemon that is killed before it has noted that this was sent sends it again.
  const { url } = first.subscription;
  await eventually(async () => (await first.ask("/api/push/show", { url })).body["waiting"] === 0);
  first.daemon.child.kill("SIGKILL");
  await first.daemon.finished;
  const second = await serve(sandbox);
  expect((await second.ask("/api/push/key")).body["key"]).toBe(first.key);
  const watch = sandbox.start(["agents", "-w", "--json"]);
  const sees = (state: string): Promise<void> => {
    const from = watch.stdout().length;
    return eventually(() => watch.stdout().slice(from).includes(`"state":"${state}"`), 100);
  };
  await watch.line(/"state":"asking"/);
  await channel.tell("busy");
  await eventually(() => received.length === 2);
  expect(received[1]!.notice).toMatchObject({ id: received[0]!.notice.id, state: "withdrawn" });

  const asking = sees("asking");
  await channel.tell("ask");
  await asking;
  const ready = sees("ready");
  await channel.tell("idle");
  await ready;
  await eventually(() => received.length === 3);
  expect(told()).toEqual(["asking open", "asking withdrawn", "done open"]);
});

test("a browser is listed, tested and removed by its name, and removed when its push service says that it is gone", async () => {
  await using sandbox = cliSandbox();
  await using served = await subscribed(sandbox);
  const { ask, receiver, subscription, key, daemon } = served;
  const { url, keys } = subscription;
  const notify = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await sandbox.run(["notify", ...args]);
    return `${code} ${stdout}${stderr}`.trim();
  };
  const wrong = await ask("/api/push", { ...subscription, url: "http://push.example/x" });
  expect(wrong).toMatchObject({ status: 400, body: { message: "url: must begin with https://" } });
  const path = sandbox.path("state/tmuxwire/pushKeys.json");
  expect([statSync(path).mode & 0o777, readFileSync(path, "utf8").includes(key)]).toEqual([0o600, true]);
  expect(await ask("/api/push", { ...subscription, text: true })).toMatchObject({ body: { name: "chrome-linux" } });
  expect(await notify()).toBe(`0 chrome-linux: push ${receiver.origin}/..., tells asking done ended host`);
  expect(await notify("test", "chrome-linux")).toBe("0");
  expect(receiver.received.map(({ notice }) => notice.message)).toEqual([
    "tmuxwire\nThis is a test: whoever reads it is told about agents.",
  ]);

  receiver.status = 410;
  expect(await notify("test", "chrome-linux")).toMatch(
    /^69 .*the browser has ended its subscription, and it was removed/,
  );
  expect((await ask("/api/push/show", { url })).status).toBe(404);
  receiver.status = 201;
  expect(await ask("/api/push", subscription)).toMatchObject({ body: { name: "chrome-linux" } });
  expect(await ask("/api/push/test", { url })).toEqual({ status: 200, body: { ok: true } });
  expect(await ask("/api/push/remove", { url })).toEqual({ status: 200, body: { ok: true } });
  expect(await notify()).toBe("0");
  const said = daemon.stdout() + daemon.stderr();
  expect(said).toContain("the browser has ended its subscription");
  expect([url, keys.auth, keys.p256dh].filter((secret) => said.includes(secret))).toEqual([]);
});

test("a button answers its own question once; one that was used, made up, for another option or for a question that has changed types nothing", async () => {
  await using sandbox = cliSandbox();
  await using channel = await AgentChannel.open(sandbox.root);
  await using served = await subscribed(sandbox);
  const { ask, subscription, receiver } = served;
  const { received } = receiver;
  expect(await ask("/api/push", { ...subscription, answers: true })).toMatchObject({
    body: { answers: true, text: true },
  });
  const bin = sandbox.binaries("bin", { claude: channel.executable("dialog", { busyMs: 0 }) });
  expect((await sandbox.run(["new", "work", "--", join(bin, "claude")])).code).toBe(0);
  await channel.next("ready");
  const asked = async (question: string): Promise<NonNullable<PushNotice["answer"]>> => {
    const from = received.length;
    await channel.tell("ask", { kind: "select", question, options: ["Red", "Green", "Blue"] });
    await eventually(() => received.slice(from).some(({ notice }) => notice.state === "open"), 100);
    return received.slice(from).find(({ notice }) => notice.state === "open")!.notice.answer!;
  };
  const keys = (): number => channel.count("key");

  const first = await asked("Which colour?");
  expect(first.options).toEqual([
    { option: 0, label: "1. Red" },
    { option: 1, label: "2. Green" },
  ]);
  const { token } = first;
  const made = await ask("/api/answers", { token: `${token.split(".")[0]}.${"x".repeat(32)}`, option: 1 });
  expect(made).toMatchObject({ status: 404, body: { error_type: "not_found" } });
  expect((await ask("/api/answers", { token, option: 2 })).status).toBe(400);
  expect(keys()).toBe(0);
  const answered = channel.next("answer");
  expect(await ask("/api/answers", { token, option: 1 })).toEqual({
    status: 200,
    body: { status: "ok", words: "answered: 2. Green" },
  });
  await answered;
  await eventually(() => received.at(-1)!.notice.state === "withdrawn", 100);
  expect(received.at(-1)!.notice.title).toBe("claude: answered: 2. Green");
  const pressed = keys();
  expect((await ask("/api/answers", { token, option: 1 })).body["message"]).toMatch(/no longer valid/);

  const second = await asked("Which other colour?");
  const third = await asked("Which third colour?");
  expect((await ask("/api/answers", { token: second.token, option: 0 })).status).toBe(404);
  expect((await ask("/api/answers", { token: third.token, option: 0 })).status).toBe(200);
  expect([channel.count("answer"), keys() > pressed]).toEqual([2, true]);
});
