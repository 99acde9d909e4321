/** The dialogs of the agent programs of the tests: what chooses in them, and what is nothing to them. */
import { expect, test } from "vitest";
import { type AgentEntry, type AgentName, ownedAgent } from "../support/agents/agentPrograms.ts";
import { paste, press, screen, shows } from "../support/agents/agentsKeys.ts";
import { eventually } from "../support/clock/eventually.ts";
import { text } from "../support/tmux/panePrograms.ts";

const NUMBERED: readonly AgentName[] = ["dialog", "codexLike", "geminiLike"];

test.each(NUMBERED)("%s: a dialog takes digits, arrows and Escape; a paste is nothing to it", async (name) => {
  await using agent = await ownedAgent(name, { options: { busyMs: 0 } });
  const { server, pane, channel } = agent;
  const answered = async (from: number): Promise<AgentEntry> => channel.next("answer", from);
  await channel.tell("busy");

  let from = channel.log.length;
  await channel.tell("ask");
  await eventually(async () => /[❯›●] 1\. /.test(await screen(agent)));
  await server.input(pane, [paste("1\n2\ny\nYes\r")]);
  await channel.next("paste", from);
  await press(agent, "Down", "Up", "Up", "Down", "Enter");
  expect(await answered(from)).toMatchObject({ answers: [{ index: 1 }] });
  await channel.next("tool", from);

  from = channel.log.length;
  await channel.tell("ask");
  await press(agent, "Escape");
  expect(await answered(from)).toMatchObject({ rejected: true });
  expect(channel.count("tool", from)).toBe(0);

  from = channel.log.length;
  await channel.tell("busy");
  await channel.tell("ask");
  await press(agent, "1");
  expect(await answered(from)).toMatchObject({ answers: [{ index: 0 }] });
  await channel.next("tool", from);
});

test.each([...NUMBERED, "opencodeLike"] as const)(
  "%s: text and Enter run the tool, as in the real ones",
  async (name) => {
    await using agent = await ownedAgent(name);
    await agent.channel.tell("ask");
    await agent.server.input(agent.pane, [text("hello")]);
    await press(agent, "Enter");
    expect(await agent.channel.next("tool")).toMatchObject({ tool: "ran" });
  },
);

test("dialog: the third option opens free text, which a paste goes to", async () => {
  await using agent = await ownedAgent("dialog");
  const { server, pane, channel } = agent;
  await channel.tell("ask");
  await press(agent, "3");
  await server.input(pane, [paste("use rm\ninstead")]);
  await shows(agent, "use rm⏎instead");
  await press(agent, "Enter");
  expect(await channel.next("answer")).toMatchObject({ answers: [{ index: 2, text: "use rm\ninstead" }] });
  expect(channel.count("tool")).toBe(0);
});

test("dialog: a list without numbers with its Other, several choices, and both with a page to confirm", async () => {
  await using agent = await ownedAgent("dialog");
  const { channel } = agent;
  await channel.tell("ask", { kind: "select" });
  await shows(agent, "❯ React");
  await press(agent, "2", "Down", "Down", "Down", "Enter", "V", "u", "e", "Enter");
  expect(await channel.next("answer")).toMatchObject({ answers: [{ index: 3, text: "Vue" }] });

  let from = channel.log.length;
  await channel.tell("ask", { kind: "multi" });
  await shows(agent, "[ ] Login");
  await press(agent, " ", "Down", "Down", " ", "Enter", "Enter");
  expect(await channel.next("answer", from)).toMatchObject({ answers: [{ indices: [0, 2] }] });

  from = channel.log.length;
  await channel.tell("ask", { kind: "both", options: ["A", "B"], otherIndex: -1 });
  await press(agent, "Down", "Enter", "Down", " ", "Enter");
  await shows(agent, "Ready to submit your answers?");
  await press(agent, "Enter");
  expect(await channel.next("answer", from)).toMatchObject({ answers: [{ index: 1 }, { indices: [1] }] });
});

test("a question is kept back while somebody types, and opens once the box is empty", async () => {
  await using agent = await ownedAgent("dialog", { options: { busyMs: 0, holdAskMs: 60_000 } });
  const { server, pane, channel } = agent;
  await channel.tell("busy");
  await server.input(pane, [paste("for later")]);
  await shows(agent, "❯\u00a0for later");
  expect(await channel.tell("ask")).toMatchObject({ held: true });
  await shows(agent, "Waiting for permission");
  await press(agent, "Enter");
  await channel.next("dialog");
  expect(channel.log.map(({ event }) => event).filter((event) => /held|queued|dialog|key/.test(event))).toEqual([
    "held",
    "queued",
    "dialog",
  ]);
});
