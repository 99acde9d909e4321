/**
 * A delivery is for a process: when another one reads from the pane before the text or a key is typed, nothing is typed,
 * whatever profile was given and whatever the screen still shows. Every row's text is a command that would leave a file.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AddresseeRequest } from "../../daemon/delivery/pane/addressee.ts";
import type { ProcessMark } from "../../daemon/tmux/processes.ts";
import { type AgentProgram, agentUnderShell } from "../support/agents/agentPrograms.ts";
import { aroundInput } from "../support/agents/aroundInput.ts";
import { agentPid, drawn, engines, shellHasRun, shellReads, to, untilState } from "../support/agents/deliveryScene.ts";
import type { AppError } from "../../protocol/errors.ts";
import { eventually } from "../support/clock/eventually.ts";

const BASH = ["bash", "--norc", "-i"] as const;
const CHANGED = { code: "WRONG_STATE", details: expect.objectContaining({ reason: "program_changed" }) as object };

const ENDS: Readonly<Record<string, (agent: AgentProgram) => Promise<void>>> = {
  "killed with -9": async (agent) => {
    process.kill(await agentPid(agent), "SIGKILL");
    await shellReads(agent);
  },
  "stopped, then killed": async (agent) => {
    const pid = await agentPid(agent);
    process.kill(pid, "SIGSTOP");
    await shellReads(agent);
    process.kill(pid, "SIGKILL");
  },
  exits: async (agent) => {
    await agent.channel.tell("exit");
    await shellReads(agent);
  },
};

describe.each(Object.entries(ENDS))("an agent that is %s", (_how, end) => {
  test.each([
    ["before the text", "before", "paste"],
    ["between the text and Enter", "after", "paste"],
    ["while Enter is on its way", "before", "keys"],
  ] as const)("%s: its shell runs nothing", async (_moment, when, kind) => {
    await using agent = await agentUnderShell("inkPrompt", BASH);
    using on = engines();
    const { directory } = agent.socket;
    const canary = join(directory, "canary");
    let hasEnded = false;
    const server = aroundInput(agent.server, when, kind, async () => {
      if (hasEnded) return;
      hasEnded = true;
      await end(agent);
    });
    const target = await drawn(agent, on, "inkPrompt");
    using watched = on.readiness.watch(server, agent.pane, { profile: "claude" });
    expect(watched.current.profile).toBe("claude");
    const thrown: unknown = await on.delivery
      .submit({ ...target, server, text: `touch ${canary}` })
      .catch((error: unknown) => error);
    expect(thrown).toMatchObject(CHANGED);
    expect(hasEnded).toBe(true);
    const isTyped = (thrown as AppError).details?.["textWritten"] === true;
    expect(isTyped).toBe(kind === "keys" || when === "after");
    // What the program has not read, its shell shows; what was never typed is on nobody's line.
    if (!isTyped) expect(agent.socket.tmux("capture-pane", "-p", "-t", agent.pane)).not.toContain(canary);
    await shellHasRun(agent, join(directory, "done"));
    expect(existsSync(canary)).toBe(false);
  });

  test("while its question is open: no key reaches the shell", async () => {
    await using agent = await agentUnderShell("dialog", BASH);
    using on = engines();
    using watched = on.readiness.watch(agent.server, agent.pane, { profile: "claude" });
    await agent.channel.tell("ask", { kind: "select" });
    const { dialog } = await untilState(watched, "asking");
    const server = aroundInput(agent.server, "before", "keys", () => end(agent));
    const answer = { kind: "option", index: 1 } as const;
    await expect(on.delivery.choose({ ...to(agent, "dialog"), answer, dialogId: dialog!.id })).resolves.toMatchObject({
      outcome: "submitted",
    });
    await untilState(watched, "idle");
    await agent.channel.tell("ask", { kind: "select" });
    // A server of its own to the engine: what it sees there has other ids.
    using other = on.readiness.watch(server, agent.pane, { profile: "claude" });
    const next = await untilState(other, "asking");
    await expect(
      on.delivery.choose({ ...to(agent, "dialog"), server, answer, dialogId: next.dialog?.id }),
    ).rejects.toMatchObject(CHANGED);
    expect(agent.channel.count("answer")).toBe(1);
  });
});

describe.each(["paste", "keys"] as const)("of what is typed as %s", (kind) => {
  test("tmux itself checks the target process", async () => {
    await using agent = await agentUnderShell("inkPrompt", BASH);
    using on = engines();
    const conditions: unknown[] = [];
    const server = aroundInput(agent.server, "before", kind, async (options) => {
      conditions.push(options?.onlyIf);
    });
    const target = await drawn(agent, on, "inkPrompt");
    await on.delivery.submit({ ...target, server, text: "for you" });
    const { pid, command } = await agent.server.foreground(agent.pane);
    expect(conditions.length).toBeGreaterThan(0);
    for (const condition of conditions) expect(condition).toMatchObject({ pid, command });
  });

  // To tmux it is the same: a pane with the same shell, and a program of that name in front.
  test("the next program of the same name gets nothing", async () => {
    await using agent = await agentUnderShell("inkPrompt", BASH);
    using on = engines();
    const { command } = await agent.server.foreground(agent.pane);
    const { directory } = agent.socket;
    const [got, ready] = [join(directory, "got"), join(directory, "ready")];
    const next = `stty raw -echo; : > '${ready}'; exec -a ${command} cat > '${got}'`;
    let hasEnded = false;
    const server = aroundInput(agent.server, "before", kind, async () => {
      if (hasEnded) return;
      hasEnded = true;
      await ENDS["killed with -9"]!(agent);
      await agent.server.input(agent.pane, [{ kind: "text", bytes: Buffer.from(`(${next})\n`) }]);
      await eventually(() => existsSync(ready));
      await eventually(async () => (await agent.server.foreground(agent.pane)).command === command);
    });
    const target = await drawn(agent, on, "inkPrompt");
    await expect(on.delivery.submit({ ...target, server, text: "for you" })).rejects.toMatchObject(CHANGED);
    await agent.server.input(agent.pane, [{ kind: "text", bytes: Buffer.from("end") }]);
    await eventually(() => readFileSync(got, "latin1").endsWith("end"));
    expect(readFileSync(got, "latin1")).toBe("end");
  });
});

test.each(Object.entries(ENDS))("an answer is unconfirmed if its agent ends after it was typed, %s", async (_, end) => {
  await using agent = await agentUnderShell("dialog", BASH);
  using on = engines();
  using watched = on.readiness.watch(agent.server, agent.pane, { profile: "claude" });
  await agent.channel.tell("ask", { kind: "select" });
  const { dialog } = await untilState(watched, "asking");
  const server = aroundInput(agent.server, "after", "keys", () => end(agent));
  using other = on.readiness.watch(server, agent.pane, { profile: "claude" });
  await untilState(other, "asking");
  const answer = { kind: "option", index: 0 } as const;
  const result = await on.delivery.choose({ ...to(agent, "dialog"), server, answer, dialogId: dialog?.id });
  expect(result.outcome).toBe("echoed_unconfirmed");
});

test("a shell takes no agent's prompt, whatever profile is given", async () => {
  await using agent = await agentUnderShell("inkPrompt", BASH);
  using on = engines();
  await ENDS["killed with -9"]!(agent);
  const canary = join(agent.socket.directory, "canary");
  for (const profile of ["claude", "codex", "pi"]) {
    const request = { server: agent.server, pane: agent.pane, profile, text: `touch ${canary}` };
    await expect(on.delivery.submit(request)).rejects.toMatchObject(CHANGED);
  }
  await shellHasRun(agent, join(agent.socket.directory, "done"));
  expect(existsSync(canary)).toBe(false);
});

test.each<[string, (before: ProcessMark) => AddresseeRequest]>([
  ["an agent", () => ({ isAgent: true })],
  ["the process that asked", (before) => ({ process: before })],
])("steps for %s are not pressed in its shell", async (_whom, addressee) => {
  await using agent = await agentUnderShell("inkPrompt", BASH);
  using on = engines();
  const { directory } = agent.socket;
  const before = (await agent.server.foreground(agent.pane)).processes!.find(({ isShell }) => !isShell)!;
  process.kill(before.pid, "SIGKILL");
  await shellReads(agent);
  using watched = on.readiness.watch(agent.server, agent.pane);
  await eventually(() => watched.current.profile === "shell");
  const canary = join(directory, "canary");
  const steps = [
    { kind: "paste", text: `touch ${canary}` },
    { kind: "key", key: "Enter" },
  ] as const;
  const pressing = on.delivery.press({
    server: agent.server,
    pane: agent.pane,
    steps,
    gapMs: 0,
    addressee: addressee(before),
  });
  await expect(pressing).rejects.toMatchObject(CHANGED);
  await shellHasRun(agent, join(directory, "done"));
  expect(existsSync(canary)).toBe(false);
});
