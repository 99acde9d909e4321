/** What tools would change in files, from their own inputs. */
import { describe, expect, test } from "vitest";
import { editsOf } from "../../../../../adapters/dashboard/agents/edits.ts";
import {
  MAX_DIFF_CHARS,
  MAX_DIFF_FILES,
  MAX_DIFF_LINE_CHARS,
  MAX_DIFF_LINES,
} from "../../../../../adapters/dashboard/dashboardLimits.ts";

const one = (path: string, lines: readonly string[], whole = false) => ({
  files: [{ path, whole, lines, more: 0 }],
  more: 0,
});
const numbered = (count: number, word = "line"): string =>
  Array.from({ length: count }, (_none, at) => `${word} ${at}\n`).join("");

describe("what is changed", () => {
  test.each<[string, object, object | undefined]>([
    [
      "Claude's Edit",
      { file_path: "/a.ts", old_string: "a\nb\nc", new_string: "a\nB\nc\nd", replace_all: false },
      one("/a.ts", [" a", "-b", "+B", " c", "+d"]),
    ],
    [
      "MultiEdit",
      {
        file_path: "/a",
        edits: [
          { old_string: "x", new_string: "" },
          { old_string: "", new_string: "y\r\nz" },
        ],
      },
      one("/a", ["-x", " …", "+y", "+z"]),
    ],
    ["Write", { file_path: "/new", content: "<b>\n\nz\n" }, one("/new", ["+<b>", "+", "+z"], true)],
    ["NotebookEdit", { notebook_path: "/n.ipynb", new_source: "x = 1" }, one("/n.ipynb", ["+x = 1"], true)],
    ["Copilot's edit", { path: "/a", old_str: "a", new_str: "b" }, one("/a", ["-a", "+b"])],
    ["Pi's edit", { path: "/a", oldText: "a", newText: "b" }, one("/a", ["-a", "+b"])],
    [
      "opencode's metadata",
      {
        filepath: "/a",
        diff: "Index: /a\n=====\n--- /a\n+++ /a\n@@ -1,2 +1,1 @@\n--- sql\n one\n@@ -9 +8 @@ f()\n-x\n+y\n\\ No newline at end of file\n--- /b\n",
      },
      one("/a", ["--- sql", " one", " …", "-x", "+y"]),
    ],
    ["a command", { command: "cat <<EOF > a\n-x\n+y\nEOF", description: "x" }, undefined],
    ["a search", { pattern: "x", path: "/a" }, undefined],
    ["a question", { questions: [{ question: "Which?" }] }, undefined],
    ["nothing", {}, undefined],
  ])("%s", (_name, input, edits) => {
    expect(editsOf(input)).toEqual(edits);
  });

  test.each([
    { command: (patch: string) => patch },
    { command: (patch: string) => ["bash", "-lc", `apply_patch <<'EOF'\n${patch}\nEOF`] },
  ])("a patch of Codex, of several files", ({ command }) => {
    const patch = [
      "*** Begin Patch",
      "*** Update File: a.txt",
      "*** Move to: b.txt",
      "@@ def f():",
      " one",
      "-two",
      "+TWO",
      "@@",
      "-three",
      "*** Add File: new.txt",
      "+hello",
      "*** Delete File: old.txt",
      "*** End Patch",
    ].join("\n");
    expect(editsOf({ command: command(patch) })).toEqual({
      files: [
        {
          path: "a.txt",
          whole: false,
          lines: [" (moved to b.txt)", " …", " one", "-two", "+TWO", " …", "-three"],
          more: 0,
        },
        { path: "new.txt", whole: true, lines: ["+hello"], more: 0 },
        { path: "old.txt", whole: false, lines: [" (the file is deleted)"], more: 0 },
      ],
      more: 0,
    });
  });

  test("only what differs is taken for changed", () => {
    const lines = editsOf({ path: "/a", old_string: "a\nb\nc\nd\ne", new_string: "b\nx\nc\ne\nf" })?.files[0]?.lines;
    expect(lines).toEqual(["-a", " b", "+x", " c", "-d", " e", "+f"]);
  });
});

describe("what is left out is told", () => {
  test("lines, of one file and of those after it", () => {
    const files = ["a", "b"].map((name) => `*** Add File: ${name}\n${numbered(150).replaceAll(/^line/gm, "+line")}`);
    const edits = editsOf({ command: `*** Begin Patch\n${files.join("")}*** End Patch` });
    expect(edits?.files.map(({ lines, more }) => [lines.length, more])).toEqual([
      [150, 0],
      [MAX_DIFF_LINES - 150, 100],
    ]);
  });

  test("characters, of a line and of all", () => {
    const long = `${"x".repeat(MAX_DIFF_LINE_CHARS - 2)}🌊 and more`;
    const [file] = editsOf({ file_path: "/a", content: `${long}\n`.repeat(100) })!.files;
    expect(file!.lines[0]).toBe(`+${"x".repeat(MAX_DIFF_LINE_CHARS - 2)}…`);
    expect(file!.lines.join("").length).toBeLessThanOrEqual(MAX_DIFF_CHARS);
    expect(file!.lines.length + file!.more).toBe(100);
    expect(file!.more).toBeGreaterThan(0);
  });

  test("files", () => {
    const all = Array.from({ length: MAX_DIFF_FILES + 3 }, (_none, at) => `*** Add File: ${at}\n+x\n`).join("");
    const edits = editsOf({ input: `*** Begin Patch\n${all}*** End Patch` });
    expect([edits?.files.length, edits?.more]).toEqual([MAX_DIFF_FILES, 3]);
  });

  test("edits past the lines that are shown are not matched line by line", () => {
    const [old_string, new_string] = ["old", "new"].map((word) => `${word}\n${numbered(100)}${word}\n`);
    const edit = { old_string, new_string };
    const [single] = editsOf({ file_path: "/a", ...edit })!.files;
    const [all] = editsOf({ file_path: "/a", edits: Array.from({ length: 2_000 }, () => edit) })!.files;
    const count = ({ lines, more }: { readonly lines: readonly string[]; readonly more: number }): number =>
      lines.length + more;
    expect([count(single!), count(all!)]).toEqual([104, 104 + 104 + 1 + 1_998 * (204 + 1)]);
  });
});
