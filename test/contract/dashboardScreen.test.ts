/** What an agent's screen says, beside its hooks: dialogs, work and rest, with and without hooks. */
import { describe, expect, test } from "vitest";
import type { Dialog } from "../../daemon/readiness/readiness.ts";
import { UUID } from "../support/daemon/dashboardFixture.ts";
import { eachHasScene, scene } from "../support/daemon/dashboardScene.ts";
import { FakeClock } from "../support/clock/fakeClock.ts";

/** Moved by hand where the test says so; requests have the real one. */
const clock = new FakeClock();
eachHasScene({ clock });

const dialog = (id: string, labels: readonly string[] = ["Yes", "No"]): Dialog => ({
  id,
  multi: false,
  text: `Question ${id}?`,
  options: labels.map((label, index) => ({ index, number: String(index + 1), label, keys: [String(index + 1)] })),
});

const hook = (name: string, body: object = {}) => scene.dashboard.hook(name, { session_id: "s1", ...body });

describe("a dialog on the screen", () => {
  test("gives the hook's question its options, once, and keeps its words", async () => {
    const agentId = await scene.working();
    await hook("permission-request", { tool_name: "Bash", tool_input: { command: "ls" } });
    const events = await scene.dashboard.events();
    scene.shows("asking", dialog("d1"));
    const card = await events.next("card_refresh");
    expect(card.data).toMatchObject({
      state: "AWAITING_INPUT",
      reason: "question_options",
      question: { text: "Bash: ls", kind: "select", dialog_id: "d1", options: [{ label: "Yes" }, { label: "No" }] },
    });
    const turn = await events.next("turn_created");
    expect(turn.data["tool_input"]).toMatchObject({
      questions: [{ question: "Bash: ls", options: [{ label: "Yes" }, { label: "No" }] }],
      source: "permission_pane_capture",
      status: "pending",
    });
    expect(turn.data["turn_id"]).toBe((card.data["question"] as Record<string, unknown>)["turn_id"]);
    scene.shows("asking", dialog("d1"));
    await hook("stop");
    expect(await scene.card(agentId)).toMatchObject({ state: "AWAITING_INPUT", question: { dialog_id: "d1" } });
    expect(events.names()).toEqual(["card_refresh", "turn_created", "card_refresh"]);
  });

  test("a dialog shown before its hook is the same question", async () => {
    const agentId = await scene.working();
    scene.shows("busy");
    await hook("permission-request", { tool_name: "Bash", tool_input: { command: "ls" } });
    scene.shows("asking", dialog("d1"));
    await hook("permission-request", { tool_name: "Edit", tool_input: { file_path: "/a" } });
    clock.advanceMs(0);
    expect(await scene.card(agentId)).toMatchObject({ question: { text: "Edit: /a", dialog_id: "d1" } });
  });

  test("a dialog without a hook is a question too", async () => {
    const agentId = await scene.register();
    scene.shows("asking", dialog("d1"));
    expect(await scene.card(agentId)).toMatchObject({
      state: "AWAITING_INPUT",
      reason: "list",
      question: { text: "Question d1?", kind: "select", other_index: null },
    });
    scene.shows("asking", dialog("d2", ["A", "B", "C"]));
    expect(await scene.card(agentId)).toMatchObject({ question: { text: "Question d2?", dialog_id: "d2" } });
    scene.shows("busy");
    expect(await scene.card(agentId)).toMatchObject({ state: "PROCESSING", question: null });
  });

  test("a dialog whose selection has moved is answered with other keys", async () => {
    const agentId = await scene.register();
    scene.shows("asking", dialog("d1"));
    const moved = dialog("d1");
    const options = moved.options.map((option) => ({ ...option, keys: ["Down", "Enter"] }));
    scene.shows("asking", { ...moved, options });
    expect(await scene.card(agentId)).toMatchObject({ question: { options: [{ keys: ["Down", "Enter"] }, {}] } });
    const { json } = await scene.dashboard.call("GET", `/api/agents/${agentId}/turns`);
    expect(json["turns"]).toHaveLength(1);
  });

  test("a dialog answered in the terminal makes the agent working or idle again", async () => {
    const agentId = await scene.register();
    scene.shows("asking", dialog("d1"));
    scene.shows("idle");
    // Between two dialogs a program may look idle.
    expect(await scene.card(agentId)).toMatchObject({ state: "AWAITING_INPUT" });
    clock.advanceMs(1_500);
    expect(await scene.card(agentId)).toMatchObject({ state: "COMPLETE", question: null });
  });
});

