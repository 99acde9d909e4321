/** What people are told, when, and once: over an agents' directory by hand, a clock by hand and addresses that note requests. */
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { Channel } from "../../../../../adapters/agents/notify/channelBook.ts";
import type { Sent } from "../../../../../adapters/agents/notify/httpSender.ts";
import { WebPush } from "../../../../../adapters/agents/notify/webPush.ts";
import { AgentNotifier } from "../../../../../adapters/agents/notify/agentNotifier.ts";
import type { HttpRequest } from "../../../../../adapters/agents/notify/notices.ts";
import type { AgentDirectory } from "../../../../../adapters/agents/running/agentDirectory.ts";
import { AgentStore } from "../../../../../adapters/agents/running/agentStore.ts";
import type { AgentChange, RunningAgent } from "../../../../../adapters/agents/running/runningAgent.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";
import type { Readiness } from "../../../../../daemon/readiness/readiness.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

const START_UNIX_MS = 1_795_149_767_000;
const HOOK: Channel = { name: "hook", kind: "webhook", url: "http://127.0.0.1:9/hook" };

let directory = "";
beforeEach(() => void (directory = ownDirectory()));

type State = "idle" | "busy" | "asking" | "unknown";

interface Actor {
  readonly agent: RunningAgent;
  is(state: State, dialog?: string): void;
  ends(): void;
}

