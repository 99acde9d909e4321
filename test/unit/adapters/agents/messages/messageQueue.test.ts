/** What a queue believes of a message whose Enter was not confirmed, by what is told of its agent. */
import { expect, onTestFinished, test } from "vitest";
import type { Delivery } from "../../../../../daemon/delivery/delivery.ts";
import { MessageQueue } from "../../../../../adapters/agents/messages/messageQueue.ts";
import { type Message, MessageStore } from "../../../../../adapters/agents/messages/messageStore.ts";
import { AgentStore } from "../../../../../adapters/agents/running/agentStore.ts";
import { keptPrompt, type RunningAgent } from "../../../../../adapters/agents/running/runningAgent.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

test("a message that is longer than what is kept of a prompt is delivered once a hook tells of it", async () => {
  const nowUnixMs = (): number => 1_000_000;
  const agents = new AgentStore({ path: ":memory:", nowUnixMs, log: silentLog });
  onTestFinished(() => agents.close());
  const store = new MessageStore(agents.database, nowUnixMs);
  const text = "look at every file. ".repeat(300).trim();
  const agent = {
    id: "agent-1",
    name: "api",
    kind: { name: "agent" },
    process: { pid: 1, start: "1" },
    pane: "%1",
    readiness: { state: "idle", sinceUnixMs: 0 },
    task: undefined as RunningAgent["task"],
  };
  const submit: Delivery["submit"] = async ({ onStage }) => {
    onStage?.("typing");
    onStage?.("entering");
    agent.task = { text: keptPrompt(text), sinceUnixMs: nowUnixMs() };
    return { outcome: "echoed_unconfirmed" } as Awaited<ReturnType<Delivery["submit"]>>;
  };
  const look: Delivery["look"] = async () =>
    ({ shows: false, holds: false, typed: undefined, since: "", readiness: agent.readiness }) as unknown as Awaited<
      ReturnType<Delivery["look"]>
    >;
  const message = await new Promise<Message>((resolve, reject) => {
    const queue = new MessageQueue(agent.id, {
      agents: {
        known: () => agent as unknown as RunningAgent,
        note: () => {},
        probe: reject as never,
        taken: () => {},
      },
      delivery: { submit, look, clear: reject as never },
      transcripts: { turn: async () => undefined },
      store,
      clock: new FakeClock(),
      nowUnixMs,
      onChange: (changed) => {
        if (changed.outcome === "waiting") return;
        queue.close();
        resolve(changed);
      },
      onEnd: () => {},
      onError: reject,
    });
    const { id, name, process } = agent as unknown as RunningAgent;
    const times = { createdUnixMs: nowUnixMs(), expiresUnixMs: nowUnixMs() + 60_000 };
    const made = { id: "msg-1", agent: id, agentName: name, process, text, when: "idle" as const };
    queue.add(store.add({ ...made, key: undefined, request: "", ...times }));
  });
  expect([message.outcome, message.confirmedBy]).toEqual(["delivered", "hook"]);
});
