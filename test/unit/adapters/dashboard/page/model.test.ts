/** What the page knows: cards as they come in, events, order, answers. */
import { describe, expect, test } from "vitest";
import { agentsFrom, foldEvent } from "../../../../../adapters/dashboard/page/model/agents.ts";
import {
  optionForDigit,
  respondBody,
  sameQuestion,
  textUseOf,
} from "../../../../../adapters/dashboard/page/model/answers.ts";
import { groupsOf, inOrder } from "../../../../../adapters/dashboard/page/model/order.ts";
import { firstState, nextAsking } from "../../../../../adapters/dashboard/page/model/pageState.ts";
import { shortcutFor } from "../../../../../adapters/dashboard/page/model/shortcuts.ts";
import { namesOf } from "../../../../../adapters/dashboard/page/words/stateWords.ts";
import type { DashboardAgents } from "../../../../../protocol/api/dashboard.ts";
import {
  card,
  listCard,
  permissionCard,
  running,
  severalCard,
  shownCard,
  textCard,
} from "../../../../support/daemon/dashboardCards.ts";

const idsOf = (cards: readonly { readonly agent_id: number }[]): number[] => cards.map((one) => one.agent_id);

describe("a card", () => {
  test("takes descriptions and further questions from what the tool has asked", () => {
    const questions = [
      { question: "Which?", options: [{ label: "A", description: "the first" }, { label: "B" }] },
      { question: "How many?", multiSelect: true, options: ["one", "two"] },
    ];
    const asked = { ...severalCard(1), question_options: { questions } };
    expect(shownCard(asked).question?.parts).toMatchObject([
      { text: "Which?", isMulti: false, options: [{ index: 0, label: "A", description: "the first" }, { index: 1 }] },
      {
        text: "How many?",
        isMulti: true,
        options: [
          { index: 0, label: "one" },
          { index: 1, label: "two" },
        ],
      },
    ]);
    const listed = {
      ...listCard(1),
      question_options: { questions: [{ options: [{ label: "SQLite", description: "a file" }] }] },
    };
    expect(shownCard(listed).question?.options.map(({ description }) => description)).toEqual(["", "a file", ""]);
  });
});

describe("events", () => {
  const agents = agentsFrom({ agents: [card(1), textCard(2)] } as unknown as DashboardAgents);

  test("a card takes the place of the one before", () => {
    const { agents: next, unknown } = foldEvent(agents, "card_refresh", card(2, { state: "PROCESSING" }));
    expect(next.get(2)).toMatchObject({ state: "PROCESSING", question: undefined });
    expect(unknown).toBe(false);
    expect(agents.get(2)?.state).toBe("AWAITING_INPUT");
  });

  test("a state comes in either case; one that holds changes nothing", () => {
    const next = foldEvent(agents, "state_changed", { agent_id: 2, new_state: "processing" }).agents;
    expect(next.get(2)?.state).toBe("PROCESSING");
    expect(foldEvent(agents, "state_changed", { agent_id: 2, new_state: "AWAITING_INPUT" }).agents).toBe(agents);
  });

  test("availability, the end of a session, and strangers", () => {
    expect(
      foldEvent(agents, "commander_availability", { agent_id: 1, available: false }).agents.get(1)?.is_bridge_connected,
    ).toBe(false);
    expect(foldEvent(agents, "session_ended", { agent_id: 1 }).agents.has(1)).toBe(false);
    expect(foldEvent(agents, "session_created", { agent_id: 9 })).toEqual({ agents, unknown: true });
    expect(foldEvent(agents, "state_changed", { agent_id: 9, new_state: "IDLE" })).toEqual({ agents, unknown: true });
    for (const name of ["turn_created", "something_new"]) {
      expect(foldEvent(agents, name, {})).toEqual({ agents, unknown: false });
    }
  });
});

describe("order", () => {
  test("who asks longest is first, who is gone is last, whatever it asked", () => {
    const cards = [
      card(1, { project_name: "b" }),
      textCard(2, { agoMs: 5_000 }),
      permissionCard(3, { agoMs: 90_000 }),
      card(4, { state: "PROCESSING" }),
      { ...textCard(5, { agoMs: 900_000 }), is_bridge_connected: false },
      card(6, { project_name: "a", state: "COMPLETE" }),
    ].map(shownCard);
    expect(
      groupsOf(cards, { grouping: "need", filter: "", host: undefined }).map(({ key, cards: own }) => [
        key,
        idsOf(own),
      ]),
    ).toEqual([
      ["asking", [3, 2]],
      ["ready", [6, 1]],
      ["working", [4]],
      ["gone", [5]],
    ]);
    expect(idsOf(inOrder(cards))).toEqual([3, 2, 6, 1, 4, 5]);
  });

  test("by project, and only those that have every word of the filter", () => {
    const cards = [
      card(1, {
        project_name: "shop",
        project_path: "/a/shop",
        state: "PROCESSING",
        running: running({ branch: "pay" }),
      }),
      { ...textCard(2, { agoMs: 5_000 }), project_name: "shop", project_path: "/a/shop" },
      card(3, { project_name: "shop", project_path: "/b/shop", running: running({ last_message: "All Tests pass" }) }),
      card(4, { project_name: "api", project_path: "/api", task_instruction: "fix the tests" }),
    ].map(shownCard);
    const shown = (filter: string) =>
      groupsOf(cards, { grouping: "project", filter, host: undefined }).map(({ key, cards: own }) => [key, idsOf(own)]);
    expect(shown("")).toEqual([
      ["/api", [4]],
      ["/a/shop", [2, 1]],
      ["/b/shop", [3]],
    ]);
    expect(shown("tests")).toEqual([
      ["/api", [4]],
      ["/b/shop", [3]],
    ]);
    expect(shown("  TESTS shop ")).toEqual([["/b/shop", [3]]]);
    expect([shown("pay"), shown("nothing")]).toEqual([[["/a/shop", [1]]], []]);
    expect([...namesOf(cards).entries()]).toEqual([
      [1, "shop"],
      [2, "shop (2)"],
      [3, "shop (3)"],
      [4, "api"],
    ]);
  });

  test("one whose screen has the text is shown, too", () => {
    const cards = [card(1, { project_name: "api" }), card(2), card(3)].map(shownCard);
    const listing = { grouping: "need", filter: "api", host: undefined, screens: new Map([[3, "an api"]]) } as const;
    expect(idsOf(inOrder(cards, listing))).toEqual([1, 3]);
  });

  test("the next that asks, around the end and past the filter's others", () => {
    const agents = new Map(
      [textCard(1, { agoMs: 9_000 }), card(2), textCard(3, { agoMs: 5_000 })]
        .map(shownCard)
        .map((one) => [one.agent_id, one]),
    );
    const from = (selectedId: number | undefined) => nextAsking({ ...firstState(0), agents, selectedId });
    expect([undefined, 1, 3, 2].map(from)).toEqual([1, 3, 1, 1]);
  });
});

