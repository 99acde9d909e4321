/** Dialogs on real tmux: each answered by the keys it takes, one that was not meant never, by accident none. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DialogAnswer } from "../../daemon/delivery/delivery.ts";
import { type AgentName, type AgentProgram, ownedAgent } from "../support/agents/agentPrograms.ts";
import { type Engines, engines, to, untilState } from "../support/agents/deliveryScene.ts";

/** Opens a dialog; once the daemon knows of it. */
async function open(agent: AgentProgram, on: Engines, kind: string, name: AgentName = "dialog") {
  const watched = on.readiness.watch(agent.server, agent.pane, { profile: to(agent, name).profile });
  const before = watched.current.dialog?.id;
  await agent.channel.tell("ask", { kind });
  await untilState(watched, "asking");
  const isAnother = (): boolean => (watched.current.dialog?.id ?? before) !== before;
  await new Promise<void>((resolve) => {
    const probe = (): void => {
      if (!isAnother()) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = watched.subscribe(probe);
    probe();
  });
  return { dialogId: watched.current.dialog?.id ?? "", [Symbol.dispose]: () => watched[Symbol.dispose]() };
}

describe("an option is chosen", () => {
  const rows: readonly [string, DialogAnswer, object][] = [
    ["permission", { kind: "option", index: 0 }, { answers: [{ index: 0 }] }],
    ["permission", { kind: "option", index: 1 }, { answers: [{ index: 1 }] }],
    ["select", { kind: "option", index: 0 }, { answers: [{ index: 0 }] }],
    ["select", { kind: "option", index: 2 }, { answers: [{ index: 2 }] }],
    ["permission", { kind: "other", text: "use ls; -y 1" }, { answers: [{ index: 2, text: "use ls; -y 1" }] }],
    ["select", { kind: "other", text: "Lit\nor none" }, { answers: [{ index: 3, text: "Lit\nor none" }] }],
    ["multi", { kind: "multi", answers: [[0, 2]] }, { answers: [{ indices: [0, 2] }] }],
    ["multi", { kind: "multi", answers: [[3]] }, { answers: [{ indices: [3] }] }],
    ["both", { kind: "multi", answers: [[1], [1, 2]] }, { answers: [{ index: 1 }, { indices: [1, 2] }] }],
  ];
  let dialogs: AgentProgram;
  beforeAll(async () => {
    dialogs = await ownedAgent("dialog");
  });
  afterAll(() => dialogs[Symbol.asyncDispose]());

  test.each(rows)("%s %j", async (kind, answer, expected) => {
    const agent = dialogs;
    using on = engines();
    const from = agent.channel.log.length;
    using dialog = await open(agent, on, kind);
    const result = await on.delivery.choose({ ...to(agent, "dialog"), answer, dialogId: dialog.dialogId });
    expect(result).toMatchObject({ outcome: "submitted" });
    expect(await agent.channel.next("answer", from)).toMatchObject(expected);
    expect(agent.channel.count("answer", from)).toBe(1);
    expect(on.errors).toEqual([]);
  });

  test.each(["codexLike", "geminiLike", "opencodeLike"] as const)("%s", async (name) => {
    await using agent = await ownedAgent(name);
    using on = engines();
    for (const index of [1, 0]) {
      const from = agent.channel.log.length;
      using dialog = await open(agent, on, "permission", name);
      const { dialogId } = dialog;
      const result = await on.delivery.choose({ ...to(agent, name), answer: { kind: "option", index }, dialogId });
      expect(result.outcome).toBe("submitted");
      expect(await agent.channel.next("answer", from)).toMatchObject({ answers: [{ index }] });
    }
  });
});

test("an option whose number only moves the mark is chosen all the same", async () => {
  await using agent = await ownedAgent("codexLike");
  using on = engines();
  using dialog = await open(agent, on, "hooks", "codexLike");
  const answer: DialogAnswer = { kind: "option", index: 1 };
  const result = await on.delivery.choose({ ...to(agent, "codexLike"), answer, dialogId: dialog.dialogId });
  expect(result.outcome).toBe("submitted");
  expect(await agent.channel.next("answer")).toMatchObject({ answers: [{ index: 1 }] });
});

describe("nothing is pressed", () => {
  test("for an option there is not, another dialog, or none", async () => {
    await using agent = await ownedAgent("dialog");
    using on = engines();
    const choose = (answer: DialogAnswer, dialogId?: string) =>
      on.delivery.choose({ ...to(agent, "dialog"), answer, dialogId });
    const wrong = (state: string) => ({ code: "WRONG_STATE", details: { state } });
    using watched = on.readiness.watch(agent.server, agent.pane, { profile: "claude" });
    await untilState(watched, "idle");
    await expect(choose({ kind: "option", index: 0 })).rejects.toMatchObject(wrong("idle"));
    using first = await open(agent, on, "permission");
    await expect(choose({ kind: "option", index: 7 })).rejects.toMatchObject(wrong("asking"));
    await expect(choose({ kind: "multi", answers: [[0, 1]] })).rejects.toMatchObject(wrong("asking"));
    using second = await open(agent, on, "select");
    expect(second.dialogId).not.toBe(first.dialogId);
    await expect(choose({ kind: "option", index: 0 }, first.dialogId)).rejects.toMatchObject(wrong("asking"));
    expect(agent.channel.count("read")).toBe(0);
  });

  test("of a prompt, while a dialog is open", async () => {
    await using agent = await ownedAgent("dialog");
    using on = engines();
    using dialog = await open(agent, on, "permission");
    expect(dialog.dialogId).not.toBe("");
    await expect(on.delivery.submit({ ...to(agent, "dialog"), text: "1" })).rejects.toMatchObject({
      code: "WRONG_STATE",
      details: { state: "asking", options: 3 },
    });
    await expect(on.delivery.clear(agent.server, agent.pane)).rejects.toMatchObject({ code: "WRONG_STATE" });
    expect(agent.channel.count("read")).toBe(0);
  });

  test("but the paste, when a dialog opens before Enter", async () => {
    await using agent = await ownedAgent("dialog");
    using on = engines();
    // Time enough for a busy machine to open it.
    const delivered = on.delivery.submit({ ...to(agent, "dialog"), text: "1 y\n2", gapMs: 2_000 });
    delivered.catch(() => undefined);
    await agent.channel.next("paste");
    await agent.channel.tell("ask");
    await expect(delivered).rejects.toMatchObject({
      code: "WRONG_STATE",
      details: { state: "asking", options: 3, textWritten: true },
    });
    expect(agent.channel.count("key")).toBe(0);
    expect(agent.channel.count("tool")).toBe(0);
  });

  test("twice: a dialog that is answered is not answered again", async () => {
    await using agent = await ownedAgent("dialog");
    using on = engines();
    using dialog = await open(agent, on, "permission");
    const request = {
      ...to(agent, "dialog"),
      answer: { kind: "option", index: 0 },
      dialogId: dialog.dialogId,
    } as const;
    const [first, second] = await Promise.allSettled([on.delivery.choose(request), on.delivery.choose(request)]);
    expect(first).toMatchObject({ status: "fulfilled", value: { outcome: "submitted" } });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "WRONG_STATE" } });
    expect(agent.channel.count("tool")).toBe(1);
  });
});