/** A daemon's part: made anew as often as a test ends it, on the same file. */
function scene() {
  const clock = new FakeClock();
  const nowUnixMs = (): number => START_UNIX_MS + clock.nowMs();
  const requests: (HttpRequest & { readonly atMs: number })[] = [];
  const saved: (readonly Channel[])[] = [];
  const answers: (Sent | Error)[] = [];
  const listeners = new Set<(change: AgentChange) => void>();
  const checks = new Set<() => void>();
  const running = new Map<string, RunningAgent>();
  const gone: { id: string; endedUnixMs: number }[] = [];
  const held: { value: Promise<void> | undefined } = { value: undefined };
  let [expected, elsewhere] = [false, false];

  const start = (channels: readonly Channel[] = [HOOK]) => {
    const store = new AgentStore({ path: join(directory, "agents.db"), nowUnixMs, log: silentLog });
    const agents = {
      get database() {
        return store.database;
      },
      agents: () => [...running.values()],
      known: (id: string) => running.get(id),
      remembered: () => gone,
      get isKeptElsewhere() {
        return elsewhere;
      },
      subscribe: (listener: (change: AgentChange) => void) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      onCheck: (listener: () => void) => {
        checks.add(listener);
        return () => void checks.delete(listener);
      },
    } as unknown as AgentDirectory;
    const stalls: ((value?: unknown) => void)[] = [];
    const notifier = new AgentNotifier({
      agents,
      channels,
      webPush: new WebPush(join(directory, "pushKeys.json")),
      save: (list) => void saved.push(list),
      stalled: (_agent, _seconds, signal) =>
        new Promise((resolve, reject) => {
          stalls.push(resolve);
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
      isBeingEnded: () => expected,
      send: async (request, signal) => {
        requests.push({ ...request, atMs: clock.nowMs() });
        const aborted = new Promise<never>((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
        await Promise.race([held.value, aborted]);
        const answer = answers.shift() ?? { status: 200, retryAfterMs: undefined, body: "" };
        if (answer instanceof Error) throw answer;
        return answer;
      },
      clock,
      nowUnixMs,
      log: silentLog,
    });
    return {
      notifier,
      stalls,
      close: () => {
        notifier.close();
        store.close();
        listeners.clear();
        checks.clear();
      },
    };
  };

  const actor = (id = "agent-000000000001", name = "api"): Actor => {
    const agent = {
      id,
      name,
      kind: { name: "claude", title: "Claude Code", profile: {} },
      cwd: "/home/me/payments",
      lastMessage: undefined as string | undefined,
      readiness: undefined as Readiness | undefined,
      endedUnixMs: undefined as number | undefined,
    };
    const living = agent as unknown as RunningAgent;
    const tell = (kind: AgentChange["kind"]): void => {
      for (const listener of listeners) listener({ kind, agent: living });
    };
    return {
      agent: living,
      is: (state, dialog) => {
        running.set(id, living);
        agent.readiness = {
          state,
          source: "screen",
          profile: "claude",
          sinceUnixMs: nowUnixMs(),
          position: undefined,
          ...(dialog === undefined ? {} : { dialog: { ...DIALOG, id: dialog } }),
        };
        agent.lastMessage = "all 14 tests pass";
        tell("changed");
      },
      ends: () => {
        running.delete(id);
        agent.endedUnixMs = nowUnixMs();
        tell("ended");
      },
    };
  };

  /** Time passes, and what was sent is answered. */
  const pass = async (ms: number): Promise<void> => {
    clock.advanceMs(ms);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    clock.advanceMs(0);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  const events = () => requests.map(({ body }) => ({ ...(body as { event: string; state: string }) }));
  const told = (): string[] => events().map(({ event, state }) => (state === "open" ? event : `${event} ${state}`));
  const check = (): void => {
    for (const look of checks) look();
  };
  const keepElsewhere = (): void => void (elsewhere = true);
  const expectEnds = (value: boolean): void => void (expected = value);
  return { clock, start, actor, pass, requests, told, answers, saved, gone, held, check, expectEnds, keepElsewhere };
}

const DIALOG = {
  id: "1-abc",
  text: "Run rm -rf build?",
  options: [
    { index: 0, label: "Yes", keys: ["1"] },
    { index: 1, label: "No", keys: ["2"] },
  ],
  multi: false,
};

test("a question is told once when it has been open for two seconds, with names alone, and taken back when it is answered", async () => {
  const { start, actor, pass, requests, told } = scene();
  const { notifier } = start();
  const agent = actor();
  agent.is("busy");
  agent.is("asking", "1-abc");
  await pass(1_999);
  expect(told()).toEqual([]);
  await pass(1);
  agent.is("asking", "1-abc");
  await pass(60_000);
  expect(told()).toEqual(["asking"]);
  expect(requests[0]!.body).toEqual({
    id: expect.stringMatching(/^notice-[0-9a-f]{16}$/) as string,
    event: "asking",
    state: "open",
    agent: { id: "agent-000000000001", name: "api", program: "Claude Code", project: "payments" },
    sinceUnixMs: START_UNIX_MS,
    title: "api asks a question",
    message: "Claude Code in payments",
  });
  expect(notifier.list()).toMatchObject([{ name: "hook", waiting: 0, lost: 0, why: null }]);
  agent.is("busy");
  await pass(0);
  expect(told()).toEqual(["asking", "asking withdrawn"]);
  expect((requests[1]!.body as { id: string }).id).toBe((requests[0]!.body as { id: string }).id);
});

test("a question that is answered within two seconds is told nobody; another one that follows is", async () => {
  const { start, actor, pass, told } = scene();
  start();
  const agent = actor();
  agent.is("asking", "1-abc");
  await pass(1_900);
  agent.is("busy");
  await pass(60_000);
  expect(told()).toEqual([]);
  agent.is("asking", "2-abc");
  await pass(1_000);
  agent.is("asking", "3-def");
  await pass(1_500);
  expect(told()).toEqual([]);
  await pass(500);
  expect(told()).toEqual(["asking"]);
});

test("a dialog that is read later is the same question", async () => {
  const { start, actor, pass, told } = scene();
  start();
  const agent = actor();
  agent.is("asking");
  await pass(2_000);
  agent.is("asking", "1-abc");
  agent.is("asking");
  agent.is("asking", "1-abc");
  await pass(60_000);
  expect(told()).toEqual(["asking"]);
  agent.is("asking", "2-def");
  await pass(60_000);
  expect(told()).toEqual(["asking", "asking withdrawn", "asking"]);
});

test("the end of a turn is told, not the start of a program, and not a pause of less than two seconds", async () => {
  const { start, actor, pass, told } = scene();
  start();
  const agent = actor();
  agent.is("idle");
  await pass(60_000);
  expect(told()).toEqual([]);
  agent.is("busy");
  agent.is("idle");
  await pass(1_000);
  agent.is("busy");
  await pass(60_000);
  expect(told()).toEqual([]);
  agent.is("unknown");
  agent.is("idle");
  await pass(2_000);
  expect(told()).toEqual(["done"]);
});

test("an agent that ends is told, unless somebody ends it through the daemon", async () => {
  const { start, actor, pass, told, expectEnds } = scene();
  start();
  const [crashed, ended] = [actor("agent-000000000001", "crashed"), actor("agent-000000000002", "ended")];
  crashed.is("asking", "1-abc");
  ended.is("idle");
  await pass(2_000);
  crashed.ends();
  expectEnds(true);
  ended.ends();
  await pass(2_000);
  expect(told()).toEqual(["asking", "asking withdrawn", "ended"]);
});

test("what many agents do at once is one message for a person, and one each for a program", async () => {
  const { start, actor, pass, requests } = scene();
  const people: Channel = { name: "phone", kind: "ntfy", url: "https://ntfy.example/sub/topic" };
  start([HOOK, people]);
  const actors = [1, 2, 3].map((at) => actor(`agent-00000000000${at}`, `a${at}`));
  for (const agent of actors) agent.is("idle");
  for (const agent of actors) agent.ends();
  await pass(2_000);
  const [phone, hook] = [
    requests.filter(({ url }) => url.includes("ntfy")),
    requests.filter(({ url }) => url === HOOK.url),
  ];
  expect(hook).toHaveLength(3);
  expect(phone.map(({ method, url, body }) => ({ method, url, body }))).toEqual([
    {
      method: "POST",
      url: "https://ntfy.example/sub/",
      body: {
        topic: "topic",
        title: "3 agents have ended",
        message: "a1: Claude Code in payments\na2: Claude Code in payments\na3: Claude Code in payments",
        priority: 3,
        sequence_id: expect.stringMatching(/^notice-/) as string,
      },
    },
  ]);
});

test("each kind of address gets its own form, and text that nobody chose stays here", async () => {
  const { start, actor, pass, requests } = scene();
  start([
    { name: "a", kind: "ntfy", url: "https://ntfy.example/topic", text: true, token: "tk_1" },
    { name: "b", kind: "slack", url: "https://hooks.example/T/B/x", text: true },
    { name: "c", kind: "discord", url: "https://discord.example/api/webhooks/1/x", text: true },
    { name: "d", kind: "webhook", url: "https://hook.example/", text: true },
    { name: "e", kind: "slack", url: "https://hooks.example/T/B/y" },
  ]);
  const agent = actor();
  agent.is("asking", "1-abc");
  await pass(2_000);
  const bodies = Object.fromEntries(requests.map(({ url, body }) => [url, body as Record<string, unknown>]));
  expect(requests[0]!.headers).toEqual({ "content-type": "application/json", authorization: "Bearer tk_1" });
  expect(bodies["https://ntfy.example/"]!["message"]).toBe("Claude Code in payments\nRun rm -rf build?\n1. Yes\n2. No");
  expect(bodies["https://hooks.example/T/B/x"]!["text"]).toContain("Run rm -rf build?");
  expect(bodies["https://discord.example/api/webhooks/1/x?wait=true"]).toMatchObject({
    content: expect.stringContaining("Run rm \\-rf build?") as string,
    allowed_mentions: { parse: [] },
  });
  expect(bodies["https://hook.example/"]).toMatchObject({ text: "Run rm -rf build?\n1. Yes\n2. No" });
  expect(bodies["https://hooks.example/T/B/y"]!["text"]).toBe("api asks a question\nClaude Code in payments");
});

test("what was told is taken back where that is possible: ntfy by its id, Discord by the message's", async () => {
  const { start, actor, pass, requests, answers } = scene();
  start([
    { name: "a", kind: "ntfy", url: "https://ntfy.example/topic" },
    { name: "b", kind: "slack", url: "https://hooks.example/x" },
    { name: "c", kind: "discord", url: "https://discord.example/api/webhooks/1/x" },
  ]);
  const ok = { status: 200, retryAfterMs: undefined };
  answers.push({ ...ok, body: "" }, { ...ok, body: "ok" }, { ...ok, body: '{"id":"4711","content":"x"}' });
  const agent = actor();
  agent.is("asking", "1-abc");
  await pass(2_000);
  agent.is("busy");
  await pass(0);
  const taken = requests.slice(3);
  expect(taken.map(({ method, url }) => `${method} ${url.replace(/notice-\w+/, "ID")}`)).toEqual([
    "DELETE https://ntfy.example/topic/ID",
    "DELETE https://discord.example/api/webhooks/1/x/messages/4711",
  ]);
});

test("an address that does not respond is tried again, later and later, and said; a refusal is final", async () => {
  const { start, actor, pass, requests, answers, told } = scene();
  const { notifier } = start();
  const agent = actor();
  agent.is("asking", "1-abc");
  answers.push(
    Object.assign(new Error("fetch failed"), { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) }),
    { status: 503, retryAfterMs: undefined, body: "" },
    { status: 429, retryAfterMs: 7_000, body: "" },
  );
  await pass(2_000);
  expect(notifier.list()).toMatchObject([
    { waiting: 1, failingSinceUnixMs: START_UNIX_MS + 2_000, why: "no connection (ECONNREFUSED)" },
  ]);
  await pass(2_000);
  await pass(4_000);
  await pass(6_999);
  expect(requests.map(({ atMs }) => atMs)).toEqual([2_000, 4_000, 8_000]);
  await pass(1);
  expect(told()).toHaveLength(4);
  expect(notifier.list()).toMatchObject([
    { waiting: 0, lost: 0, failingSinceUnixMs: null, sentUnixMs: START_UNIX_MS + 15_000 },
  ]);
  agent.is("busy");
  answers.push({ status: 404, retryAfterMs: undefined, body: "" });
  agent.is("asking", "2-def");
  await pass(0);
  answers.push({ status: 404, retryAfterMs: undefined, body: "" });
  await pass(2_000);
  expect(notifier.list()).toMatchObject([
    { waiting: 0, lost: 1, why: "it responds with status 404; check its url and token" },
  ]);
});

test("an address that takes the request and says nothing has ten seconds", async () => {
  const { start, actor, pass, held, told } = scene();
  const { notifier } = start();
  held.value = new Promise(() => undefined);
  actor().is("asking", "1-abc");
  await pass(2_000);
  await pass(9_999);
  expect(notifier.list()).toMatchObject([{ waiting: 1, why: null }]);
  await pass(1);
  expect(notifier.list()).toMatchObject([{ waiting: 1, why: "no response within 10 s" }]);
  held.value = undefined;
  await pass(2_000);
  expect(told()).toEqual(["asking", "asking"]);
  expect(notifier.list()).toMatchObject([{ waiting: 0, why: null }]);
});

test("what is answered while it is on its way is taken back when it has arrived", async () => {
  const { start, actor, pass, held, told } = scene();
  start();
  let arrive = (): void => undefined;
  held.value = new Promise((resolve) => void (arrive = resolve));
  const agent = actor();
  agent.is("asking", "1-abc");
  await pass(2_000);
  agent.is("busy");
  await pass(0);
  arrive();
  await pass(0);
  expect(told()).toEqual(["asking", "asking withdrawn"]);
});

test("nothing is lost or told twice over a restart: open questions, ends of turns, ends of agents", async () => {
  const { start, actor, pass, told, gone, check, answers } = scene();
  const first = start();
  const [open, waiting, working, crashed] = ["open", "waiting", "working", "crashed"].map((name, at) =>
    actor(`agent-00000000000${at}`, name),
  ) as [Actor, Actor, Actor, Actor];
  open.is("asking", "1-abc");
  working.is("busy");
  crashed.is("busy");
  await pass(2_000);
  answers.push({ status: 500, retryAfterMs: undefined, body: "" });
  waiting.is("asking", "5-aaa");
  await pass(2_000);
  expect(told()).toEqual(["asking", "asking"]);
  first.close();
  const second = start();
  // The directory finds them one after the other; dialogs are counted anew.
  open.is("unknown");
  open.is("asking", "1-abc");
  waiting.is("asking", "1-aaa");
  await pass(2_000);
  expect(told()).toEqual(["asking", "asking", "asking"]);
  working.is("idle");
  await pass(2_000);
  gone.push({ id: crashed.agent.id, endedUnixMs: START_UNIX_MS });
  await pass(10_000);
  check();
  await pass(2_000);
  expect(told().slice(3).toSorted()).toEqual(["done", "ended"]);
  open.is("busy");
  await pass(0);
  expect(told().at(-1)).toBe("asking withdrawn");
  second.close();
});

test("a question that is answered while no daemon runs is not told by the next one; one that nobody can look at is, after a while", async () => {
  const { start, actor, pass, told } = scene();
  const first = start();
  const [answered, open, unseen] = ["answered", "open", "unseen"].map((name, at) =>
    actor(`agent-00000000000${at}`, name),
  ) as [Actor, Actor, Actor];
  for (const one of [answered, open, unseen]) one.is("asking", "1-abc");
  await pass(500);
  first.close();
  await pass(1_400);
  const second = start();
  // It takes longer than until they are due.
  await pass(1_000);
  expect(told()).toEqual([]);
  answered.is("busy");
  open.is("asking", "1-abc");
  await pass(0);
  expect(told()).toEqual(["asking"]);
  await pass(8_900);
  expect(told()).toEqual(["asking"]);
  await pass(100);
  expect(told()).toEqual(["asking", "asking"]);
  second.close();
});

test("nothing is sent in quiet hours; what is still true afterwards is", async () => {
  const { start, actor, pass, told } = scene();
  const now = new Date(START_UNIX_MS);
  const at = (minutes: number): string => {
    const time = new Date(now.getTime() + minutes * 60_000);
    return `${String(time.getHours()).padStart(2, "0")}:${String(time.getMinutes()).padStart(2, "0")}`;
  };
  start([{ ...HOOK, quiet: `${at(-5)}-${at(10)}` }]);
  const [answered, open] = [actor("agent-000000000001", "a"), actor("agent-000000000002", "b")];
  answered.is("asking", "1-abc");
  open.is("asking", "1-abc");
  await pass(120_000);
  answered.is("busy");
  await pass(300_000);
  expect(told()).toEqual([]);
  for (let minute = 0; minute < 10; minute += 1) await pass(60_000);
  expect(told()).toEqual(["asking"]);
});

test("a stall is watched only where somebody wants to know, and taken back when the agent goes on", async () => {
  const { start, actor, pass, told } = scene();
  const without = start();
  actor().is("busy");
  expect(without.stalls).toEqual([]);
  without.close();
  const { stalls } = start([{ ...HOOK, on: ["stalled"] }]);
  const agent = actor("agent-000000000002", "b");
  agent.is("busy");
  expect(stalls).toHaveLength(1);
  stalls[0]!();
  await pass(0);
  expect(told()).toEqual(["stalled"]);
  agent.is("idle");
  await pass(0);
  expect(told()).toEqual(["stalled", "stalled withdrawn"]);
});

test("a host that is away for half a minute is told, and taken back when it is back", async () => {
  const { start, pass, requests, told } = scene();
  const { notifier } = start();
  notifier.hostChanged("build", true);
  await pass(29_999);
  notifier.hostChanged("build", false);
  await pass(60_000);
  expect(told()).toEqual([]);
  notifier.hostChanged("build", true);
  await pass(30_000);
  expect(requests[0]!.body).toMatchObject({ event: "host", host: "build", title: "The host build is away" });
  notifier.hostChanged("build", false);
  await pass(0);
  expect(told()).toEqual(["host", "host withdrawn"]);
});

test("channels are added, tested, listed without their secrets, and removed", async () => {
  const { start, actor, pass, told, saved, answers, requests } = scene();
  const { notifier } = start([]);
  const agent = actor();
  agent.is("asking", "1-abc");
  await pass(60_000);
  const added = notifier.add({ kind: "ntfy", url: "https://ntfy.example/secret-topic" });
  expect(added).toEqual({
    name: "ntfy",
    kind: "ntfy",
    url: "https://ntfy.example/...",
    on: ["asking", "done", "ended", "host"],
    answers: false,
    text: false,
    quiet: null,
    waiting: 0,
    lost: 0,
    sentUnixMs: null,
    failingSinceUnixMs: null,
    why: null,
  });
  expect(notifier.add({ kind: "ntfy", url: "https://ntfy.example/other" }).name).toBe("ntfy-2");
  expect(saved.at(-1)).toHaveLength(2);
  // What was open already is on somebody's screen.
  agent.is("asking", "1-abc");
  await pass(60_000);
  expect(told()).toEqual([]);
  const sent = notifier.test("ntfy");
  await pass(0);
  await sent;
  expect(requests[0]!.body).toMatchObject({ title: "test asks a question" });
  answers.push({ status: 403, retryAfterMs: undefined, body: "secret" });
  const refused = notifier.test("ntfy").catch((error: unknown) => error);
  await pass(0);
  expect(await refused).toMatchObject({
    code: "DAEMON_UNREACHABLE",
    message: "the test was not sent: it responds with status 403; check its url and token",
  });
  notifier.remove("ntfy");
  expect(() => notifier.remove("ntfy")).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
  expect(notifier.list().map(({ name }) => name)).toEqual(["ntfy-2"]);
});

test.each([
  [{ kind: "webhook", url: "ftp://a/b" }, "url: must begin with https:// or http://"],
  [{ kind: "webhook", url: "nothing" }, "url: must begin with https:// or http://"],
  [{ kind: "webhook", url: "https://me:pw@a/b" }, "url: leave out name and password; give a token instead"],
  [{ kind: "ntfy", url: "https://ntfy.sh/" }, "url: must end in a topic, such as https://ntfy.sh/TOPIC"],
  [{ kind: "ntfy", url: "https://ntfy.sh/topic?auth=x" }, "url: must end in a topic, such as https://ntfy.sh/TOPIC"],
  [{ kind: "slack", url: "https://a/b", token: "x" }, "token: slack takes none; the secret is in its url"],
  [{ kind: "webhook", url: "https://a/b", token: "x\r\ny" }, "token: must be printable ASCII without blanks"],
  [{ kind: "slack", url: "https://a/b", answers: "https://work.example" }, "answers: slack has no buttons"],
  [{ kind: "ntfy", url: "https://a/t", answers: "http://work.example" }, "answers: must be the dashboard's"],
  [{ kind: "ntfy", url: "https://a/t", answers: "https://work.example/x" }, "answers: must be the dashboard's"],
  [{ kind: "ntfy", url: "https://a/t", answers: "https://work.example", text: false }, "answers: needs `text`"],
] as const)("%j is refused and changes nothing", (channel, message) => {
  const { start, saved } = scene();
  const { notifier } = start([]);
  expect(() => notifier.add(channel)).toThrow(message);
  expect(() => notifier.add({ ...channel, url: channel.url })).toThrow(
    expect.objectContaining({ code: "INVALID_ARGUMENT" }),
  );
  expect([saved, notifier.list()]).toEqual([[], []]);
});

test("what becomes due while another one is on its way is sent after it", async () => {
  const { start, actor, pass, held, told } = scene();
  start();
  let arrive = (): void => undefined;
  held.value = new Promise((resolve) => void (arrive = resolve));
  const [first, second] = [actor("agent-000000000001", "a"), actor("agent-000000000002", "b")];
  first.is("asking", "1-abc");
  second.is("idle");
  await pass(2_000);
  second.ends();
  await pass(5_000);
  expect(told()).toEqual(["asking"]);
  arrive();
  await pass(0);
  expect(told()).toEqual(["asking", "ended"]);
});

test("what waits for an address that was mended is sent after a test, not minutes later", async () => {
  const { start, actor, pass, answers, told } = scene();
  const { notifier } = start();
  for (let tries = 0; tries < 9; tries += 1) answers.push({ status: 502, retryAfterMs: undefined, body: "" });
  actor().is("asking", "1-abc");
  for (let step = 0; step < 9; step += 1) await pass(2_000 * 2 ** step);
  expect([told().length, notifier.list()[0]!.waiting]).toEqual([9, 1]);
  const sent = notifier.test("hook");
  await pass(0);
  await sent;
  expect([told().length, notifier.list()[0]!.waiting]).toEqual([11, 0]);
});

test("of two daemons that have the same agents one tells", async () => {
  const { start, actor, pass, told, saved, keepElsewhere } = scene();
  keepElsewhere();
  const { notifier } = start();
  actor().is("asking", "1-abc");
  await pass(60_000);
  expect([told(), notifier.list()]).toEqual([[], []]);
  expect(() => notifier.add({ kind: "webhook", url: "https://a/b" })).toThrow(
    expect.objectContaining({ code: "INCONSISTENT_STATE" }),
  );
  expect(saved).toEqual([]);
});

test("questions have buttons where they are chosen: as many as the channel shows, none for several answers or for what destroys", async () => {
  const { start, actor, pass, requests } = scene();
  const answers = "https://work.example";
  const { notifier } = start([{ name: "phone", kind: "ntfy", url: "https://ntfy.example/topic", answers }]);
  const ask = async (id: string, dialog: object): Promise<Record<string, unknown>> => {
    const agent = actor();
    agent.is("busy");
    agent.is("asking", id);
    Object.assign(agent.agent.readiness!.dialog!, dialog);
    await pass(2_000);
    const { body } = requests.filter(({ method }) => method === "POST").at(-1)!;
    return body as Record<string, unknown>;
  };
  const many = ["Yes", "Yes, always", "Tell it", "No", "Never"].map((label, index) => ({ index, label, keys: ["x"] }));
  const told = await ask("1-abc", { text: "Run npm test?", options: many, otherIndex: 2 });
  const actions = told["actions"] as readonly Record<string, string>[];
  expect(told["message"]).toContain("Run npm test?\n1. Yes\n2. Yes, always");
  expect(actions.map(({ label, url, method }) => [label, method, url])).toEqual([
    ["1. Yes", "POST", "https://work.example/api/answers"],
    ["2. Yes, always", "POST", "https://work.example/api/answers"],
    ["4. No", "POST", "https://work.example/api/answers"],
  ]);
  const pressed = JSON.parse(actions[2]!["body"]!) as { token: string; option: number };
  const chosen: object[] = [];
  const words = await notifier.answer(pressed.token, pressed.option, async (answer) => {
    chosen.push(answer);
    actor().is("busy");
  });
  await pass(0);
  expect([words, chosen]).toEqual(["answered: 4. No", [{ agent: "agent-000000000001", dialogId: "1-abc", index: 3 }]]);
  expect(requests.at(-1)).toMatchObject({
    method: "POST",
    body: { title: "api: answered: 4. No", sequence_id: told["sequence_id"] },
  });
  for (const dialog of [
    { multi: true },
    { text: "Bash command\nsudo rm -rf build" },
    { text: "Go on?\n$ git reset --hard" },
  ]) {
    expect(await ask(`2-${JSON.stringify(dialog).length}`, dialog)).not.toHaveProperty("actions");
  }
});

test("a button of a question that was answered elsewhere, or has changed, answers nothing", async () => {
  const { start, actor, pass, requests } = scene();
  const answers = "https://work.example";
  const { notifier } = start([{ name: "phone", kind: "ntfy", url: "https://ntfy.example/topic", answers }]);
  const agent = actor();
  const never = (): Promise<never> => Promise.reject(new Error("it was called"));
  const token = (): string => {
    const { body } = requests.at(-1)!;
    const [action] = (body as { actions: readonly { body: string }[] }).actions;
    return (JSON.parse(action!.body) as { token: string }).token;
  };
  const asks = (id: string): void => {
    agent.is("asking", id);
    Object.assign(agent.agent.readiness!.dialog!, { text: "Go on?" });
  };
  asks("1-abc");
  await pass(2_000);
  const first = token();
  asks("2-def");
  await expect(notifier.answer(first, 0, never)).rejects.toThrow(/no longer valid/);
  await pass(0);
  await pass(2_000);
  const second = token();
  agent.is("busy");
  await expect(notifier.answer(second, 0, never)).rejects.toThrow(/no longer valid/);
});