describe("answers", () => {
  const permission = shownCard(permissionCard(1, { dialogId: "d" })).question;
  const several = shownCard(severalCard(1)).question;

  test("as the contract has them, bound to the dialog that was shown", () => {
    const option = permission?.options[1];
    if (option === undefined) throw new Error("no option");
    expect(respondBody({ kind: "option", option }, permission)).toEqual({
      mode: "select",
      option_index: 1,
      option_label: option.label,
      dialog_id: "d",
    });
    expect(respondBody({ kind: "other", text: "no" }, permission)).toEqual({
      mode: "other",
      text: "no",
      dialog_id: "d",
    });
    expect(respondBody({ kind: "text", text: "a\nb" }, undefined)).toEqual({ mode: "text", text: "a\nb" });
    expect(respondBody({ kind: "keys", keys: ["C-c"] }, permission)).toEqual({ mode: "keys", keys: ["C-c"] });
    const choices = [
      { isMulti: true, indices: [10, 2] },
      { isMulti: false, indices: [3] },
    ];
    expect(respondBody({ kind: "several", choices }, several)).toEqual({
      mode: "multi_select",
      answers: [{ option_indices: [2, 10] }, { option_index: 3 }],
      dialog_id: "several-1",
    });
  });

  test("text answers a prompt, a dialog's other, or nothing", () => {
    expect(textUseOf(undefined)).toBe("text");
    expect(textUseOf(shownCard(textCard(1)).question)).toBe("text");
    expect(textUseOf(permission)).toBe("other");
    expect(textUseOf(shownCard(listCard(1)).question)).toBe("none");
  });

  test("a digit means the number that is shown, or the place in a list without numbers", () => {
    expect(optionForDigit(permission, "2")?.index).toBe(1);
    expect(optionForDigit(permission, "9")).toBeUndefined();
    expect(optionForDigit(shownCard(listCard(1)).question, "3")?.label).toBe("MySQL");
    const from5 = {
      ...permissionCard(1),
      question: { kind: "select", text: "", options: [{ index: 0, number: "5", label: "x", keys: [] }] },
    };
    expect(optionForDigit(shownCard(from5).question, "1")).toBeUndefined();
    expect(optionForDigit(undefined, "1")).toBeUndefined();
  });

  test("the same question is the same dialog with the same words", () => {
    const same = shownCard(permissionCard(1, { dialogId: "d" })).question;
    expect(sameQuestion(permission, same)).toBe(true);
    expect(sameQuestion(permission, shownCard(permissionCard(1, { dialogId: "e" })).question)).toBe(false);
    expect(
      sameQuestion(permission, shownCard(permissionCard(1, { dialogId: "d", labels: ["Yes", "No"] })).question),
    ).toBe(false);
    expect(sameQuestion(undefined, undefined)).toBe(true);
    expect(sameQuestion(permission, undefined)).toBe(false);
  });
});

describe("shortcuts", () => {
  const press = (key: string, fields: object = {}) => ({
    key,
    code: "",
    ctrlKey: false,
    altKey: false,
    metaKey: false,
    shiftKey: false,
    ...fields,
  });

  test("belong to the page, and in a text only Escape does", () => {
    expect(shortcutFor(press("2"), "page")).toEqual({ kind: "option", digit: "2" });
    expect(shortcutFor(press("j"), "page")).toEqual({ kind: "next" });
    expect(shortcutFor(press("?", { shiftKey: true }), "page")).toEqual({ kind: "help" });
    for (const key of ["2", "j", "/", "?", "ArrowDown"]) expect(shortcutFor(press(key), "text")).toBeUndefined();
    expect(shortcutFor(press("Escape"), "text")).toEqual({ kind: "leave" });
  });

  test("never take a key of a pane under control but the one that gives it back", () => {
    for (const key of ["Escape", "j", "1", "?"]) expect(shortcutFor(press(key), "pane")).toBeUndefined();
    const held = { ctrlKey: true, shiftKey: true };
    expect(shortcutFor(press("Escape", held), "pane")).toEqual({ kind: "release" });
    expect(shortcutFor(press(" ", { ...held, code: "Space" }), "pane")).toEqual({ kind: "release" });
  });

  test("leave the browser's own alone", () => {
    for (const modifier of ["ctrlKey", "altKey", "metaKey"]) {
      expect(shortcutFor(press("1", { [modifier]: true }), "page")).toBeUndefined();
    }
  });
});
