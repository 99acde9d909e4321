/** Prompts to programs that behave as agents do (test/fixtures/agents), on real tmux: each submitted once, text exact. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENTER_RETRY_MS } from "../../daemon/delivery/deliveryLimits.ts";
import {
  AGENT_PROFILES,
  type AgentProgram,
  type GuestAgent,
  guestAgent,
  ownedAgent,
} from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { drawn, engines, to, untilState } from "../support/agents/deliveryScene.ts";

const lines = (count: number): string =>
  Array.from({ length: count }, (_, n) => `line ${n + 1} of ${count}`).join("\n");

/** What the program took; its word may come after its screen. */
async function submits({ channel }: AgentProgram, from = 0): Promise<readonly string[]> {
  await channel.next("submit", from);
  return channel.submits(from);
}

/** Until the program has drawn it: what was typed is not on the screen at once. */
const shows = async ({ server, pane }: AgentProgram, text: string): Promise<void> =>
  eventually(async () => (await server.capture(pane, {})).lines.some((line) => line.includes(text)));

/** Nothing is known of a program that has drawn nothing. */
const unknownTo = ({ server, pane }: AgentProgram) => ({ server, pane, profile: "generic" });

const TEXTS = {
  short: "hello there",
  "one letter": "y",
  "540 characters": "word ".repeat(108).trim(),
  "7 lines": lines(7),
  "41 lines": lines(41),
  "a dash first": "-rf --help",
  "a semicolon last": "a; b;",
  quotes: `it's "quoted" \`x\` $HOME #{pane_id} \\n \\`,
  emoji: "👍🏽 naïve 漢字 👩‍👩‍👧 é",
  "a line end last": "first\nsecond\n",
  "a tab": "a\tb",
  "box drawing": "│ ─ ▏",
};

