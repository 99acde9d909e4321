/** The page's words. */
import { describe, expect, test } from "vitest";
import { ageText } from "../../../../../adapters/dashboard/page/words/age.ts";
import { browserName } from "../../../../../adapters/dashboard/page/words/browserName.ts";
import { deliveredText, failureText } from "../../../../../adapters/dashboard/page/words/deliveryWords.ts";
import { keysLabel } from "../../../../../adapters/dashboard/page/words/keyLabels.ts";
import { labelOf, nameOf, reasonText, titleText } from "../../../../../adapters/dashboard/page/words/stateWords.ts";
import type { FakeCard } from "../../../../support/daemon/dashboardFake.ts";
import { card, permissionCard, readiness, shownCard, textCard } from "../../../../support/daemon/dashboardCards.ts";

test.each([
  [-5_000, "now"],
  [999, "now"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [200_000, "3 min 20 s"],
  [7_500_000, "2 h 5 min"],
  [86_400_000, "1 d"],
  [356_400_000, "4 d 3 h"],
])("%d ms ago is %s", (ms, expected) => {
  expect(ageText(1_000_000_000_000, 1_000_000_000_000 + ms)).toBe(expected);
});

test.each([
  [["1"], "1"],
  [["Down", "Down", "Enter"], "↓ ↓ Enter"],
  [["Down", "Down", "Down", "Down", "Enter"], "↓ ×4 Enter"],
  [["Escape"], "Esc"],
  [[], ""],
])("%j is shown as %s", (keys, expected) => {
  expect(keysLabel(keys)).toBe(expected);
});

describe("what became of an answer", () => {
  test("delivered", () => {
    expect(deliveredText("submitted", 84.4)).toBe("submitted · 84 ms");
    expect(deliveredText("queued", 90)).toContain("the agent is busy");
    expect(deliveredText("echoed_unconfirmed", 9)).toContain("look at the pane");
    expect(deliveredText("something_new", 12_300)).toBe("something new · 12 s");
  });

  test("delivered, and what the screen says since", () => {
    expect(deliveredText("echoed_unconfirmed", 90, "No API key found")).toMatch(/ · 90 ms — .*: No API key found$/);
  });

  const failure = (errorType: string, message: string, textWritten = false) =>
    failureText({ errorType, message, textWritten });

  test("failed: whether anything was sent, then the server's words", () => {
    expect(failure("not_echoed", "Try again.")).toBe("not seen on the screen, not entered — Try again.");
    expect(failure("invalid_option_index", "")).toBe("nothing was sent");
    expect(failure("wrong_state", "It works.")).toBe("nothing was sent — It works.");
    expect(failure("box_not_empty", "")).toBe("nothing was sent, other text stands in the agent's box");
    for (const uncertain of ["timeout", "unknown", "send_failed", "unreachable", "http_500"]) {
      expect(failure(uncertain, "x")).toBe("may have been sent: look at the pane before you try again — x");
    }
  });

  test.each(["box_changed", "question_opened", "not_entered"])("failed with the text in the box: %s", (reason) => {
    expect(failure(reason, "", true)).toBe("your text stands in the agent's box, unsent");
  });

  test.each(["wrong_state", "program_changed", "box_not_empty", "question_unreadable", "timeout", "anything"])(
    "failed after something was typed: %s",
    (reason) => expect(failure(reason, "", true)).not.toMatch(/nothing was sent/),
  );
});

describe("a card's words", () => {
  const words = (sent: FakeCard) => {
    const shown = shownCard(sent);
    return { label: labelOf(shown), reason: reasonText(shown), name: nameOf(shown) };
  };

  test("say what it does and what says so", () => {
    expect(words(permissionCard(1))).toMatchObject({ label: "Input needed", reason: "dialog on screen" });
    expect(words({ ...textCard(1), reason: "notification" }).reason).toBe("hook: notification");
    expect(words(card(1, { state: "PROCESSING", readiness: readiness("busy", "title") }))).toMatchObject({
      label: "Working",
      reason: "pane title",
    });
    expect(words(card(1, { state: "COMPLETE", reason: "stop", readiness: null }))).toMatchObject({
      label: "Done",
      reason: "hook: stop",
    });
  });

  test("never explain a state by evidence of another, or by a word that is no reason", () => {
    const stale = { state: "PROCESSING", readiness: readiness("idle", "screen") };
    expect(words(card(1, { ...stale, reason: "user_prompt_submit" })).reason).toBe("hook: user-prompt-submit");
    expect(words(card(1, { ...stale, reason: "respond_failed" })).reason).toBe("");
  });

  test("say why it cannot be reached", () => {
    expect(words(card(1, { is_bridge_connected: false, tmux_pane_id: null })).reason).toContain(
      "no tmux pane is known",
    );
    expect(words(card(1, { is_bridge_connected: false, readiness: readiness("dead", "exit") })).reason).toBe(
      "the program has ended",
    );
    expect(words(card(1, { is_bridge_connected: false })).label).toBe("Not reachable");
  });

  test("name it by project, session or number", () => {
    expect(words(card(1)).name).toBe("project-1");
    expect(words(card(1, { project_name: "" })).name).toBe("a1b2c3d1");
    expect(words(card(1, { project_name: "", session: "", session_uuid: "" })).name).toBe("agent 1");
  });

  test("the tab counts those who ask", () => {
    expect([titleText(0), titleText(3)]).toEqual(["tmuxwire", "(3) tmuxwire"]);
  });
});

const MOZILLA = "Mozilla/5.0";
test.each([
  [
    `${MOZILLA} (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36`,
    "chrome-linux",
  ],
  [`${MOZILLA} (Linux; Android 16) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36`, "chrome-android"],
  [`${MOZILLA} (Windows NT 10.0; Win64; x64) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`, "edge-windows"],
  [`${MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) Version/26.0 Safari/605.1.15`, "safari-mac"],
  [`${MOZILLA} (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0`, "firefox-linux"],
  ["curl", "browser"],
])("%s is called %s", (userAgent, expected) => {
  expect(browserName(userAgent)).toBe(expected);
});
