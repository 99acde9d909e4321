/** Every agent profile against a program that behaves like it: states, dialogs, and never idle while it asks. */
import { expect, test } from "vitest";
import type { Readiness } from "../../daemon/readiness/readiness.ts";
import {
  AGENT_PROFILES,
  AgentChannel,
  type AgentName,
  guestAgent,
  ownedAgent,
} from "../support/agents/agentPrograms.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { text } from "../support/tmux/panePrograms.ts";
import { watchPane } from "../support/agents/readinessWatch.ts";

const is = (state: string) => (readiness: Readiness) => readiness.state === state;
const PROGRAMS = ["dialog", "codexLike", "geminiLike", "opencodeLike", "piLike"] as const satisfies AgentName[];
const HAS_DIALOGS = new Set<AgentName>(["dialog", "codexLike", "geminiLike", "opencodeLike"]);

test.each(PROGRAMS)("%s: each state is reported as the program changes", async (program) => {
  await using agent = await ownedAgent(program, { options: { busyMs: 0 } });
  using watched = watchPane(agent.server, agent.pane);
  await watched.until(({ state, profile }) => state === "idle" && profile === AGENT_PROFILES[program]);
  const lateMs: number[] = [];
  const change = async (command: "busy" | "idle" | "ask", state: string): Promise<Readiness> => {
    const from = watched.seen.length;
    const heard = agent.channel.log.length;
    await agent.channel.tell(command);
    const said = await agent.channel.next((entry) => entry.event === "state" && entry.state === state, heard);
    const told = await watched.until(is(state), from);
    lateMs.push(told.atUnixMs - said.atUnixMs);
    return told.readiness;
  };
  for (let round = 0; round < 3; round += 1) {
    await change("busy", "busy");
    await change("idle", "idle");
    if (!HAS_DIALOGS.has(program)) continue;
    await change("busy", "busy");
    const from = watched.seen.length;
    await change("ask", "asking");
    await watched.until(({ dialog }) => dialog !== undefined && dialog.options.length === 3, from);
    await change("idle", "idle");
  }
  console.log(program, "ms from the change to the news:", lateMs.map((ms) => Math.round(ms)).join(" "));
  expect(Math.max(...lateMs)).toBeLessThan(1_000);
});

test("on the user's own server, while a person types, the same is told, and nothing is left behind", async () => {
  await using agent = await guestAgent("dialog", { options: { busyMs: 0 } });
  {
    using watched = watchPane(agent.server, agent.pane);
    await watched.until(is("idle"));
    agent.person.type("half a thought");
    let from = watched.seen.length;
    await agent.channel.tell("busy");
    await watched.until(is("busy"), from);
    from = watched.seen.length;
    await agent.channel.tell("ask");
    const { readiness } = await watched.until(({ dialog }) => dialog !== undefined, from);
    expect(readiness.dialog?.options.map(({ keys }) => keys)).toEqual([["1"], ["2"], ["3"]]);
    // The person answers: no.
    from = watched.seen.length;
    agent.person.type("\u001b");
    await watched.until(is("idle"), from);
    expect(agent.channel.count("tool")).toBe(0);
  }
  expect(agent.socket.tmux("show-options", "-p", "-t", agent.pane)).toBe("");
});

test("an agent that a shell starts and that ends: shell, agent, shell", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  await using channel = await AgentChannel.open(socket.directory);
  const session = await server.createSession({ name: "shell", command: ["bash", "--norc", "--noprofile"] });
  const pane = session.activePane!;
  using watched = watchPane(server, pane);
  await watched.until(({ state, profile }) => state === "idle" && profile === "shell");
  const line = channel.argv("dialog", { busyMs: 0 }).map((word) => `'${word}'`);
  let from = watched.seen.length;
  await server.input(pane, [text(`${line.join(" ")}\r`)]);
  await channel.next("ready");
  await watched.until(({ state, profile }) => state === "idle" && profile === "claude", from);
  from = watched.seen.length;
  await channel.tell("exit", { status: 0 });
  await watched.until(({ state, profile }) => state === "idle" && profile === "shell", from);
  expect(watched.pane.current.source).toBe("bracketedPaste");
});

test("an agent whose profile was given is dead when its pane is back at the shell", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  await using channel = await AgentChannel.open(socket.directory);
  const session = await server.createSession({ name: "shell", command: ["bash", "--norc", "--noprofile"] });
  const pane = session.activePane!;
  const line = channel.argv("piLike", { busyMs: 0 }).map((word) => `'${word}'`);
  await server.input(pane, [text(`${line.join(" ")}\r`)]);
  await channel.next("ready");
  using watched = watchPane(server, pane, { profile: "pi" });
  await watched.until(is("idle"));
  const from = watched.seen.length;
  await channel.tell("exit", { status: 0 });
  const { readiness } = await watched.until(is("dead"), from);
  expect(readiness).toMatchObject({ source: "screen", profile: "pi" });
});
