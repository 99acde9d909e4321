/** Whether a shell's line is empty: what a probe takes off it, and what is refused without one. */
import { expect, test } from "vitest";
import { type EmptyLine, killedByProbe, reachEmptyLine, signsOf } from "../../../../daemon/shell/emptyLine.ts";
import type { AppError } from "../../../../protocol/errors.ts";
import { FakePane, type Typed } from "../../../support/agents/fakePane.ts";

const EDITING = "\u001b[?2004h";
const PROBE = " \u0015  ";

/** Rows, the cursor at `|`. */
function drawn(pane: FakePane, ...rows: readonly string[]): void {
  const row = rows.findIndex((text) => text.includes("|"));
  const before = rows[row]!.split("|", 1)[0]!;
  // Some tests have characters of two columns.
  const col = before.length + (before.match(/[\u3000-\u9fff]/gu)?.length ?? 0);
  pane.draw(
    rows.map((text) => text.replace("|", "")),
    { row, col },
  );
}

function shellPane(command = "bash") {
  const pane = new FakePane("shell");
  Object.assign(pane.server, { describePane: async () => ({ title: "", command }) });
  const context = { server: pane.server, pane: pane.pane, clock: pane.clock, source: pane.stream };
  return { pane, context };
}

const FULL = "x".repeat(78);

test.each<[string, readonly string[], readonly string[], { output?: string; prompt?: string }, string | undefined]>([
  ["nothing", ["$ |"], ["$   |"], {}, ""],
  ["nothing, in front of a right prompt", ["$ |      12:30"], ["$   |    12:30"], {}, ""],
  ["nothing, for a program that takes no text", ["$ |"], ["$ |"], {}, undefined],
  ["a blank", ["$ |"], ["$  |"], {}, " "],
  ["the text", ["$ ls -l|"], ["$   |"], {}, "ls -l"],
  ["the text up to the cursor", ["$ ls| -l"], ["$   | -l"], {}, "ls"],
  ["a text of several rows", [`$ ${FULL}`, "yy|"], ["$   |", ""], {}, `${FULL}yy`],
  ["nothing that the screen shows, below the row", ["$ ls|"], ["$ ls", "  |"], {}, undefined],
  ["nothing that the screen shows, on another row", ["$ ls|"], ["% ls", "  |"], {}, undefined],
  ["nothing that the screen shows, behind another prompt", ["$ ls|"], ["%   |"], {}, undefined],
  ["wide characters in an editor", ["$ 日本|"], ["$   |"], { output: EDITING }, "日本"],
  ["wide characters that the terminal erases by one column each", ["$ 日本|"], ["$ 日  |"], {}, "日本"],
  ["wide characters behind a prompt that is seen", ["$ 日本|"], ["$   |"], {}, "日本"],
  ["no wide characters where the cursor went on", ["日本|"], ["日本 x  |"], {}, undefined],
  ["what was typed ahead of a known prompt", ["ls$ |"], ["ls  |"], { prompt: "$ \n" }, "ls"],
  ["text that ends as the known prompt begins", ["$ ls$ |"], ["$   |"], { prompt: "$ \n" }, "ls$ "],
])("a probe takes %s off", async (_what, before, after, { output, prompt }, killed) => {
  const { pane, context } = shellPane();
  if (output !== undefined) pane.say(output);
  if (prompt !== undefined) signsOf(pane.stream).emptyRow = prompt;
  drawn(pane, ...before);
  const capture = await pane.server.capture(pane.pane);
  const from = pane.stream.outputSeq;
  drawn(pane, ...after);
  expect(await pane.during(killedByProbe(context, capture, from))).toBe(killed);
});

/** A line editor: what it does with the probe. */
const editor =
  (pane: FakePane, ...rows: readonly string[]) =>
  ({ paste }: Typed): void => {
    if (paste === PROBE) drawn(pane, ...rows);
  };
const reached = (work: Promise<EmptyLine>) =>
  work.then(
    ({ isProbed, shell }) => ({ isProbed, shell }),
    ({ code, details }: AppError) => [code, details],
  );

test.each<[string, string, readonly string[], readonly string[], unknown]>([
  ["a prompt", "-zsh", ["host% |"], ["host%   |"], { isProbed: true, shell: "zsh" }],
  ["a prompt of one's own", "fish", ["→ here |"], ["→ here   |"], { isProbed: true, shell: "fish" }],
  ["text", "bash", ["$ rm -rf |"], ["$   |"], ["INCONSISTENT_STATE", { line: "rm -rf" }]],
  ["text behind the cursor", "bash", ["$ |rm"], [], ["INCONSISTENT_STATE", { row: "$ rm" }]],
  ["a search", "bash", ["(reverse-i-search)`': |"], [], ["INCONSISTENT_STATE", { row: "(reverse-i-search)`': " }]],
  ["half a command", "bash", ["$ for x", "> |"], [], ["INCONSISTENT_STATE", undefined]],
  ["an editor's command mode", "zsh", ["$ |"], ["$ |"], ["INCONSISTENT_STATE", undefined]],
  ["another program", "vim", ["$ |"], [], ["INCONSISTENT_STATE", undefined]],
  ["no prompt", "bash", [" |"], [], ["WRONG_STATE", { state: "busy" }]],
])("before a command is typed: %s", async (_what, command, rows, probed, expected) => {
  const { pane, context } = shellPane(command);
  pane.say(`\r\n${EDITING}`);
  drawn(pane, ...rows);
  pane.answer = editor(pane, ...probed);
  expect(await pane.during(reached(reachEmptyLine(context, 60_000)))).toEqual(expected);
  const keys = pane.typed.map(({ paste, keys: names }) => paste ?? names);
  const hasText = command === "bash" && probed.length > 0;
  expect(keys).toEqual(probed.length === 0 ? [] : hasText ? [PROBE, ["BSpace", "BSpace"], "rm -rf "] : [PROBE]);
});

test("a line that was empty and looks the same is not probed again", async () => {
  const { pane, context } = shellPane();
  pane.say(EDITING);
  drawn(pane, "$ |");
  pane.answer = editor(pane, "$   |");
  await pane.during(reachEmptyLine(context, 60_000));
  drawn(pane, "$ |");
  expect(await pane.during(reachEmptyLine(context, 60_000))).toMatchObject({
    isProbed: false,
    place: { row: 0, col: 2 },
  });
  expect(pane.typed).toHaveLength(1);
});

test("a caller who leaves while tmux is asked for the program is not kept until the prompt comes", async () => {
  const { pane, context } = shellPane();
  const leaving = new AbortController();
  pane.say("starting");
  Object.assign(pane.server, {
    describePane: async () => {
      // The capture has come by then.
      await new Promise<void>((resolve) => setImmediate(resolve));
      leaving.abort(new Error("left"));
      return { title: "", command: "bash" };
    },
  });
  await expect(reachEmptyLine({ ...context, signal: leaving.signal }, 60_000)).rejects.toThrow("left");
});
