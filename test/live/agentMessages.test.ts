/** Messages to agents on real tmux, with fixture agents: each once, in order, to its own process, whatever happens meanwhile. */
import { expect, test } from "vitest";
import { endAgent } from "../../adapters/agents/messages/endAgent.ts";
import { stateOf } from "../../adapters/agents/running/agentState.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { agentIn, messagesScene, told } from "../support/agents/messagesScene.ts";
import { eventually } from "../support/clock/eventually.ts";

const WITHIN = { timeoutMs: 60_000, orAsking: false };

test.concurrent("messages to an agent are typed one turn after the other, each once, and have its words", async () => {
  await using scene = await messagesScene();
  using desk = scene.desk();
  const channel = await scene.start("work", "dialog", { busyMs: 0 });
  const agent = await agentIn(desk, scene.server, "work");
  const texts = ["first message", "second one\nof two lines", "third message"];
  const messages = texts.map((text) => desk.messages.tell(agent, told(text), undefined));
  for (const [at, message] of messages.entries()) {
    await channel.next(({ event, text }) => event === "submit" && text === texts[at]);
    await eventually(() => stateOf(agent).state === "busy");
    await channel.tell("say", { text: `answer ${at}` });
    await channel.tell("idle");
    const done = await desk.messages.settled(message, "done", agent, WITHIN);
    expect([done.outcome, done.reason]).toEqual(["delivered", undefined]);
    expect(done.lastWords).toContain(`answer ${at}`);
    expect(done.lastWords).not.toContain(`answer ${at - 1}`);
  }
  expect(channel.submits()).toEqual(texts);
  expect(channel.count("queued")).toBe(0);
  expect(agent.task?.text).toBe("third message");
  expect(desk.errors).toEqual([]);
});

test.concurrent("changes of messages that come together are told once", async () => {
  await using scene = await messagesScene();
  using desk = scene.desk();
  const channel = await scene.start("work", "dialog", { busyMs: 0 });
  const agent = await agentIn(desk, scene.server, "work");
  await channel.tell("busy");
  await eventually(() => stateOf(agent).state === "busy");
  let changes = 0;
  const heard = new Promise<void>((resolve) => {
    desk.messages.onChange(() => {
      changes += 1;
      resolve();
    });
  });
  for (const text of ["one", "two", "three"]) desk.messages.tell(agent, told(text), undefined);
  expect(changes).toBe(0);
  await heard;
  expect(changes).toBe(1);
  expect(
    desk.messages
      .undelivered(agent.id)
      .get(agent.id)
      ?.map(({ text }) => text),
  ).toEqual(["one", "two", "three"]);
});

test.concurrent("a message for an agent that ends goes to no successor", async () => {
  await using scene = await messagesScene();
  using desk = scene.desk();
  const first = await scene.start("work", "dialog", { busyMs: 0 });
  const agent = await agentIn(desk, scene.server, "work");
  await first.tell("busy");
  await eventually(() => stateOf(agent).state === "busy");
  const message = desk.messages.tell(agent, told("only for the first"), "once");
  await eventually(() => desk.messages.find(message.id).reason === "the agent is busy");
  const settled = desk.messages.settled(message, "done", agent, WITHIN);
  await first.tell("exit");
  await eventually(() => agent.endedUnixMs !== undefined);
  const second = await scene.start("work", "dialog", { busyMs: 0 });
  expect((await settled).outcome).toBe("agent_ended");
  const successor = await agentIn(desk, scene.server, "work");
  await eventually(() => stateOf(successor).state === "ready");
  expect([successor.name, successor.id === agent.id]).toEqual([agent.name, false]);
  // The same request again is the same message, whoever has the name.
  expect(desk.messages.tell(successor, told("only for the first"), "once").id).toBe(message.id);
  desk.agents.rename(successor, "another");
  const keyed = desk.messages.tell(successor, told("under a key"), "twice");
  desk.agents.rename(successor, "renamed");
  expect(desk.messages.tell(successor, told("under a key"), "twice").id).toBe(keyed.id);
  expect((await desk.messages.settled(keyed, "taken", successor, WITHIN)).outcome).toBe("delivered");
  await second.tell("idle");
  const own = desk.messages.tell(successor, told("for the second"), undefined);
  expect((await desk.messages.settled(own, "taken", successor, WITHIN)).outcome).toBe("delivered");
  expect(second.submits()).toEqual(["under a key", "for the second"]);
  expect(() => desk.messages.tell(agent, told("too late"), undefined)).toThrow(/has ended/);
});

test.concurrent("a message whose Enter the agent reads late is not typed again", async () => {
  await using scene = await messagesScene();
  using desk = scene.desk();
  // Longer than a delivery waits for a sign that it was taken.
  const channel = await scene.start("work", "dialog", { busyMs: 0, stallMs: 9_000 });
  const agent = await agentIn(desk, scene.server, "work");
  const message = desk.messages.tell(agent, told("only once"), undefined);
  expect((await desk.messages.settled(message, "taken", agent, WITHIN)).outcome).toBe("delivered");
  await channel.tell("idle");
  expect((await desk.messages.settled(message, "done", agent, WITHIN)).doneUnixMs).not.toBe(undefined);
  expect(channel.submits()).toEqual(["only once"]);
  expect(desk.errors).toEqual([]);
});

