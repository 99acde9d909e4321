/** Every agent profile against a program that behaves like it: states, dialogs, and never idle while it asks. */
import { expect, test } from "vitest";
import type { Readiness } from "../../daemon/readiness/readiness.ts";
import { AgentChannel, guestAgent } from "../support/agents/agentPrograms.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { text } from "../support/tmux/panePrograms.ts";
import { watchPane } from "../support/agents/readinessWatch.ts";

const is = (state: string) => (readiness: Readiness) => readiness.state === state;

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

/** Claude's question as its only output, under some name: the screen is never another one in between. */
const asking = (name: string): string =>
  `printf '\\033]2;✳ Claude Code\\007%s\\r\\n' '${"─".repeat(60)}' ' Bash command' '' '   ls' '' ' Do you want to proceed?' ` +
  `' ❯ 1. Yes' '   2. No, and tell Claude what to do differently (esc)'; exec -a ${name} sleep 1000`;

test.each(["claude", "node", "anything"])(
  "as %s: what takes the place of an agent that asks, and asks the same, asks anew",
  async (name) => {
    await using fixture = await ownedFixture();
    const { server, socket } = fixture;
    const session = await server.createSession({
      name: "asks",
      command: ["bash", "-c", asking(name)],
      cols: 80,
      rows: 24,
    });
    const pane = session.activePane!;
    using watched = watchPane(server, pane);
    const { readiness: first } = await watched.until(({ dialog }) => dialog !== undefined);
    const from = watched.seen.length;
    socket.tmux("respawn-pane", "-k", "-t", pane, "bash", "-c", asking(name));
    const { readiness: second } = await watched.until(
      ({ dialog }) => dialog !== undefined && dialog.id !== first.dialog!.id,
      from,
    );
    expect(second.dialog).toEqual({ ...first.dialog, id: second.dialog!.id });
    await watched.pane.probe();
    expect(watched.pane.current.dialog?.id).toBe(second.dialog!.id);
  },
);

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
