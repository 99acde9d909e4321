/** Programs that take what they are given late, in two steps or not at all, on real tmux (docs/agentFacts.md). */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AppError } from "../../protocol/errors.ts";
import { shellWord } from "../../protocol/text/shellWord.ts";
import { AgentChannel, agentUnderShell, guestAgent, ownedAgent } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { paneOf } from "../support/tmux/guestFixture.ts";
import { HOSTS } from "../support/tmux/hosts.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { agentPid, drawn, engines, shellHasRun, shellReads, to, untilState } from "../support/agents/deliveryScene.ts";

test.concurrent("pi whose extensions start for 1.5 s gets every prompt once, and none is told that did not arrive", async () => {
  for (let n = 1; n <= 3; n += 1) {
    await using agent = await ownedAgent("piLike", { options: { startMs: 1_500 } });
    using on = engines();
    const text = `cold start ${n}`;
    const result = await on.delivery.submit({ ...(await drawn(agent, on, "piLike")), text });
    expect(result.outcome).toBe("submitted");
    await agent.channel.next("submit");
    expect(agent.channel.submits()).toEqual([text]);
  }
});

test.concurrent.each([
  ["still has its title", ""],
  ["has the shell's title again", `PROMPT_COMMAND='printf "\\033]0;shell\\007"'`],
])("pi that is started again in a pane that %s gets every prompt once", async (_, setUp) => {
  const start = { options: { startMs: 1_500 }, setUp: () => setUp };
  await using agent = await agentUnderShell("piLike", ["bash", "--norc", "-i"], start);
  using on = engines();
  await on.delivery.submit({ ...(await drawn(agent, on, "piLike")), text: "first" });
  await agent.channel.next("submit");
  const from = agent.channel.log.length;
  await agent.channel.tell("exit");
  await eventually(async () => (await agent.server.foreground(agent.pane)).processes?.[0]?.isShell === true);
  await agent.server.input(agent.pane, [{ kind: "keys", keys: ["Up", "Enter"] }]);
  await agent.channel.next("ready", from);
  const result = await on.delivery.submit({ ...(await drawn(agent, on, "piLike")), text: "second" });
  expect(result.outcome).toBe("submitted");
  await agent.channel.next("submit", from);
  expect(agent.channel.submits()).toEqual(["first", "second"]);
});

test.concurrent("one that starts for longer than is waited for gets it again, once, when it says that it has started", async () => {
  await using agent = await ownedAgent("piLike", { options: { startMs: 9_000 } });
  using on = engines();
  const request = { ...(await drawn(agent, on, "piLike")), text: "very cold", timeoutMs: 30_000 };
  const result = await on.delivery.submit(request);
  const dropped = agent.channel.log.filter(({ event }) => event === "dropped").map(({ text }) => text);
  expect(dropped).toEqual(["very cold"]);
  expect(result).toMatchObject({ outcome: "submitted", enterPresses: 2 });
  await agent.channel.next("submit");
  expect(agent.channel.submits()).toEqual(["very cold"]);
});

test.concurrent("one that has started and says its title again gets nothing twice, whatever it shows and however late", async () => {
  // A turn that is over at once and a history that does not show the end of the text: nothing confirms the prompt.
  await using agent = await ownedAgent("piLike", { options: { busyMs: 1, stillMs: 900 } });
  using on = engines();
  const text = `#1\n${Array.from({ length: 6 }, (_, at) => `row ${at} of the prompt`).join("\n")}`;
  const result = await on.delivery.submit({ ...(await drawn(agent, on, "piLike")), text });
  expect(result).toMatchObject({ enterPresses: 1 });
  expect(agent.channel.submits()).toEqual([text]);
});

test.concurrent("one that draws its box before it takes pastes is waited for", async () => {
  await using agent = await ownedAgent("geminiLike", { options: { bracketsAfterMs: 1_500 } });
  using on = engines();
  const result = await on.delivery.submit({ ...(await drawn(agent, on, "geminiLike")), text: "early\nbird" });
  expect(result.outcome).toBe("submitted");
  expect(agent.channel.submits()).toEqual(["early\nbird"]);
});