describe("what a permission would let happen", () => {
  const offered = async (agentId: number) => (await scene.card(agentId))?.["question_options"];

  test.each<[string, object, string, object | undefined]>([
    [
      "Bash",
      { command: "ls -la", description: "List files" },
      "safe_read",
      { command: "ls -la", description: "List files" },
    ],
    ["Bash", { command: "rm -rf build" }, "destructive", { command: "rm -rf build" }],
    ["shell", { command: ["bash", "-lc", "make"] }, "unknown", { command: "bash -lc make" }],
    ["Edit", { file_path: "/a" }, "safe_write", undefined],
    ["Read", { file_path: "/a" }, "safe_read", undefined],
    ["mcp__x__y", {}, "unknown", undefined],
  ])("%s %j: %s", async (tool_name, tool_input, safety, context) => {
    const agentId = await scene.working();
    await hook("permission-request", { tool_name, tool_input });
    expect(await offered(agentId)).toBe(null);
    scene.shows("asking", dialog("d1"));
    expect(await offered(agentId)).toEqual({
      questions: [expect.objectContaining({ options: [expect.anything(), expect.anything()] })],
      source: "permission_pane_capture",
      safety,
      ...(context === undefined ? {} : { command_context: context }),
      status: "pending",
    });
  });

  test("an edit is told by its lines, also after a restart; a patch by its files, not as a command", async () => {
    const restart = await scene.onDisk();
    const agentId = await scene.working();
    const tool_input = { file_path: "/a", old_string: "x", new_string: "y" };
    await hook("permission-request", { tool_name: "Edit", tool_input });
    scene.shows("asking", dialog("d1"));
    const diff = { files: [{ path: "/a", whole: false, lines: ["-x", "+y"], more: 0 }], more: 0 };
    expect(await offered(agentId)).toMatchObject({ safety: "safe_write", diff });
    await restart();
    scene.shows("asking", dialog("d1", ["Yes", "Always", "No"]));
    expect(await offered(agentId)).toMatchObject({ questions: [{ options: [{}, {}, {}] }], diff });
    scene.shows("busy");
    const command = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** Delete File: b.txt\n*** End Patch";
    await hook("permission-request", { tool_name: "apply_patch", tool_input: { command } });
    scene.shows("asking", dialog("d2"));
    const fields = (await offered(agentId)) as Record<string, unknown>;
    expect(fields["diff"]).toMatchObject({ files: [{ path: "a.txt", lines: ["+hello"] }, { path: "b.txt" }] });
    expect(fields).not.toHaveProperty("command_context");
    expect(fields["questions"]).toMatchObject([{ question: "apply_patch: a.txt, b.txt" }]);
  });

  test.each<[string, string, object]>([
    [
      "Codex",
      "Would you like to run the following command?\n\nReason: it is old\n\n$ rm -rf a\n  b",
      {
        safety: "destructive",
        command_context: { command: "rm -rf a\n  b", description: "it is old" },
      },
    ],
    [
      "opencode",
      "Permission required\n# Shell command\n\n$ ls -la",
      { safety: "unknown", command_context: { command: "ls -la" } },
    ],
    [
      "Claude",
      "Bash command\n\nTip: auto mode\nCreate an empty file\ntouch /tmp/x\n\nDo you want to proceed?",
      { safety: "unknown", command_context: { command: "touch /tmp/x", description: "Create an empty file" } },
    ],
    ["another", "Do you trust this folder?", {}],
  ])("without a hook, as the dialog of %s shows it, none is safe", async (_name, text, fields) => {
    const agentId = await scene.register();
    scene.shows("asking", { ...dialog("d1"), text });
    const { questions, source, status, ...more } = (await offered(agentId)) as Record<string, unknown>;
    expect([questions, source, status]).toMatchObject([
      [{ question: text.trim() }],
      "permission_pane_capture",
      "pending",
    ]);
    expect(more).toEqual(fields);
  });

  test("is known after a restart, and nothing is said of a plan", async () => {
    const restart = await scene.onDisk();
    const agentId = await scene.working();
    await hook("permission-request", { tool_name: "Bash", tool_input: { command: "rm x" } });
    scene.shows("asking", dialog("d1"));
    await restart();
    scene.shows("asking", dialog("d1", ["Yes", "Always", "No"]));
    const risk = { safety: "destructive", command_context: { command: "rm x" } };
    expect(await offered(agentId)).toMatchObject({ ...risk, questions: [{ options: [{}, {}, {}] }] });
    await hook("pre-tool-use", { tool_name: "ExitPlanMode", tool_input: { plan: "$ rm x" } });
    scene.shows("asking", { ...dialog("d2"), text: "$ rm x" });
    expect(await offered(agentId)).not.toHaveProperty("safety");
  });
});

