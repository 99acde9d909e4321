/** `profiles check` beside screens as they were recorded: those are recognised, and what an update may draw is not. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkScreen } from "../../../../../adapters/commands/programs/profilesCheck.ts";
import { type RecordedScreen, readRecordedScreens } from "../../../../../daemon/readiness/recordedScreens.ts";
import { profileNamed } from "../../../../support/agents/agentCatalogue.ts";

const directory = join(import.meta.dirname, "../../../../golden/agents");
const recorded = readdirSync(directory, { recursive: true, encoding: "utf8" })
  .filter((file) => /^[^/]+\/[^/]+\/[^/]+\.md$/.test(file))
  .map((file) => ({ file, screens: readRecordedScreens(readFileSync(join(directory, file), "utf8")) }));

/** The daemon's word for what the program was doing. */
const stateOf = ({ state }: RecordedScreen) => (state === "idle" ? "ready" : state === "dead" ? "ended" : state);

test.each(recorded)("what was recorded in $file is recognised as the engine judges it", ({ file, screens }) => {
  const profile = profileNamed(file.split("/")[0]!);
  const wrong = screens
    .filter(({ state, judged }) => state === judged && state !== "unknown")
    .map((screen) => ({ name: screen.name, ...checkScreen(profile, { ...screen, state: stateOf(screen) }) }))
    .filter(({ problems }) => problems.length > 0)
    .map(({ name, problems, title, screen }) => ({ name, problems, title, screen }));
  expect(wrong).toEqual([]);
});

describe("a screen that has changed", () => {
  const profile = profileNamed("claude");
  const rule = "─".repeat(60);
  const box = [rule, "❯ ", rule, "  ? for shortcuts"];
  const shown = { title: "", cursor: { row: 1, col: 2 }, cols: 80, state: undefined };

  test.each([
    [
      "nothing that is known",
      { lines: ["> Ask away"], state: "unknown" },
      { problems: ["prompt box: not found", "rules: none match its screen"], notes: [] },
    ],
    [
      "nothing that is known while the title says busy",
      { lines: ["> Ask away"], title: "⠂ work", state: "busy" },
      { problems: ["prompt box: not found", "busy rules: none match while its title says busy"], notes: [] },
    ],
    [
      "a box alone while the title says busy, as some draw it while an answer is streaming",
      { lines: box, title: "⠂ work", state: "busy" },
      { problems: [], notes: ["busy rules: none match while its title says busy"] },
    ],
    [
      "a box alone while hooks say asking",
      { lines: box, state: "asking" },
      { problems: ["asking rules: none match while it is asking"], notes: [] },
    ],
    ["a box alone while the state changes", { lines: box }, { problems: [], notes: [] }],
    ["an unknown screen while it starts", { lines: ["loading"], state: "starting" }, { problems: [], notes: [] }],
    ["its box", { lines: box, state: "ready" }, { problems: [], notes: [] }],
  ] as const)("%s", (_, more, found) => {
    expect(checkScreen(profile, { ...shown, ...more })).toMatchObject(found);
  });

  test("says what matches", () => {
    expect(checkScreen(profile, { ...shown, lines: box, state: "ready" })).toMatchObject({
      promptBox: "found",
      title: null,
      screen: "idle",
      matching: { asking: [], busy: [] },
    });
  });
});
