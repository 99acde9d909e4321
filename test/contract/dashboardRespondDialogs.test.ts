/**
 * `POST /api/respond/:id` while a dialog is open (docs/contracts/dashboard.md §2): which option an answer means, and the
 * keys for a program that no profile knows.
 */
import { describe, expect, test } from "vitest";
import type { ChooseRequest } from "../../daemon/delivery/delivery.ts";
import type { Dialog } from "../../daemon/readiness/readiness.ts";
import { AppError } from "../../protocol/errors.ts";
import { eachHasScene, failed, scene } from "../support/daemon/dashboardScene.ts";

eachHasScene();

const DIALOG: Dialog = {
  id: "d1",
  multi: false,
  text: "Do you want to proceed?",
  options: [
    { index: 0, number: "1", label: "Yes", keys: ["1"] },
    { index: 1, number: "2", label: "Yes, and don't ask again", keys: ["2"] },
    { index: 2, number: "3", label: "No, and tell Claude what to do differently", keys: ["3"] },
  ],
  otherIndex: 2,
};

describe("while a dialog is open", () => {
  test.each<[object, ChooseRequest["answer"]]>([
    [{ text: "2" }, { kind: "option", index: 1 }],
    [{ text: "2." }, { kind: "option", index: 1 }],
    [{ text: "yes" }, { kind: "option", index: 0 }],
    [{ text: " Yes, and don't ask again " }, { kind: "option", index: 1 }],
    [{ text: "y" }, { kind: "other", text: "y" }],
    [{ text: "4" }, { kind: "other", text: "4" }],
    [{ text: "use a branch" }, { kind: "other", text: "use a branch" }],
    [
      { mode: "select", option_index: 0, option_label: "Yes" },
      { kind: "option", index: 0 },
    ],
    [
      { mode: "select", option_index: 2, option_label: "No, and tell" },
      { kind: "option", index: 2 },
    ],
    [
      { mode: "select", option_index: 1, dialog_id: "d1" },
      { kind: "option", index: 1 },
    ],
    [
      { mode: "other", text: "no" },
      { kind: "other", text: "no" },
    ],
    [
      { mode: "multi_select", answers: [{ option_indices: [2, 0] }, { option_index: 1 }] },
      { kind: "multi", answers: [[0, 2], [1]] },
    ],
  ])("%j: %j", async (body, answer) => {
    const agentId = await scene.asking();
    scene.shows("asking", DIALOG);
    const { status, json } = await scene.dashboard.respond(agentId, body);
    expect([status, json["new_state"]]).toEqual([200, "processing"]);
    expect(scene.chosen).toMatchObject([{ answer, dialogId: "d1" }]);
    expect(scene.submitted).toEqual([]);
  });

  test.each<[object, number, string, RegExp]>([
    [{ mode: "select", option_index: 3 }, 400, "invalid_option_index", /from 0 to 2: 1\. Yes \/ 2\. Yes, and/],
    [{ mode: "select", option_index: 0, option_label: "Delete" }, 409, "wrong_state", /has changed/],
    [{ mode: "select", option_index: 0, dialog_id: "d0" }, 409, "wrong_state", /Another question/],
    [{ text: "Yes", dialog_id: "d0" }, 409, "wrong_state", /Another question/],
  ])("%j: %i %s", async (body, status, errorType, message) => {
    const agentId = await scene.asking();
    scene.shows("asking", DIALOG);
    const answer = await scene.dashboard.respond(agentId, body);
    expect([answer.status, answer.json]).toMatchObject([status, failed(errorType, message)]);
    expect(scene.chosen).toEqual([]);
  });

  test.each([{ text: "maybe" }, { mode: "other", text: "maybe" }])(
    "a dialog without free text refuses it: %j",
    async (body) => {
      const agentId = await scene.asking();
      scene.shows("asking", { ...DIALOG, otherIndex: undefined });
      const { status, json } = await scene.dashboard.respond(agentId, body);
      expect([status, json]).toMatchObject([
        409,
        failed(
          "wrong_state",
          "A dialog is open that takes no free text; its options are 1. Yes / 2. Yes, and don't ask again / " +
            "3. No, and tell Claude what to do differently.",
        ),
      ]);
      expect([scene.chosen, scene.submitted]).toEqual([[], []]);
    },
  );

  test("a dialog that could not be read takes no answer", async () => {
    const agentId = await scene.asking();
    scene.shows("asking", undefined);
    const { status, json } = await scene.dashboard.respond(agentId, { text: "x" });
    expect([status, json]).toMatchObject([409, failed("wrong_state", /could not be read/)]);
    expect(scene.probes).toBe(1);
    expect(scene.submitted).toEqual([]);
  });

  /** What is told of the agent until its answer's turn. */
  async function toldOf(agentId: number, act: () => Promise<unknown>): Promise<readonly string[]> {
    const events = await scene.dashboard.events();
    const answer = scene.dashboard.respond(agentId, { text: "2" });
    await scene.untilChosen(1);
    await act();
    expect((await answer).json).toMatchObject({ status: "ok", new_state: "processing" });
    await events.next(({ data }) => data["intent"] === "answer");
    return events.events.map(({ event, data }) => {
      const what = data["event_type"] ?? data["reason"] ?? data["intent"];
      const state = data["new_state"] === undefined ? "" : ` ${data["new_state"] as string}`;
      return `${event} ${what as string}${state}`;
    });
  }

  test("a hook during a pending answer is reported before the answer", async () => {
    const agentId = await scene.working();
    await scene.hook("permission-request", { tool_name: "Bash", tool_input: { command: "ls" } });
    scene.shows("asking", DIALOG);
    const release = scene.holdSubmit();
    const told = await toldOf(agentId, async () => {
      scene.shows("busy");
      await scene.hook("post-tool-use", { tool_name: "Bash" });
      release();
    });
    expect(told).toEqual([
      "card_refresh readiness",
      "card_refresh post_tool_use_resume",
      "state_changed post_tool_use PROCESSING",
      "card_refresh respond",
      "state_changed respond PROCESSING",
      "turn_created answer",
    ]);
    const { json } = await scene.dashboard.call("GET", `/api/agents/${agentId}/turns`);
    expect(json["turns"]).toMatchObject([{ intent: "answer", answers_turn_id: 2 }, { turn_id: 2 }, {}]);
  });

  test("a turn that ends while its dialog is being answered stays ended", async () => {
    const agentId = await scene.working();
    await scene.hook("permission-request", { tool_name: "Bash", tool_input: { command: "ls" } });
    scene.shows("asking", DIALOG);
    const release = scene.holdSubmit();
    await toldOf(agentId, async () => {
      scene.shows("busy");
      expect((await scene.hook("stop")).json).toMatchObject({ state: "complete", state_changed: true });
      scene.shows("idle");
      release();
    });
    expect(await scene.card(agentId)).toMatchObject({ state: "COMPLETE", question: null });
  });

  test("a failed answer leaves the state that the screen shows", async () => {
    const agentId = await scene.asking();
    scene.shows("asking", DIALOG);
    scene.submitsWith(async () => {
      // A person has answered at the program itself.
      scene.shows("busy");
      expect(await scene.card(agentId)).toMatchObject({ state: "AWAITING_INPUT", question: { dialog_id: "d1" } });
      throw new AppError("WRONG_STATE", "that question is no longer open");
    });
    expect((await scene.dashboard.respond(agentId, { text: "2" })).status).toBe(409);
    expect(await scene.card(agentId)).toMatchObject({ state: "PROCESSING", question: null });
  });

  test("a closed dialog is not answered", async () => {
    const agentId = await scene.asking();
    scene.shows("busy", undefined, "claude");
    const { status, json } = await scene.dashboard.respond(agentId, { mode: "select", option_index: 0 });
    expect([status, json]).toMatchObject([409, failed("wrong_state", /no longer on the agent's screen/)]);
  });
});

describe("a program that no profile knows gets the contract's keys", () => {
  test.each<[object, string]>([
    [{ mode: "select", option_index: 2 }, "Down Down Enter"],
    [{ mode: "select", option_index: 0 }, "Enter"],
    [{ mode: "multi_select", answers: [{ option_index: 1 }] }, "Down Enter Enter"],
    [
      { mode: "multi_select", answers: [{ option_indices: [2, 0] }, { option_index: 1 }] },
      "Space Down Down Space Enter Down Enter Enter",
    ],
    [{ text: "Green" }, "Down Enter"],
    [{ text: "2" }, "Down Enter"],
    [{ mode: "other", text: "Blue" }, "Down Down Enter Enter"],
    [{ text: "Blue" }, "Down Down Enter Enter"],
  ])("%j: %s", async (body, keys) => {
    const texts = JSON.stringify(body).includes("Blue") ? ["Blue"] : [];
    expect(await answered(body)).toEqual({ ...DELIVERED, keys, texts });
  });

  test("so does a program that is known to ask if its question cannot be read", async () => {
    const answer = answered({ mode: "select", option_index: 1 }, () => scene.shows("asking", undefined));
    expect(await answer).toEqual({ ...DELIVERED, keys: "Down Enter", texts: [] });
  });

  const DELIVERED = { status: 200, json: "ok", delivery: "echoed_unconfirmed", submitted: [] };

  async function answered(body: object, meanwhile = (): void => undefined): Promise<object> {
    const agentId = await scene.working();
    await scene.dashboard.hook("pre-tool-use", {
      session_id: "s1",
      tool_name: "AskUserQuestion",
      tool_input: { questions: [{ question: "Which?", options: [{ label: "Red" }, { label: "Green" }] }] },
    });
    meanwhile();
    const { status, json } = await scene.dashboard.respond(agentId, body);
    const { submitted } = scene;
    for (const { addressee, gapMs } of scene.pressed) {
      expect([addressee, gapMs]).toMatchObject([{ isAgent: true, programs: new Set(["claude"]) }, 60]);
    }
    expect(scene.pressed).toHaveLength(1);
    return {
      status,
      json: json["status"],
      delivery: json["delivery"],
      keys: scene.keys().join(" "),
      texts: scene.texts(),
      submitted,
    };
  }
});
