import { describe, expect, test } from "vitest";
import { readScreen } from "../../../../daemon/readiness/screenReading.ts";
import { screenOf } from "../../../../daemon/readiness/screenRows.ts";
import { AGENT_SCREENS, type AgentScreen } from "./agentScreens.ts";
import { profileNamed } from "../../../support/agents/agentCatalogue.ts";

function read({ profile: name, lines, cursor }: AgentScreen) {
  const profile = profileNamed(name);
  const at = cursor ?? { col: (lines.at(-1) ?? "").length, row: lines.length - 1 };
  const shown = lines.map((line) => line.trimEnd());
  return readScreen(profile, screenOf({ lines: shown, cursor: at, cols: 80 }, profile.screen.rows));
}

describe("what a screen says", () => {
  test.each(AGENT_SCREENS.map((screen) => [`${screen.profile}: ${screen.name}`, screen] as const))(
    "%s",
    (_name, screen) => {
      const reading = read(screen);
      expect(reading.state).toBe(screen.state);
      if (reading.state !== "asking" || screen.dialog === undefined) return;
      const { text, options, marked, otherIndex, multi } = reading.dialog;
      const { checked, ...wanted } = screen.dialog;
      expect({ text, labels: options.map(({ label }) => label), keys: options.map(({ keys }) => keys) }).toEqual({
        text: wanted.text,
        labels: wanted.labels,
        keys: wanted.keys,
      });
      expect({ marked, otherIndex, multi }).toEqual({
        marked: wanted.marked,
        otherIndex: wanted.otherIndex,
        multi: wanted.multi ?? false,
      });
      expect(options.map((option) => option.checked)).toEqual(checked ?? options.map(() => undefined));
      expect(options.map(({ index }) => index)).toEqual(options.map((_, index) => index));
    },
  );

  test("every screen that asks has its dialog told, so that none passes without being looked at", () => {
    const asking = AGENT_SCREENS.filter(({ state }) => state === "asking");
    expect(asking.filter(({ dialog }) => dialog === undefined)).toEqual([]);
    expect(asking.length).toBeGreaterThan(10);
  });

  test("a long command stands in the question from its first row", () => {
    const screen = AGENT_SCREENS.find(({ dialog }) => dialog?.text.startsWith("Bash command") === true)!;
    const at = screen.lines.findIndex((line) => line.includes("touch /tmp/approved"));
    const command = Array.from({ length: 12 }, (_, index) => `   step ${index} &&`);
    const lines = ["went by", ...screen.lines.slice(0, at), ...command, ...screen.lines.slice(at)];
    const reading = read({ ...screen, lines });
    const text = reading.state === "asking" ? reading.dialog.text : "";
    expect(text).toMatch(/^Bash command\n\nstep 0 &&\n.*step 11 &&\ntouch \/tmp\/approved\n.*proceed\?$/s);
    const longer = Array.from({ length: 24 }, (_, index) => `   step ${index} &&`);
    const cut = read({ ...screen, lines: [...screen.lines.slice(0, at), ...longer, ...screen.lines.slice(at)] });
    const cutText = cut.state === "asking" ? cut.dialog.text : "";
    expect(cutText).toMatch(/^Bash command\n\nstep 0 &&\n.*\n…\n.*touch \/tmp\/approved\n.*proceed\?$/s);
  });

  test("the digest is the dialog's, wherever its mark stands", () => {
    const [first, second] = AGENT_SCREENS.filter(
      ({ dialog }) => dialog?.otherIndex === 2 && dialog.text.startsWith("Bash"),
    );
    const digests = [first!, second!]
      .map(read)
      .map((reading) => (reading.state === "asking" ? reading.dialog.digest : ""));
    expect(digests[0]).toBe(digests[1]);
    expect(digests[0]).toMatch(/^[0-9a-f]{12}$/);
  });

  test("hostile rows cost little: long, full of what patterns begin with", () => {
    const rows = ["❯ ", "1. ", " ", "│ ", "[Y/n] ", "esc ", "> ", "password", "─", "Allow once "].map((piece) =>
      piece.repeat(4_000),
    );
    const lines = Array.from({ length: 200 }, (_, index) => rows[index % rows.length]!);
    const startedMs = performance.now();
    for (const profile of ["claude", "codex", "gemini", "opencode", "pi", "shell", "generic"]) {
      read({ profile, name: "", lines, state: "none", cursor: { col: 9_999, row: 199 } });
    }
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });
});

test("a row is read up to 512 characters, escape sequences not counted", () => {
  const line = `\u001b[1m${"x".repeat(600)}`;
  const { rows } = screenOf({ lines: [line], cursor: { col: 0, row: 0 }, cols: 1_000 }, 1);
  expect(rows.map(({ text }) => text.length)).toEqual([512]);
});
