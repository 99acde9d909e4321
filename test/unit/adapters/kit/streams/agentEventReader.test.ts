import { expect, test } from "vitest";
import { AgentEventReader } from "../../../../../adapters/kit/streams/agentEventReader.ts";
import type { AgentMessages } from "../../../../../adapters/agents/messages/agentMessages.ts";
import type { AgentChange, RunningAgent } from "../../../../../adapters/agents/running/runningAgent.ts";
import type { NativeAgentEvent } from "../../../../../protocol/api/native/nativeAgentEvents.ts";
import type { Message } from "../../../../../adapters/agents/messages/messageStore.ts";
import { stubServer } from "../../../../support/daemon/nativeServer.ts";

function scene() {
  const server = stubServer();
  const agents = new Map<string, RunningAgent>();
  const listeners = new Set<(change: AgentChange) => void>();
  const messages = { told: [] as Message[], changed: (): void => undefined, listeners: 0 };
  const events: NativeAgentEvent[] = [];
  const out = { room: 1 };
  const reader = new AgentEventReader({
    agents: {
      agents: () => [...agents.values()],
      subscribe: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    messages: {
      onChange: (listener) => {
        messages.changed = listener;
        messages.listeners += 1;
        return () => void (messages.listeners -= 1);
      },
      undelivered: () => new Map([["a1", messages.told]]),
    } satisfies Pick<AgentMessages, "onChange" | "undelivered">,
    out: {
      room: () => out.room,
      write: (frame) => events.push(JSON.parse(/^data: (.*)$/m.exec(String(frame))?.[1] ?? "") as NativeAgentEvent),
    },
  });
  const change = (id: string, name: string): void => {
    const agent = {
      id,
      name,
      kind: { name: "claude" },
      server,
      serverName: "main",
      pane: "%1",
      process: { pid: 1, start: "1" },
    } as unknown as RunningAgent;
    agents.set(id, agent);
    for (const listener of listeners) listener({ kind: "changed", agent });
  };
  return { reader, events, out, change, messages, listeners };
}

test("all agents come first, then each one that changes", () => {
  const at = scene();
  at.change("a1", "one");
  expect(at.events).toMatchObject([{ type: "agents", agents: [{ name: "one" }] }]);
  at.change("a1", "other");
  expect(at.events.slice(1)).toMatchObject([{ type: "agent", agent: { name: "other" } }]);
});

test("a slow reader gets the latest of each agent, once", () => {
  const at = scene();
  at.reader.pump();
  at.out.room = 0;
  for (let number = 0; number < 1_000; number += 1) at.change(`a${number % 3}`, `name ${number}`);
  expect(at.events).toHaveLength(1);
  at.out.room = 1;
  at.reader.pump();
  const names = at.events.slice(1).map((event) => (event.type === "agent" ? event.agent.name : event.type));
  expect(names).toEqual(["name 999", "name 997", "name 998"]);
});

test("messages that have changed come few of each agent, and cut", () => {
  const at = scene();
  at.reader.pump();
  const message = { id: "m", agent: "a1", agentName: "one", text: "x".repeat(5_000), when: "idle", outcome: "waiting" };
  at.messages.told = Array.from({ length: 50 }, () => message as Message);
  at.messages.changed();
  expect(at.events).toHaveLength(2);
  const [, told] = at.events;
  if (told?.type !== "messages") throw new Error("no messages");
  expect(told.messages.map(({ text }) => text.length)).toEqual(Array.from({ length: 10 }, () => 600));
});

test("a message that is cut has no half of a letter, which strict parsers refuse", () => {
  const at = scene();
  at.reader.pump();
  const text = `a${"\u{1f600}".repeat(1_000)}`;
  const message = { id: "m", agent: "a1", agentName: "one", text, when: "idle", outcome: "waiting" };
  at.messages.told = [message, { ...message, text: text.slice(1) }] as Message[];
  at.messages.changed();
  const [, told] = at.events;
  if (told?.type !== "messages") throw new Error("no messages");
  for (const { text: shown } of told.messages) expect(shown).toMatch(/^a?\u{1f600}+…$/u);
});

test("a reader that has gone is told nothing", () => {
  const at = scene();
  at.reader.pump();
  at.reader.close();
  expect([at.events.length, at.listeners.size, at.messages.listeners]).toEqual([1, 0, 0]);
});
