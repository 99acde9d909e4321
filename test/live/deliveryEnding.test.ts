/**
 * Agents that are told to end, and stay in front of their shell for a while without reading: no key is typed any more, and
 * what their screen shows by then is no sign that anything was taken.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AppError } from "../../protocol/errors.ts";
import { procfs } from "../../daemon/host/procfs.ts";
import { type Clock, systemClock } from "../../daemon/time/clock.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { type AgentProgram, agentUnderShell, ownedAgent } from "../support/agents/agentPrograms.ts";
import { aroundInput } from "../support/agents/aroundInput.ts";
import { agentPid, drawn, engines, untilState } from "../support/agents/deliveryScene.ts";
import { eventually } from "../support/clock/eventually.ts";

const CHANGED = { code: "WRONG_STATE", details: expect.objectContaining({ reason: "program_changed" }) as object };

/** Below a bash that writes a line for each of its prompts: an Enter that it got is one prompt more. */
const underBash = (options: Readonly<Record<string, string | number>>): Promise<AgentProgram> =>
  agentUnderShell("dialog", ["bash", "--norc", "-i"], {
    options,
    setUp: (directory) => `PROMPT_COMMAND='echo >>${join(directory, "prompts")}'`,
  });

/** How many prompts its shell has shown when it comes to what is typed now: all that was typed before has been read. */
async function promptsOfShell({ server, pane, socket }: AgentProgram): Promise<number> {
  const [prompts, count] = ["prompts", "count"].map((name) => join(socket.directory, name)) as [string, string];
  await eventually(async () => (await server.foreground(pane)).processes?.[0]?.isShell === true);
  await server.input(pane, [
    { kind: "text", bytes: Buffer.from(`wc -l <${prompts} >${count}.new; mv ${count}.new ${count}\n`) },
  ]);
  await eventually(() => existsSync(count));
  return Number(readFileSync(count, "utf8"));
}

const hasArrived = (server: TmuxServer, pane: PaneId, from: number, text: string): Promise<void> =>
  eventually(() => {
    const slice = server.output(pane).read(from);
    return slice.kind === "bytes" && Buffer.from(slice.bytes).includes(text);
  });

test.each(["handler", "terminal"])("by its %s: Enter is not pressed when its end has begun", async (endsBy) => {
  await using agent = await underBash({ endsBy, lingerMs: 600 });
  using on = engines();
  let isReported = false;
  const server = aroundInput(agent.server, "before", "keys", async () => {
    if (isReported) return;
    isReported = true;
    const from = agent.server.output(agent.pane).outputSeq;
    process.kill(await agentPid(agent), "SIGTERM");
    await agent.channel.next("ending");
    if (endsBy === "terminal") await hasArrived(agent.server, agent.pane, from, "\u001b[?2004l");
  });
  const target = await drawn(agent, on, "dialog");
  await expect(on.delivery.submit({ ...target, server, text: "go" })).rejects.toMatchObject(CHANGED);
  // Before the agent, and after it.
  expect(await promptsOfShell(agent)).toBe(2);
});

/** It has the signal, and does not come to its handler for so long. */
async function toldWhileStalled(agent: AgentProgram): Promise<void> {
  const pid = await agentPid(agent);
  void agent.channel.tell("stall", { ms: 300 });
  await eventually(async () => (await procfs().stat(pid))?.state === "R");
  process.kill(pid, "SIGTERM");
}

/** On a busy machine it gets none for longer than a delivery waits: that has five times as long. */
const PATIENT: Clock = {
  nowMs: () => systemClock.nowMs() / 5,
  callAt: (atMs, run) => systemClock.callAt(atMs * 5, run),
};

test.each([
  ["the text", "paste"],
  ["Enter", "keys"],
] as const)("%s waits for an agent that was told to end but gets no CPU time", async (_what, kind) => {
  await using agent = await underBash({ endsBy: "handler", lingerMs: 600 });
  using on = engines({ clock: PATIENT });
  let isReported = false;
  const server = aroundInput(agent.server, "before", kind, async () => {
    if (isReported) return;
    isReported = true;
    await toldWhileStalled(agent);
  });
  const target = await drawn(agent, on, "dialog");
  const told: unknown = await on.delivery.submit({ ...target, server, text: "go" }).catch((error: unknown) => error);
  expect(told).toMatchObject(CHANGED);
  expect((told as AppError).details?.["textWritten"] === true).toBe(kind === "keys");
  expect(await promptsOfShell(agent)).toBe(2);
});

