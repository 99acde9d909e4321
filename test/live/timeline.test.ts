/** The timeline of agents on real tmux, with fixture agents: everything once, by whom, over restarts of the daemon. */
import { expect, test } from "vitest";
import { addresseeOf } from "../../adapters/agents/messages/messageQueue.ts";
import { stateOf } from "../../adapters/agents/running/agentState.ts";
import type { RunningAgent } from "../../adapters/agents/running/runningAgent.ts";
import { Timeline } from "../../adapters/agents/timeline/timeline.ts";
import type { DialogAnswer } from "../../daemon/delivery/delivery.ts";
import { createLog } from "../../daemon/ops/log.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { agentIn, messagesScene, told } from "../support/agents/messagesScene.ts";
import { eventually } from "../support/clock/eventually.ts";

const WITHIN = { timeoutMs: 60_000, orAsking: false };

interface Told {
  readonly timeline: Timeline;
}

/** The oldest first: kind, by whom, text, outcome. */
async function entries({ timeline }: Told, agent: RunningAgent) {
  const found = await timeline.find({ agent: agent.id, limit: 100 });
  return found.entries.toReversed().map(({ kind, by, text, outcome }) => [kind, by, text, outcome]);
}

const until = (desk: Told, agent: RunningAgent, kind: string, times = 1) =>
  eventually(async () => (await entries(desk, agent)).filter(([name]) => name === kind).length >= times);

test.concurrent("prompts, questions and answers are told once, by whom, whether hooks, screens or deliveries tell of them", async () => {
  await using scene = await messagesScene();
  using desk = scene.desk();
  const channel = await scene.start("work", "dialog", { busyMs: 0 });
  const agent = await agentIn(desk, scene.server, "work");
  const { server, pane } = agent;
  const choose = (answer: DialogAnswer, by: string) =>
    desk.delivery.choose({ server, pane, answer, addressee: addresseeOf(agent), by });
  await eventually(() => stateOf(agent).state === "ready");
  // A message, of which its hook tells, too.
  const message = desk.messages.tell(agent, told("delete the old files"), undefined);
  expect((await desk.messages.settled(message, "taken", agent, WITHIN)).outcome).toBe("delivered");
  desk.agents.reported(server, pane, { prompt: "delete the old files" });
  // Answered by each way, and in the pane.
  const answers = [
    { answer: { kind: "option", index: 0 }, by: "dashboard", text: "Yes" },
    { answer: { kind: "option", index: 1 }, by: "notification", text: "Yes, and don't ask again" },
    { answer: { kind: "other", text: "only those from May" }, by: "api", text: "only those from May" },
    { answer: undefined, by: "pane", text: undefined },
  ] as const;
  for (const [at, { answer, by }] of answers.entries()) {
    await channel.tell("ask");
    await until(desk, agent, "question", at + 1);
    if (answer === undefined) await server.input(pane, [{ kind: "keys", keys: ["1"] }]);
    else await choose(answer, by);
    await until(desk, agent, "answer", at + 1);
    // Free text is told of as a prompt by some programs' hooks.
    if (by === "api") desk.agents.reported(server, pane, { prompt: "only those from May" });
  }
  // Several questions in one dialog, by one delivery.
  await channel.tell("ask", { kind: "both" });
  await until(desk, agent, "question", answers.length + 1);
  await choose({ kind: "multi", answers: [[1], [0, 2]] }, "mcp");
  await until(desk, agent, "answer", answers.length + 1);
  await channel.tell("idle");
  desk.agents.reported(server, pane, { lastMessage: "They are gone." });
  await until(desk, agent, "done");
  // A person's own prompt.
  desk.agents.reported(server, pane, { prompt: "and now the tests" });
  await channel.tell("busy");
  await eventually(() => stateOf(agent).state === "busy");
  desk.agents.rename(agent, "cleaner", "dashboard");
  await desk.delivery.interrupt(server, pane, addresseeOf(agent), "dashboard");
  await until(desk, agent, "done", 2);
  await channel.tell("exit");
  await until(desk, agent, "ended");
  const all = await entries(desk, agent);
  expect(all.slice(0, 2)).toEqual([
    ["started", undefined, "Claude Code", undefined],
    ["prompt", "message", "delete the old files", "taken"],
  ]);
  const asked = all.filter(([kind]) => kind === "question");
  const answered = all.filter(([kind]) => kind === "answer").map(([, by, text]) => [by, text]);
  expect(answered).toEqual([...answers.map(({ by, text }) => [by, text]), ["mcp", "Preact; option 1, option 3"]]);
  expect(asked).toHaveLength(answered.length);
  expect(asked[0]![2]).toContain("Do you want to proceed?");
  expect(all.filter(([kind]) => kind !== "question" && kind !== "answer").slice(2)).toEqual([
    ["done", undefined, "They are gone.", undefined],
    ["prompt", "pane", "and now the tests", "taken"],
    ["renamed", "dashboard", agent.kind.name, undefined],
    ["done", "dashboard", undefined, "interrupted"],
    ["ended", undefined, undefined, undefined],
  ]);
  // By either name, also now that it has ended.
  const byName = await desk.timeline.find({ agent: "cleaner", limit: 100 });
  expect(byName.entries.map(({ kind }) => kind)).toEqual(["ended", "done", "renamed"]);
  const searched = await desk.timeline.find({ limit: 100, query: "FROM MAY" });
  expect(searched.entries.map(({ kind }) => kind)).toEqual(["answer"]);
  expect(() => desk.timeline.find({ agent: "nobody", limit: 1 })).toThrow(/there is no agent/);
  expect(desk.errors).toEqual([]);
});