test.concurrent("a person who types comes first; what waits can be cancelled, expires, and is told why it waits", async () => {
  await using scene = await messagesScene();
  using desk = scene.desk();
  const channel = await scene.start("work", "dialog", { busyMs: 0 });
  const { server } = scene;
  const agent = await agentIn(desk, server, "work");
  await eventually(() => stateOf(agent).state === "ready");
  await server.input(agent.pane, [{ kind: "text", bytes: Buffer.from("a draft") }]);
  await eventually(async () => (await desk.delivery.look({ server, pane: agent.pane })).typed === "a draft");
  const held = desk.messages.tell(agent, told("after the draft"), undefined);
  const behind = desk.messages.tell(agent, told("never typed"), undefined);
  const brief = desk.messages.tell(agent, told("expires", { ttlSec: 1 }), undefined);
  const reason = (id: string) => desk.messages.find(id).reason;
  await eventually(() => reason(held.id) === "somebody's text stands in its box");
  const now = desk.messages.tell(agent, told("at once", { when: "now" }), undefined);
  expect((await desk.messages.settled(now, "taken", agent, WITHIN)).outcome).toBe("refused");
  expect(reason(now.id)).toMatch(/already holds text/);
  expect(desk.messages.cancel(behind.id).outcome).toBe("cancelled");
  await expect(
    endAgent({ ...desk, clock: systemClock }, agent, { force: false, timeoutMs: 5_000 }),
  ).rejects.toMatchObject({ code: "WRONG_STATE", details: { box: "a draft", state: "ready" } });
  expect((await desk.messages.settled(brief, "taken", agent, WITHIN)).outcome).toBe("expired");
  await server.input(agent.pane, [{ kind: "keys", keys: ["C-u"] }]);
  expect((await desk.messages.settled(held, "taken", agent, WITHIN)).outcome).toBe("delivered");
  expect(() => desk.messages.cancel(held.id)).toThrow(/is delivered/);
  expect(channel.submits()).toEqual(["after the draft"]);
  // While it works, and while it asks.
  const later = desk.messages.tell(agent, told("after the question"), undefined);
  await eventually(() => reason(later.id) === "the turn of the message before it is not over");
  await channel.tell("ask");
  expect(await desk.messages.reached(agent, { for: ["asking"], stalledSec: 1, timeoutMs: 20_000 })).toBe("asking");
  expect(await desk.messages.settled(held, "done", agent, { timeoutMs: 5_000, orAsking: true })).toMatchObject({
    doneUnixMs: undefined,
  });
  await channel.tell("idle");
  expect((await desk.messages.settled(later, "taken", agent, WITHIN)).outcome).toBe("delivered");
  expect(channel.submits()).toEqual(["after the draft", "after the question"]);
  expect(desk.errors).toEqual([]);
});

test.concurrent("an agent that is busy and silent is stalled, also where the connection to tmux was lost meanwhile", async () => {
  await using scene = await messagesScene();
  using desk = scene.desk();
  const channel = await scene.start("work", "dialog", { busyMs: 0 });
  const { server, socket } = scene;
  const agent = await agentIn(desk, server, "work");
  await channel.tell("busy");
  await eventually(() => stateOf(agent).state === "busy");
  void channel.tell("stall", { ms: 25_000 });
  const stalled = desk.messages.reached(agent, { for: ["stalled"], stalledSec: 3, timeoutMs: 25_000 });
  await eventually(() => desk.waits.metrics().wait_active === 1);
  const { epoch } = server.status();
  socket.tmux("detach-client", "-t", socket.tmux("list-clients", "-F", "#{client_name}").trim());
  await eventually(() => server.status().state === "ready" && server.status().epoch !== epoch);
  expect(await stalled).toBe("stalled");
  expect(desk.errors).toEqual([]);
});

test.concurrent("an agent that is busy and silent is stalled; it is ended only by force, and its shell stays", async () => {
  await using scene = await messagesScene();
  using desk = scene.desk();
  const channel = await scene.start("work", "dialog", { busyMs: 0 });
  const { server } = scene;
  const agent = await agentIn(desk, server, "work");
  const message = desk.messages.tell(agent, told("work on it"), undefined);
  await desk.messages.settled(message, "taken", agent, WITHIN);
  const parts = { ...desk, clock: systemClock };
  await expect(endAgent(parts, agent, { force: false, timeoutMs: 1_000 })).rejects.toMatchObject({
    code: "WRONG_STATE",
    details: { lost: ["its turn"] },
  });
  await channel.tell("deaf");
  expect((await endAgent(parts, agent, { force: true, timeoutMs: 500 })).endedBy).toMatch(/^SIG/);
  expect(server.findPane(agent.pane)?.exit).toBe(undefined);
  expect(await desk.messages.reached(agent, { for: ["ended"], stalledSec: 1, timeoutMs: 1_000 })).toBe("ended");
  expect((await desk.messages.settled(message, "done", agent, WITHIN)).doneUnixMs).not.toBe(undefined);
});