describe("work and rest of an agent with hooks", () => {
  test("Escape, which no hook reports, ends the turn once the agent is idle", async () => {
    const agentId = await scene.working();
    scene.shows("busy");
    scene.shows("idle");
    clock.advanceMs(1_499);
    expect(await scene.card(agentId)).toMatchObject({ state: "PROCESSING" });
    clock.advanceMs(1);
    expect(await scene.card(agentId)).toMatchObject({ state: "COMPLETE" });
  });

  test("a repaint ends nothing", async () => {
    const agentId = await scene.working();
    scene.shows("idle");
    clock.advanceMs(1_000);
    scene.shows("busy");
    clock.advanceMs(5_000);
    expect(await scene.card(agentId)).toMatchObject({ state: "PROCESSING" });
    // Nor does rest that began before the prompt.
    scene.shows("idle");
    await hook("stop");
    await scene.prompt("next");
    clock.advanceMs(5_000);
    expect(await scene.card(agentId)).toMatchObject({ state: "PROCESSING" });
  });

  test("a question in the prompt box stays open while the agent is idle", async () => {
    const agentId = await scene.asking();
    scene.shows("idle");
    clock.advanceMs(60_000);
    expect(await scene.card(agentId)).toMatchObject({ state: "AWAITING_INPUT" });
    scene.shows("busy");
    clock.advanceMs(1_500);
    expect(await scene.card(agentId)).toMatchObject({ state: "PROCESSING" });
  });

  test("a question stays open after work that a hook reported before it", async () => {
    const agentId = await scene.working();
    scene.shows("busy", undefined, "generic", "hook");
    await hook("notification", { message: "Which tables should I keep?" });
    // The program has been recognised meanwhile; that it works is still what the hook said.
    scene.shows("busy", undefined, "claude", "hook");
    clock.advanceMs(60_000);
    expect(await scene.card(agentId)).toMatchObject({ state: "AWAITING_INPUT" });
  });

  test("a program without a profile reports nothing", async () => {
    const agentId = await scene.working();
    scene.shows("idle", undefined, "shell");
    clock.advanceMs(60_000);
    expect(await scene.card(agentId)).toMatchObject({ state: "PROCESSING" });
  });
});

test("an agent without hooks is tracked by its screen alone", async () => {
  const body = { session_uuid: UUID, project_path: "/p", tmux_pane_id: scene.pane };
  const { json } = await scene.dashboard.call("POST", "/api/sessions", body);
  const agentId = Number(json["agent_id"]);
  const state = async () => (await scene.card(agentId))?.["state"];
  scene.shows("idle", undefined, "codex");
  expect(await state()).toBe("IDLE");
  scene.shows("busy", undefined, "codex");
  expect(await state()).toBe("PROCESSING");
  scene.shows("asking", dialog("d1"), "codex");
  expect(await state()).toBe("AWAITING_INPUT");
  const answer = await scene.dashboard.respond(agentId, { text: "1" });
  expect([answer.status, scene.chosen[0]?.answer]).toEqual([200, { kind: "option", index: 0 }]);
  scene.shows("busy", undefined, "codex");
  scene.shows("idle", undefined, "codex");
  // No hook could still say otherwise.
  expect(await state()).toBe("COMPLETE");
  scene.shows("asking", undefined, "codex");
  expect(await state()).toBe("AWAITING_INPUT");
  scene.shows("asking", dialog("d2"), "codex");
  expect(await scene.card(agentId)).toMatchObject({ question: { text: "Question d2?", dialog_id: "d2" } });
  scene.shows("idle", undefined, "codex");
  expect(await state()).toBe("COMPLETE");
});

test("a stop ends the pane's stream with `closed`, and the events' after the last one", async () => {
  const agentId = await scene.register();
  const events = await scene.dashboard.events();
  const screen = await fetch(`${scene.dashboard.url}/api/agents/${agentId}/pane/stream`);
  await scene.prompt("go");
  scene.dashboard.end();
  expect(await screen.text()).toMatch(
    /event: open\n[^]*event: closed\ndata: \{"code":"SHUTTING_DOWN","message":"[^"]+"\}\n\n$/,
  );
  await events.ended;
  expect(events.names()).toContain("turn_created");
});