test.concurrent.each([
  ["has ended", "exit"],
  ["was killed, and still takes pastes as far as the pane knows", "kill"],
])(
  "one that starts where its predecessor %s, whose title says that it is ready, gets the prompt once it has drawn its box",
  async (_, how) => {
    const options = { drawAfterMs: 1_500 };
    // It turns no pastes in brackets off, and gives itself the terminal back as it was.
    const shell = ["bash", "--norc", "--noediting", "-i"];
    await using agent = await agentUnderShell("geminiLike", shell, { options });
    const { channel, server, pane, socket } = agent;
    using on = engines();
    await on.delivery.submit({ ...(await drawn(agent, on, "geminiLike")), text: "first" });
    await channel.next("submit");
    await drawn(agent, on, "geminiLike");
    if (how === "exit") await channel.tell("exit");
    else process.kill(await agentPid(agent), "SIGKILL");
    await shellReads(agent);
    await shellHasRun(agent, join(socket.directory, "shell"), "clear;");
    const line = `${channel.argv("geminiLike", options).map(shellWord).join(" ")}\n`;
    await server.input(pane, [{ kind: "text", bytes: Buffer.from(line) }]);
    await eventually(async () => (await server.foreground(pane)).processes?.[0]?.isShell === false);
    const request = { server, pane, profile: "gemini", text: "second", timeoutMs: 30_000 };
    expect((await on.delivery.submit(request)).outcome).toBe("submitted");
    expect(channel.submits()).toEqual(["first", "second"]);
  },
);

test.concurrent("one that starts under the box that its predecessor has left, cursor and all, gets the prompt in its own", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  await using channel = await AgentChannel.open(socket.directory);
  const line = channel.argv("geminiLike", { drawAfterMs: 1_500 }).map(shellWord).join(" ");
  await server.createSession({ name: "agent", command: ["sh", "-c", `exec 2>/dev/null; while :; do ${line}; done`] });
  const pane = paneOf(server, "agent");
  using on = engines();
  const request = { server, pane, profile: "gemini", timeoutMs: 30_000 };
  const inFront = async (): Promise<number> =>
    (await server.foreground(pane)).processes?.find(({ isShell }) => !isShell)?.pid ?? 0;
  // Until the shell has started it, a prompt is refused.
  await eventually(async () => (await inFront()) !== 0);
  expect((await on.delivery.submit({ ...request, text: "first" })).outcome).toBe("submitted");
  await channel.next("submit");
  using watched = on.readiness.watch(server, pane, { profile: "gemini" });
  await untilState(watched, "idle");
  const killed = await inFront();
  process.kill(killed, "SIGKILL");
  await eventually(async () => ![0, killed].includes(await inFront()));
  // It may still count as ended in that moment; then nothing is typed.
  const again = async (): Promise<string> =>
    on.delivery.submit({ ...request, text: "second" }).then(
      ({ outcome }) => outcome,
      ({ details }: AppError) => (details?.["state"] === "dead" ? again() : "refused"),
    );
  expect(await again()).toBe("submitted");
  expect(channel.submits()).toEqual(["first", "second"]);
});

/** The program as it starts: it has drawn nothing yet. */
async function undrawn(drawAfterMs: number) {
  const fixture = await ownedFixture();
  const { server, socket } = fixture;
  const channel = await AgentChannel.open(socket.directory);
  await server.createSession({ name: "agent", command: channel.argv("inkPrompt", { drawAfterMs }) });
  return {
    channel,
    request: { server, pane: paneOf(server, "agent"), profile: "claude" },
    [Symbol.asyncDispose]: async () => {
      await fixture[Symbol.asyncDispose]();
      await channel[Symbol.asyncDispose]();
    },
  };
}

