/** The agent programs of the tests do what real ones do (docs/agentFacts.md), so that tests with them mean something. */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { AGENT_NAMES, AgentChannel, guestAgent, ownedAgent } from "../support/agents/agentPrograms.ts";
import { PAUSE_MS, paste, press, screen, shows } from "../support/agents/agentsKeys.ts";
import { shellProgram } from "../support/agents/agentShell.ts";
import { paneOf } from "../support/tmux/guestFixture.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { keys, text } from "../support/tmux/panePrograms.ts";
import { report } from "../support/daemon/loadReport.ts";

const DRAWING = AGENT_NAMES.filter((name) => name !== "neverDraws" && name !== "swallowEnter");

test.each(DRAWING)("%s takes what is typed and pasted, exactly and once, and works on it", async (name) => {
  await using agent = await ownedAgent(name, { options: { busyMs: 0 } });
  const { server, pane, channel } = agent;
  await server.input(pane, [text("typed ")]);
  await shows(agent, "typed");
  await server.input(pane, [paste("pasted; $(x) 漢🙂\n  - second line")]);
  await channel.next("paste");
  await eventually(async () => /second line|\[Pasted/.test(await screen(agent)));
  expect(channel.submits()).toEqual([]);
  await delay(PAUSE_MS);
  await press(agent, "Enter");
  await channel.next((entry) => entry.state === "busy");
  expect(channel.submits()).toEqual(["typed pasted; $(x) 漢🙂\n  - second line"]);
  const from = channel.log.length;
  await channel.tell("idle");
  expect(channel.log.slice(from).map(({ state }) => state)).toContain("idle");
});

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

test("Ink: Enter in one read with the text is lost, in a read of its own it is not", async () => {
  await using agent = await ownedAgent("inkPrompt", { options: { busyMs: 1 } });
  const { server, pane, channel } = agent;
  const submitted: Record<string, number> = {};
  for (const kind of ["in one read", "after it"] as const) {
    submitted[kind] = 0;
    for (let at = 0; at < 30; at += 1) {
      const from = channel.log.length;
      const prompt = `prompt ${kind} ${at}`;
      await server.input(pane, [text(kind === "in one read" ? `${prompt}\r` : prompt)]);
      if (kind === "after it") {
        await channel.next((entry) => entry.event === "read" && entry.text?.includes(prompt) === true, from);
        await server.input(pane, [keys("Enter")]);
      }
      await channel.next((entry) => entry.event === "read" && entry.text?.includes("\r") === true, from);
      // Whatever the Enter did is done when the next key has been read; this one shows, and empties the box.
      await press(agent, "~");
      await shows(agent, "~");
      if (channel.submits(from)[0] === prompt) submitted[kind] += 1;
      await eventually(async () => {
        await press(agent, "C-u", "BSpace");
        return /^❯\s*$/m.test(await screen(agent));
      });
    }
  }
  report("fixtures.ink", { tries: 30, submitted });
  expect(submitted).toEqual({ "in one read": 0, "after it": 30 });
});

test("swallowEnter loses the first Enter of each prompt and keeps the text", async () => {
  await using agent = await ownedAgent("swallowEnter", { options: { busyMs: 1 } });
  for (const prompt of ["one", "two"]) {
    const from = agent.channel.log.length;
    await agent.server.input(agent.pane, [paste(prompt)]);
    await shows(agent, `❯\u00a0${prompt}`);
    await press(agent, "Enter");
    await agent.channel.next("swallowedEnter", from);
    await press(agent, "Enter");
    await agent.channel.next("submit", from);
    expect(agent.channel.submits(from)).toEqual([prompt]);
    await agent.channel.next((entry) => entry.state === "idle", from);
  }
});

test("neverDraws reads and shows nothing", async () => {
  await using agent = await ownedAgent("neverDraws");
  await agent.server.input(agent.pane, [paste("hello"), keys("Enter")]);
  expect(await agent.channel.next("paste")).toMatchObject({ text: "hello" });
  expect((await screen(agent)).trim()).toBe("");
});

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

test("queues keeps prompts while it works, shows them, and takes them in order", async () => {
  await using agent = await ownedAgent("queues", { options: { busyMs: 0 } });
  const { channel } = agent;
  await channel.tell("busy");
  for (const prompt of ["x", "y"]) await press(agent, prompt, "Enter");
  await shows(agent, "y (queued)");
  expect(channel.submits()).toEqual([]);
  await channel.tell("idle");
  await channel.tell("idle");
  expect(channel.submits()).toEqual(["x", "y"]);
});

test("Escape at work puts the prompt back into the box, and says nothing", async () => {
  await using agent = await ownedAgent("inkPrompt", { options: { busyMs: 0 } });
  await agent.server.input(agent.pane, [paste("stop me")]);
  await shows(agent, "❯\u00a0stop me");
  await press(agent, "Enter");
  await agent.channel.next((entry) => entry.state === "busy");
  await press(agent, "Escape");
  await agent.channel.next("interrupted");
  const after = agent.channel.log.findIndex(({ event }) => event === "interrupted");
  expect(await agent.channel.next("state", after)).toMatchObject({ state: "idle" });
  await shows(agent, "❯\u00a0stop me");
});

test("piLike takes ! for a shell command; what is typed before it draws loses its Enter", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  await using channel = await AgentChannel.open(socket.directory);
  await server.createSession({ name: "agent", command: channel.argv("piLike", { drawAfterMs: 500 }) });
  const agent = { server, socket, channel, pane: paneOf(server, "agent") };
  await server.input(agent.pane, [text("early"), keys("Enter")]);
  const isEarly = channel.log.length === 0;
  await channel.next("ready");
  if (isEarly) {
    await shows(agent, "early");
    expect(channel.submits()).toEqual([]);
  }
  expect(isEarly).toBe(true);
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

test("a program told to exit announces it and exits with its status", async () => {
  await using agent = await guestAgent("geminiLike");
  agent.socket.tmux("set-option", "-g", "remain-on-exit", "on");
  expect(await agent.channel.tell("exit", { status: 7 })).toMatchObject({ event: "exit", status: 7 });
  await eventually(
    () => agent.socket.tmux("display-message", "-p", "-t", agent.pane, "#{pane_dead_status}").trim() === "7",
  );
});

test("a person can type into it as well", async () => {
  await using agent = await guestAgent("inkPrompt");
  agent.person.type("by hand");
  await shows(agent, "❯\u00a0by hand");
  agent.person.type("\r");
  await agent.channel.next("submit");
  expect(agent.channel.submits()).toEqual(["by hand"]);
  const written = readFileSync(agent.channel.logFile, "utf8").split("\n").slice(0, agent.channel.log.length);
  expect(written.map((line) => JSON.parse(line) as unknown)).toEqual(agent.channel.log);
});

test("bash with marks reports when it runs a command and when it waits", async () => {
  await using shell = await shellProgram("marks");
  const { server, pane } = shell;
  const source = server.output(pane);
  const from = source.outputSeq;
  await server.input(pane, [text("hold\r")]);
  await shell.next("busy");
  shell.release(3);
  expect(await shell.next("idle")).toMatchObject({ status: 3 });
  await eventually(() => {
    const slice = source.read(from);
    return (
      slice.kind === "bytes" && /133;C[\s\S]*133;D;3[\s\S]*133;A[\s\S]*133;B/.test(Buffer.from(slice.bytes).toString())
    );
  });
});