test("a prompt is indeterminate if its agent was told to end and gets no CPU time", async () => {
  await using agent = await underBash({ endsBy: "handler", lingerMs: 600, busyMs: 0 });
  using on = engines();
  const server = aroundInput(agent.server, "after", "keys", async () => {
    await agent.channel.next("submit");
    await toldWhileStalled(agent);
  });
  const target = await drawn(agent, on, "dialog");
  const result = await on.delivery.submit({ ...target, server, text: "go" });
  expect(result).toMatchObject({ outcome: "echoed_unconfirmed", enterPresses: 1 });
});

test("a turn that a person stops as it begins: its prompt, in the box again, is neither taken nor entered again", async () => {
  await using agent = await underBash({ busyMs: 0 });
  using on = engines();
  const server = aroundInput(agent.server, "after", "keys", async () => {
    await agent.channel.next("submit");
    await agent.server.input(agent.pane, [{ kind: "keys", keys: ["C-c"] }]);
    await agent.channel.next("interrupted");
  });
  const target = await drawn(agent, on, "dialog");
  const result = await on.delivery.submit({ ...target, server, text: "go" });
  expect(result).toMatchObject({ outcome: "echoed_unconfirmed", enterPresses: 1 });
  expect(agent.channel.submits()).toEqual(["go"]);
});

test("a turn that a person stops while its start is being confirmed was not taken, if the program says so", async () => {
  await using agent = await ownedAgent("codexLike", { options: { busyMs: 0 } });
  using on = engines();
  let captures = 0;
  const server = aroundInput(agent.server, "after", "keys", async () => {
    await agent.channel.next("submit");
    await hasArrived(agent.server, agent.pane, 0, "esc to interrupt");
    captures = 0;
  });
  const capture = server.capture.bind(server);
  server.capture = async (...args) => {
    captures += 1;
    // The first one shows that it works.
    if (captures === 2 && agent.channel.submits().length > 0) {
      await agent.server.input(agent.pane, [{ kind: "keys", keys: ["C-c"] }]);
      await hasArrived(agent.server, agent.pane, 0, "Conversation interrupted");
    }
    return capture(...args);
  };
  const target = await drawn(agent, on, "codexLike");
  const result = await on.delivery.submit({ ...target, server, text: "go" });
  expect(result).toMatchObject({
    outcome: "echoed_unconfirmed",
    details: { screenNote: expect.stringContaining("Conversation interrupted") as string },
  });
});

test.each(["handler", "terminal"])("by its %s: a question that goes with it was not answered", async (endsBy) => {
  await using agent = await underBash({ endsBy });
  using on = engines();
  using watched = on.readiness.watch(agent.server, agent.pane, { profile: "claude" });
  await agent.channel.tell("ask", { kind: "select" });
  const { dialog } = await untilState(watched, "asking");
  await agent.channel.tell("deaf");
  const server = aroundInput(agent.server, "after", "keys", async () => {
    process.kill(await agentPid(agent), "SIGTERM");
  });
  using other = on.readiness.watch(server, agent.pane, { profile: "claude" });
  await untilState(other, "asking");
  const answer = { kind: "option", index: 0 } as const;
  const result = await on.delivery.choose({ server, pane: agent.pane, answer, dialogId: dialog?.id });
  expect(result.outcome).toBe("echoed_unconfirmed");
  expect(agent.channel.count("answer")).toBe(0);
});

test.each(["before", "after"] as const)(
  "an agent that only puts a handler away %s Enter goes on, and gets its prompt",
  async (when) => {
    await using agent = await underBash({ endsBy: "handler" });
    using on = engines();
    let isDone = false;
    const server = aroundInput(agent.server, when, "keys", async () => {
      if (!isDone) await agent.channel.tell("unhandle");
      isDone = true;
    });
    const target = await drawn(agent, on, "dialog");
    const result = await on.delivery.submit({ ...target, server, text: "go on" });
    expect(result).toMatchObject({ outcome: "submitted", enterPresses: 1 });
    await agent.channel.next("submit");
    expect(agent.channel.submits()).toEqual(["go on"]);
  },
);