test.concurrent("one that draws its box only after seconds gets the prompt then", async () => {
  await using agent = await undrawn(4_500);
  using on = engines();
  const result = await on.delivery.submit({ ...agent.request, text: "very early", timeoutMs: 60_000 });
  expect(result.outcome).toBe("submitted");
  await agent.channel.next("submit");
  expect(agent.channel.submits()).toEqual(["very early"]);
});

test.concurrent("one that does not draw its box in time is refused, with what waits for it", async () => {
  await using agent = await undrawn(600_000);
  using on = engines();
  const startedMs = performance.now();
  await expect(on.delivery.submit({ ...agent.request, text: "too early", timeoutMs: 2_000 })).rejects.toMatchObject({
    code: "WRONG_STATE",
    message: expect.stringMatching(/`tmuxwire wait %\d+ --ready`/) as string,
  });
  expect(performance.now() - startedMs).toBeGreaterThan(1_900);
});

test.concurrent("one that shows its first prompt and loses it is not taken at its word; one that works on it is", async () => {
  await using losing = await ownedAgent("opencodeLike", { options: { loses: 1 } });
  using on = engines();
  const target = await drawn(losing, on, "opencodeLike");
  expect(await on.delivery.submit({ ...target, text: "lost" })).toMatchObject({ outcome: "echoed_unconfirmed" });
  expect(losing.channel.log.filter(({ event }) => event === "lost").map(({ text }) => text)).toEqual(["lost"]);
  expect(await on.delivery.submit({ ...target, text: "worked on" })).toMatchObject({ outcome: "submitted" });
  expect(losing.channel.submits()).toEqual(["worked on"]);
});

test.concurrent("one that loses a prompt long after its start is not taken at its word either", async () => {
  // Of what does not tell its age nobody knows that it is new.
  await using losing = await guestAgent("opencodeLike", {
    host: HOSTS["one that knows nothing"]!(),
    options: { loses: 1 },
  });
  using on = engines();
  const target = await drawn(losing, on, "opencodeLike");
  expect(await on.delivery.submit({ ...target, text: "lost" })).toMatchObject({ outcome: "echoed_unconfirmed" });
  expect(losing.channel.log.filter(({ event }) => event === "lost").map(({ text }) => text)).toEqual(["lost"]);
  expect(await on.delivery.submit({ ...target, text: "worked on" })).toMatchObject({ outcome: "submitted" });
});

describe("interrupt", () => {
  test.concurrent("a program that wants it twice is asked twice: the turn has ended when it answers", async () => {
    await using agent = await ownedAgent("opencodeLike", { options: { busyMs: 0 } });
    using on = engines();
    using watched = on.readiness.watch(agent.server, agent.pane, { profile: "opencode" });
    await on.delivery.submit({ ...(await drawn(agent, on, "opencodeLike")), text: "stop me" });
    await untilState(watched, "busy");
    await on.delivery.interrupt(agent.server, agent.pane);
    // Its own word may come after its screen.
    await agent.channel.next("interrupted");
    expect(watched.current.state).not.toBe("busy");
  });
});

describe("what is asked", () => {
  test.concurrent.each([
    ["geminiLike", /^\? Shell {2}touch \/tmp\/approved\n+touch \/tmp\/approved\n+Allow execution of \[Shell\]\?$/],
    ["opencodeLike", /^△ Permission required\n[^]*\$ touch \/tmp\/approved$/],
    ["codexLike", /^Would you like to run the following command\?\n[^]*\$ touch \/tmp\/approved\n[^]*$/],
  ] as const)("%s: the command is in it, and nothing that went by", async (name, wanted) => {
    await using agent = await ownedAgent(name, { options: { busyMs: 0 } });
    using on = engines();
    const target = to(agent, name);
    using watched = on.readiness.watch(agent.server, agent.pane, { profile: target.profile });
    await agent.channel.tell("say", { text: "output that went by\n$ rm -rf /" });
    await agent.channel.tell("ask", { kind: "permission" });
    const { dialog } = await untilState(watched, "asking");
    expect(dialog?.text).toMatch(wanted);
    expect(dialog?.text).not.toContain("went by");
  });
});
