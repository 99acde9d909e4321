/** The agent programs of the tests do what real ones do (docs/agentFacts.md), so that tests with them mean something. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { ownedAgent } from "../support/agents/agentPrograms.ts";
import { PAUSE_MS, paste, press, shows } from "../support/agents/agentsKeys.ts";
import { text } from "../support/tmux/panePrograms.ts";

test.each(["inkPrompt", "codexLike", "geminiLike"] as const)(
  "%s: text and Enter in one read stay in the box",
  async (name) => {
    await using agent = await ownedAgent(name);
    await agent.server.input(agent.pane, [text("batched\r")]);
    await shows(agent, "batched");
    await delay(PAUSE_MS);
    await press(agent, "Enter");
    await agent.channel.next("submit");
    expect(agent.channel.submits()).toEqual(["batched\n"]);
  },
);

test("placeholder shows a word for seven lines and submits them; six it shows", async () => {
  await using agent = await ownedAgent("placeholder");
  const { server, pane, channel } = agent;
  const lines = (count: number): string => Array.from({ length: count }, (_unused, at) => `line ${at + 1}`).join("\n");
  await server.input(pane, [paste(lines(6))]);
  await shows(agent, "line 6");
  await press(agent, "Enter");
  await channel.next("submit");
  await server.input(pane, [paste(lines(7))]);
  await shows(agent, "[Pasted text #1 +6 lines]");
  await press(agent, "Enter");
  await eventually(() => channel.submits().length === 2);
  expect(channel.submits()).toEqual([lines(6), lines(7)]);
});

test("titles and OSC 7501 follow the state", async () => {
  await using agent = await ownedAgent("codexLike", { options: { busyMs: 0 } });
  const { server, pane, channel } = agent;
  const source = server.output(pane);
  await shows(agent, "Ask Codex");
  const from = source.outputSeq;
  await channel.tell("busy");
  await channel.tell("ask");
  await shows(agent, "Would you like to run");
  expect((await server.describePane(pane)).title).toContain("[ ! ] Action Required");
  await channel.tell("idle");
  await shows(agent, "Ask Codex");
  const slice = source.read(from);
  const states =
    slice.kind === "bytes"
      ? [
          ...Buffer.from(slice.bytes)
            .toString()
            .matchAll(/7501;state=([\w:=]+)/g),
        ]
      : [];
  expect(states.map(([, state]) => state)).toEqual(["working", "blocked:kind=permission", "done"]);
});

test.each(["dialog", "codexLike", "geminiLike", "opencodeLike"] as const)(
  "%s: text and Enter run the tool, as in the real ones",
  async (name) => {
    await using agent = await ownedAgent(name);
    await agent.channel.tell("ask");
    await agent.server.input(agent.pane, [text("hello")]);
    await press(agent, "Enter");
    expect(await agent.channel.next("tool")).toMatchObject({ tool: "ran" });
  },
);
