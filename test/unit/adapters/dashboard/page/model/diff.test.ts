/** Changes to files on a card: as the daemon gives them, and as agents draw them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Diff, drawnDiff, givenDiff } from "../../../../../../adapters/dashboard/page/model/diff.ts";
import { readRecordedScreens } from "../../../../../../daemon/readiness/recordedScreens.ts";

const GOLDEN = join(import.meta.dirname, "../../../../../golden/agents");
const shown = (diff: Diff | undefined): readonly string[] =>
  diff?.files[0]?.lines.map(({ sign, text, number }) => `${number} ${sign}${text}`) ?? [];

test("the question of Claude Code, as recorded, is taken apart", () => {
  const [screen] = readRecordedScreens(readFileSync(join(GOLDEN, "claude/2.1.197/edits.md"), "utf8"));
  const drawn = drawnDiff(screen!.question.join("\n"));
  expect(drawn?.text).toBe("Edit file\nprices.ts\nDo you want to make this edit to prices.ts?");
  expect(drawn?.diff.files[0]?.path).toBe("prices.ts");
  expect(shown(drawn?.diff).slice(2, 9)).toEqual([
    "4  const price4 = 4;",
    "5 -const price5 = 5;",
    "6 -const price6 = 6;",
    "5 +const price5 = 50;",
    "6 +// <b>half</b>",
    "7 +const price6 = 3;",
    "8  const price7 = 7;",
  ]);
});

test("a line that is too long for the screen, a blank one, and what was left out belong to it", () => {
  const text = "Edit file\na.ts\n1 -an old line that\ngoes on\n…\n8\n9 +new\nDo you want to?";
  expect(shown(drawnDiff(text)?.diff)).toEqual(["1 -an old line that", " -goes on", "  …", "8  ", "9 +new"]);
});

test.each([
  "Which one?\n1 - the first\n2 - the second",
  "Create file\nlist.yml\n1 - name: x\n2   run: y\nDo you want to create list.yml?",
  "Create file\na.ts\n1 export const a = 1;\n3 - not a list\n4 + b\nDo you want this?",
  "Bash command\nls -la\nDo you want to proceed?",
  "How many? 1 +2",
  "",
])("no changes are seen in %j", (text) => {
  expect(drawnDiff(text)).toBe(undefined);
});

test("what the daemon gives is taken as it is meant, whatever it is", () => {
  const files = [{ path: "/a", whole: true, lines: ["+a", " b", "-", "x", 1], more: 2 }, "no file"];
  expect(givenDiff({ files, more: 1 })).toEqual({
    files: [
      {
        path: "/a",
        whole: true,
        lines: [
          { sign: "+", text: "a" },
          { sign: " ", text: "b" },
          { sign: "-", text: "" },
        ],
        more: 2,
      },
    ],
    more: 1,
  });
  for (const none of [undefined, {}, { files: [] }, { files: "x" }, []]) expect(givenDiff(none)).toBe(undefined);
});