describe("one prompt after the other is submitted once, exactly", () => {
  let agent: GuestAgent;
  beforeAll(async () => {
    agent = await guestAgent("inkPrompt", { options: { busyMs: 20 } });
  });
  afterAll(() => agent[Symbol.asyncDispose]());

  test.each(Object.entries(TEXTS))("%s", async (_kind, text) => {
    using on = engines();
    const from = agent.channel.log.length;
    const result = await on.delivery.submit({ ...(await drawn(agent, on, "inkPrompt")), text });
    expect(result).toMatchObject({ outcome: "submitted", enterPresses: 1 });
    expect(result.firstByteMs).toBeLessThan(result.enterMs ?? 0);
    expect(await submits(agent, from)).toEqual([text]);
    expect(on.errors).toEqual([]);
  });

  test.each(["", "  \n", "a\u0003b", "a\u001b[201~b", "\0"])("nothing is typed for the text %j", async (text) => {
    using on = engines();
    const from = agent.channel.log.length;
    await expect(on.delivery.submit({ ...(await drawn(agent, on, "inkPrompt")), text })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(agent.channel.count("read", from)).toBe(0);
  });
});

describe("a prompt is submitted once, exactly", () => {
  test("a prompt of 100 KB, shown as a placeholder, is submitted", async () => {
    await using agent = await ownedAgent("placeholder");
    using on = engines();
    const text = lines(6_000);
    expect(Buffer.byteLength(text)).toBeGreaterThan(100_000);
    const result = await on.delivery.submit({ ...(await drawn(agent, on, "placeholder")), text });
    expect(result).toMatchObject({ outcome: "submitted", enterPresses: 1 });
    expect(await submits(agent)).toEqual([text]);
  });

  test("the same text is submitted again and again, although the screen already shows it", async () => {
    await using agent = await ownedAgent("inkPrompt", { options: { busyMs: 20 } });
    using on = engines();
    using watched = on.readiness.watch(agent.server, agent.pane, { profile: "claude" });
    for (let n = 1; n <= 5; n += 1) {
      const result = await on.delivery.submit({ ...(await drawn(agent, on, "inkPrompt")), text: "continue" });
      expect(result).toMatchObject({ outcome: "submitted", enterPresses: 1 });
      await untilState(watched, "idle");
    }
    expect(await submits(agent)).toEqual(Array.from({ length: 5 }, () => "continue"));
  });

  test.each(["codexLike", "geminiLike", "opencodeLike", "piLike"] as const)("%s", async (name) => {
    await using agent = await ownedAgent(name);
    using on = engines();
    using watched = on.readiness.watch(agent.server, agent.pane, { profile: AGENT_PROFILES[name] });
    for (const text of ["hello there", lines(7)]) {
      await untilState(watched, "idle");
      const from = agent.channel.log.length;
      const result = await on.delivery.submit({ ...(await drawn(agent, on, name)), text });
      expect(result).toMatchObject({ outcome: "submitted", enterPresses: 1 });
      expect(await submits(agent, from)).toEqual([text]);
    }
  });

  test("a missed Enter is pressed again, once", async () => {
    await using agent = await ownedAgent("swallowEnter");
    using on = engines();
    const result = await on.delivery.submit({ ...(await drawn(agent, on, "swallowEnter")), text: "abc" });
    expect(result).toMatchObject({ outcome: "submitted", enterPresses: 2 });
    expect(await submits(agent)).toEqual(["abc"]);
  });

  test("Enter is not repeated for a program that gets no CPU time to read it", async () => {
    const stallMs = 1_500;
    await using agent = await ownedAgent("inkPrompt", { options: { stallMs } });
    using on = engines();
    const result = await on.delivery.submit({ ...(await drawn(agent, on, "inkPrompt")), text: lines(7) });
    expect(result).toMatchObject({ outcome: "submitted", enterPresses: 1 });
    // Enter lay unread for longer than it takes until it is pressed again.
    expect(result.latencyMs - (result.enterMs ?? 0)).toBeGreaterThan(ENTER_RETRY_MS);
    expect(await submits(agent)).toEqual([lines(7)]);
    const read = agent.channel.log.map(({ event, text }) => (event === "read" ? text : "")).join("");
    expect(read.slice(read.indexOf("\u001b[201~"))).toBe("\u001b[201~\r");
  });

  test("Enter is not repeated for a program that has read it but not handled it", async () => {
    await using agent = await ownedAgent("inkPrompt", { options: { spinMs: 1_000 } });
    using on = engines();
    const result = await on.delivery.submit({ ...(await drawn(agent, on, "inkPrompt")), text: "slowly" });
    expect(result).toMatchObject({ outcome: "submitted", enterPresses: 1 });
    expect(result.latencyMs - (result.enterMs ?? 0)).toBeGreaterThan(ENTER_RETRY_MS);
    expect(await submits(agent)).toEqual(["slowly"]);
  });

  test("copy mode is left first", async () => {
    await using agent = await guestAgent("inkPrompt");
    using on = engines();
    agent.socket.tmux("copy-mode", "-t", agent.pane);
    const result = await on.delivery.submit({ ...(await drawn(agent, on, "inkPrompt")), text: "through copy mode" });
    expect(result.outcome).toBe("submitted");
    expect(await submits(agent)).toEqual(["through copy mode"]);
  });

  test("several prompts at once are submitted one after another", async () => {
    await using agent = await ownedAgent("queues", { options: { busyMs: 30 } });
    using on = engines();
    await drawn(agent, on, "queues");
    const texts = ["one", "two two", lines(3), "four"];
    const results = await Promise.all(
      texts.map((text) => on.delivery.submit({ ...to(agent, "queues"), text, whileBusy: "queue", timeoutMs: 15_000 })),
    );
    for (const { outcome } of results) expect(outcome).toMatch(/^(?:submitted|queued)$/);
    await agent.channel.next((entry) => entry.event === "submit" && entry.text === "four");
    expect(await submits(agent)).toEqual(texts);
  });

  test("a person's half-typed text stays theirs: ours waits until they have sent it, or is refused", async () => {
    await using agent = await guestAgent("inkPrompt", { options: { busyMs: 20 } });
    using on = engines();
    const target = await drawn(agent, on, "inkPrompt");
    agent.person.type("half");
    await agent.channel.next((entry) => entry.event === "read" && entry.text?.endsWith("f") === true);
    await shows(agent, "❯\u00a0half");
    await expect(on.delivery.submit({ ...target, text: "ours" })).rejects.toMatchObject({
      code: "WRONG_STATE",
      details: { reason: "box_not_empty", box: "half" },
    });
    expect(agent.channel.count("paste")).toBe(0);
    const waiting = on.delivery.submit({ ...target, text: "ours", whileTyping: "wait", timeoutMs: 30_000 });
    // Who waits does not hold the pane: another delivery is not kept until they have finished.
    await expect(on.delivery.submit({ ...target, text: "not now" })).rejects.toMatchObject({
      details: { reason: "box_not_empty", box: "half" },
    });
    agent.person.type(" done");
    await shows(agent, "❯\u00a0half done");
    agent.person.type("\r");
    // Their turn may still run when the box is free.
    const outcome = await waiting.then(
      (result) => result.outcome,
      (error: { readonly details?: { readonly state?: string } }) => error.details?.state,
    );
    expect(["submitted", "busy"]).toContain(outcome);
    // What the program writes to its terminal may be here before what it tells the test.
    const taken = outcome === "submitted" ? ["half done", "ours"] : ["half done"];
    await eventually(() => agent.channel.submits().length >= taken.length);
    expect(agent.channel.submits()).toEqual(taken);
  });

  test("a person who types while ours is on its way: both are one prompt only where the result says so", async () => {
    await using agent = await guestAgent("inkPrompt");
    using on = engines();
    const delivered = on.delivery.submit({ ...(await drawn(agent, on, "inkPrompt")), text: "ours" });
    const settled = delivered.then(
      ({ outcome, details }) => ({ outcome, note: details?.screenNote }),
      (error: { readonly details?: { readonly reason?: string } }) => ({ outcome: error.details?.reason, note: "" }),
    );
    await agent.channel.next("paste");
    agent.person.type("!");
    const { outcome, note } = await settled;
    // The key may arrive with our Enter, when nothing shows it yet: then the result tells of it.
    if (outcome === "echoed_unconfirmed") expect(note).toContain("ours!");
    else expect(["submitted", "box_changed"]).toContain(outcome);
    const taken = { submitted: ["ours"], echoed_unconfirmed: ["ours!"], box_changed: [] };
    expect(agent.channel.submits()).toEqual(taken[outcome as keyof typeof taken]);
  });
});

describe("nothing is typed", () => {
  test("while it is busy; queued where that is allowed", async () => {
    await using agent = await ownedAgent("queues", { options: { busyMs: 0 } });
    using on = engines();
    await agent.channel.tell("busy");
    using watched = on.readiness.watch(agent.server, agent.pane, { profile: "claude" });
    await untilState(watched, "busy");
    const request = { ...to(agent, "queues"), text: "later" };
    await expect(on.delivery.submit(request)).rejects.toMatchObject({
      code: "WRONG_STATE",
      details: { state: "busy" },
    });
    expect(agent.channel.count("read")).toBe(0);
    const result = await on.delivery.submit({ ...request, whileBusy: "queue" });
    expect(result.outcome).toBe("queued");
    await agent.channel.next((entry) => entry.event === "queued" && entry.text === "later");
  });

  test("when the program does not queue", async () => {
    await using agent = await ownedAgent("codexLike", { options: { busyMs: 0 } });
    using on = engines();
    await agent.channel.tell("busy");
    using watched = on.readiness.watch(agent.server, agent.pane, { profile: "codex" });
    await untilState(watched, "busy");
    const request = { ...to(agent, "codexLike"), text: "later", whileBusy: "queue" } as const;
    await expect(on.delivery.submit(request)).rejects.toMatchObject({
      code: "WRONG_STATE",
      details: { state: "busy" },
    });
    expect(agent.channel.count("read")).toBe(0);
  });

  test("not Enter, when the text is never seen", async () => {
    await using agent = await ownedAgent("neverDraws");
    using on = engines();
    const result = await on.delivery.submit({ ...unknownTo(agent), text: "unseen" });
    expect(result).toMatchObject({ outcome: "not_echoed", enterPresses: 0, enterMs: undefined });
    expect(agent.channel.log.some((entry) => entry.event === "read" && entry.text?.includes("\r") === true)).toBe(
      false,
    );
  });

  test("when the program has ended", async () => {
    await using agent = await ownedAgent("inkPrompt");
    using on = engines();
    const closed = new Promise<void>((resolve) => {
      agent.server.subscribe((event) => event.kind === "pane-closed" && resolve());
    });
    await agent.channel.tell("exit");
    await closed;
    const request = { ...to(agent, "inkPrompt"), text: "too late" };
    await expect(on.delivery.submit(request)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("keys", () => {
  test("interrupt stops a turn, clear empties the box", async () => {
    await using agent = await ownedAgent("inkPrompt", { options: { busyMs: 0 } });
    using on = engines();
    await on.delivery.submit({ ...(await drawn(agent, on, "inkPrompt")), text: "stop me" });
    using watched = on.readiness.watch(agent.server, agent.pane, { profile: "claude" });
    await on.delivery.interrupt(agent.server, agent.pane);
    await agent.channel.next("interrupted");
    await untilState(watched, "idle");
    await on.delivery.clear(agent.server, agent.pane);
    await agent.channel.next((entry) => entry.event === "read" && entry.text === "\u0015");
    expect(await submits(agent)).toEqual(["stop me"]);
  });

  test("clearFirst empties a box of several lines", async () => {
    await using agent = await ownedAgent("inkPrompt");
    using on = engines();
    const parts = [{ kind: "paste", bytes: Buffer.from("old one\nold two") }] as const;
    await agent.server.input(agent.pane, parts);
    await shows(agent, "old two");
    const result = await on.delivery.submit({
      ...(await drawn(agent, on, "inkPrompt")),
      text: "new",
      clearFirst: true,
    });
    expect(result.outcome).toBe("submitted");
    expect(await submits(agent)).toEqual(["new"]);
  });

  test("clearFirst empties what stands behind the cursor, too", async () => {
    await using agent = await ownedAgent("piLike");
    using on = engines();
    const target = await drawn(agent, on, "piLike");
    const parts = [{ kind: "paste", bytes: Buffer.from("old one\nold two\nold three") }] as const;
    await agent.server.input(agent.pane, parts);
    await agent.channel.next("paste");
    await agent.server.input(agent.pane, [{ kind: "keys", keys: Array.from({ length: 14 }, () => "Left") }]);
    const cursor = async () => (await agent.server.capture(agent.pane)).cursor.col;
    await eventually(async () => (await cursor()) === "old".length);
    const result = await on.delivery.submit({ ...target, text: "new", clearFirst: true });
    expect(result.outcome).toBe("submitted");
    expect(await submits(agent)).toEqual(["new"]);
  });
});

test("who took a prompt is told, with the text; what was refused is not", async () => {
  await using agent = await ownedAgent("inkPrompt");
  const taken: unknown[] = [];
  using on = engines({ onTaken: ({ pane, text, process: by }) => taken.push([pane, text, by?.pid]) });
  const place = await drawn(agent, on, "inkPrompt");
  await expect(
    on.delivery.submit({ ...place, text: "not for it", addressee: { process: OTHER } }),
  ).rejects.toMatchObject({
    code: "WRONG_STATE",
  });
  expect((await on.delivery.submit({ ...place, text: "hello there" })).outcome).toBe("submitted");
  expect(taken).toEqual([[agent.pane, "hello there", expect.any(Number)]]);
});

/** A process that is not there. */
const OTHER = { pid: 1, start: "0", executable: undefined };

test("a connection lost in between leaves the outcome indeterminate", async () => {
  await using agent = await ownedAgent("neverDraws");
  using on = engines();
  const delivered = on.delivery.submit({ ...unknownTo(agent), text: "lost" });
  await agent.channel.next("paste");
  // Its clients alone: of a server that ends, the program may be gone before the connection.
  for (const client of agent.socket.tmux("list-clients", "-F", "#{client_name}").trim().split("\n")) {
    agent.socket.tmux("detach-client", "-t", client);
  }
  expect(await delivered).toMatchObject({ outcome: "indeterminate", enterPresses: 0 });
});