test.concurrent("a prompt that is longer than what is kept of it is told once, by whom, when its hook tells of it, too", async () => {
  await using scene = await messagesScene();
  using desk = scene.desk();
  await scene.start("work", "dialog", { busyMs: 0 });
  const agent = await agentIn(desk, scene.server, "work");
  const { server, pane } = agent;
  const text = "look at every file. ".repeat(300).trim();
  const end = desk.timeline.typing({
    server,
    pane,
    by: "api",
    what: { kind: "prompt", text },
    idempotencyKey: undefined,
  });
  end("submitted");
  desk.agents.reported(server, pane, { prompt: text });
  const prompts = (await entries(desk, agent)).filter(([kind]) => kind === "prompt");
  expect(prompts.map(([, by, , outcome]) => [by, outcome])).toEqual([["api", "taken"]]);
});

test.concurrent("a daemon that is restarted loses nothing and tells nothing twice", async () => {
  await using scene = await messagesScene();
  const channel = await scene.start("work", "dialog", { busyMs: 0 });
  const first = scene.desk();
  const agent = await agentIn(first, scene.server, "work");
  await eventually(() => stateOf(agent).state === "ready");
  const message = first.messages.tell(agent, told("over a restart"), undefined);
  await first.messages.settled(message, "taken", agent, WITHIN);
  await channel.tell("ask");
  await until(first, agent, "question");
  first[Symbol.dispose]();
  // The question is still open; then it is answered while no daemon runs.
  using second = scene.desk();
  const again = await agentIn(second, scene.server, "work");
  await eventually(() => stateOf(again).state === "asking");
  await eventually(() => again.readiness?.dialog !== undefined);
  expect((await entries(second, again)).map(([kind]) => kind)).toEqual(["started", "prompt", "question"]);
  second[Symbol.dispose]();
  await scene.server.input(agent.pane, [{ kind: "keys", keys: ["1"] }]);
  await channel.next("answer");
  using third = scene.desk();
  const then = await agentIn(third, scene.server, "work");
  await until(third, then, "answer");
  third[Symbol.dispose]();
  // Its turn ends while no daemon runs, and then it ends.
  await channel.tell("idle");
  using fourth = scene.desk();
  const last = await agentIn(fourth, scene.server, "work");
  await until(fourth, last, "done");
  fourth[Symbol.dispose]();
  await channel.tell("exit");
  await eventually(() => scene.server.processes.statNow(agent.process.pid) === undefined);
  using fifth = scene.desk();
  await eventually(async () => (await fifth.timeline.find({ limit: 9, kind: "ended" })).entries.length > 0);
  const all = await fifth.timeline.find({ agent: agent.id, limit: 100 });
  expect(all.entries.toReversed().map(({ kind, by, outcome }) => [kind, by, outcome])).toEqual([
    ["started", undefined, undefined],
    ["prompt", "message", "taken"],
    ["question", undefined, undefined],
    ["answer", "pane", undefined],
    ["done", undefined, undefined],
    ["ended", undefined, "unseen"],
  ]);
  // 30 days later there is nothing left of it.
  const nowUnixMs = () => Date.now() + 30 * 86_400_000 + 60_000;
  const later = new Timeline({
    agents: fifth.agents,
    clock: systemClock,
    nowUnixMs,
    log: createLog({ level: "warn", write: (line) => expect(line).toBe(undefined), nowUnixMs }),
  });
  expect((await later.find({ limit: 9 })).entries).toEqual([]);
  later.close();
  for (const desk of [first, second, third, fourth, fifth]) expect(desk.errors).toEqual([]);
});
