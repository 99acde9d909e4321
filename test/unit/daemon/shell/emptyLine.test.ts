/** Whether a shell's line is empty: what a probe takes off it, and what is refused without one. */
import { expect, test } from "vitest";
import {
  cursorComes,
  type EmptyLine,
  killedByProbe,
  reachEmptyLine,
  signsOf,
} from "../../../../daemon/shell/emptyLine.ts";
import { AppError } from "../../../../protocol/errors.ts";
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
  [
    "wide characters of several rows that the terminal erases by one column each",
    [`$ ${"日".repeat(39)}`, "本|"],
    [`$ ${"日".repeat(20)}  |`, ""],
    {},
    `${"日".repeat(39)}本`,
  ],
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
  const found = await pane.during(killedByProbe(context, { kind: "zsh", before: capture, from }));
  expect(found?.text).toBe(killed);
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
  ["another program", "vim", ["$ |"], [], ["INCONSISTENT_STATE", { program: "vim" }]],
  [
    "text behind a right prompt",
    "zsh",
    [`$ |${" ".repeat(20)}a  b`],
    [],
    ["INCONSISTENT_STATE", { row: `$ ${" ".repeat(20)}a  b` }],
  ],
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

test.each<[string, string, string, number, number]>([
  ["one that an editor has announced", EDITING, "$ |", 30, 40],
  ["one that looks like one", "x", "$ |", 150, 160],
  ["one that does not", "x", "welcome |", 4_000, 4_010],
])("a prompt is trusted when it has stayed: %s", async (_what, output, row, fromMs, toMs) => {
  const { pane, context } = shellPane();
  pane.say(output);
  drawn(pane, row);
  pane.answer = editor(pane, row.replace("|", "  |"));
  await pane.during(reachEmptyLine(context, 60_000));
  expect(pane.typed[0]!.atMs).toBeGreaterThanOrEqual(fromMs);
  expect(pane.typed[0]!.atMs).toBeLessThan(toMs);
});

test("output while a prompt is looked at begins the look anew", async () => {
  const { pane, context } = shellPane();
  pane.say("x");
  drawn(pane, "$ |");
  pane.answer = editor(pane, "$ > |".replace("|", "  |"));
  pane.clock.callAt(100, () => drawn(pane, "$ > |"));
  expect(await pane.during(reachEmptyLine(context, 60_000))).toMatchObject({ place: { col: 4 } });
  expect(pane.typed[0]!.atMs).toBeGreaterThanOrEqual(250);
});

test.each<[number, number]>([
  [500, 500],
  [60_000, 10_000],
])("with %i ms no prompt is waited for longer than %i ms", async (timeoutMs, untilMs) => {
  const { pane, context } = shellPane();
  pane.say("starting");
  const startedMs = pane.clock.nowMs();
  const work = reached(reachEmptyLine(context, startedMs + timeoutMs));
  expect(await pane.during(work)).toEqual(["WRONG_STATE", { state: "busy" }]);
  expect(pane.clock.nowMs() - startedMs).toBeLessThan(untilMs + 10);
  expect(pane.clock.nowMs() - startedMs).toBeGreaterThanOrEqual(untilMs);
});

/** @param pid of the pane's first process, which has this name */
async function behindStart(name: string | undefined, output: string, untilMs: number) {
  const { pane, context } = shellPane();
  Object.assign(pane.server, {
    findPane: () => ({ pid: name === undefined ? undefined : 7 }),
    processes: { stat: async (pid: number) => (pid === 7 && name !== "" ? { name } : undefined) },
    describePane: async () => ({ title: "", command: pane.clock.nowMs() < untilMs ? "git" : "bash" }),
  });
  if (output !== "") pane.say(output);
  pane.answer = editor(pane, "$   |");
  pane.clock.callAt(untilMs, () => drawn(pane, "$ |"));
  const result = await pane.during(reached(reachEmptyLine(context, 60_000)));
  return Array.isArray(result) ? [result[0], pane.clock.nowMs()] : "reached";
}

test("a program in front before the first prompt is one that the shell's start-up files run", async () => {
  expect(await behindStart("bash", "", 3_000)).toBe("reached");
  expect(await behindStart("bash", "x", 3_000)).toBe("reached");
  expect(await behindStart("bash", "x", 20_000)).toEqual(["INCONSISTENT_STATE", 10_000]);
});

test.each<[string, string | undefined, string, unknown]>([
  ["a program that may only have been forked", "git", "", 3_000],
  ["a pane whose process is not known", undefined, "", 3_000],
  ["a process that has gone", "", "", 3_000],
  ["a program that has printed", "git", "x", 200],
])("another program is given the time of a fork: %s", async (_what, name, output, atMs) => {
  expect(await behindStart(name, output, 5_000)).toEqual(["INCONSISTENT_STATE", atMs]);
  if (output === "") expect(await behindStart(name, output, 2_500)).toBe("reached");
});

test("a program that draws on the other screen is no shell at its prompt", async () => {
  const { pane, context } = shellPane();
  drawn(pane, "$ |");
  const capture = await pane.server.capture(pane.pane);
  Object.assign(pane.server, { capture: async () => ({ ...capture, alternateScreen: true }) });
  await expect(reachEmptyLine(context, 60_000)).rejects.toMatchObject({ code: "INCONSISTENT_STATE" });
});

test("a pane that goes while its prompt is waited for ends the wait", async () => {
  const { pane, context } = shellPane();
  pane.say("starting");
  pane.clock.callAt(100, () => pane.stream.close(new AppError("NOT_FOUND", "gone")));
  expect(await pane.during(reached(reachEmptyLine(context, 60_000)))).toEqual(["NOT_FOUND", undefined]);
  expect(pane.clock.pendingTimers).toBe(0);
});

test("a caller who leaves while a prompt is waited for leaves nothing behind", async () => {
  const { pane, context } = shellPane();
  const leaving = new AbortController();
  pane.say("starting");
  pane.clock.callAt(100, () => leaving.abort(new Error("left")));
  const work = reachEmptyLine({ ...context, signal: leaving.signal }, 60_000);
  await expect(pane.during(work)).rejects.toThrow("left");
  expect(pane.clock.pendingTimers).toBe(0);
});

test.each<[string, (pane: FakePane) => void, boolean, number]>([
  ["there", () => undefined, true, 0],
  ["there later", (pane) => void pane.clock.callAt(300, () => drawn(pane, "$ ab|")), true, 300],
  [
    "on its way",
    (pane) => [200, 500].forEach((ms, at) => void pane.clock.callAt(ms, () => drawn(pane, ["$ a|", "$ ab|"][at]!))),
    true,
    500,
  ],
  ["elsewhere when its output has ended", (pane) => void pane.clock.callAt(300, () => drawn(pane, "$ a|")), false, 700],
  ["not moved", () => undefined, false, 2_000],
  [
    "never still",
    (pane) =>
      Array.from({ length: 30 }, (_, at) => pane.clock.callAt(at * 70, () => drawn(pane, `$ ${at % 2 ? "a" : ""}|`))),
    false,
    2_000,
  ],
])("the cursor is %s", async (what, happens, comes, atMs) => {
  const { pane, context } = shellPane();
  drawn(pane, what === "there" ? "$ ab|" : "$ |");
  happens(pane);
  const at = [
    { row: 1, col: 4 },
    { row: undefined, col: 4 },
  ];
  expect(await pane.during(cursorComes(context, { at, from: pane.stream.outputSeq }))).toBe(comes);
  expect(pane.clock.nowMs()).toBe(atMs);
});

test("the cursor in another row is not at the place", async () => {
  const { pane, context } = shellPane();
  drawn(pane, "$ ab|");
  const from = pane.stream.outputSeq - 1;
  expect(await pane.during(cursorComes(context, { at: [{ row: 1, col: 4 }], from }))).toBe(false);
});

test("a probe's effect is waited for while its output comes, and no longer", async () => {
  const { pane, context } = shellPane();
  drawn(pane, "$ rm -rf|");
  const capture = await pane.server.capture(pane.pane);
  const from = pane.stream.outputSeq;
  for (const [ms, row] of [
    [1_000, "$ |"],
    [1_100, "$   |"],
  ] as const)
    pane.clock.callAt(ms, () => drawn(pane, row));
  const probed = { kind: "zsh", before: capture } as const;
  expect(await pane.during(killedByProbe(context, { ...probed, from }))).toMatchObject({ text: "rm -rf" });
  expect(pane.clock.nowMs()).toBe(1_250);
  const late = await pane.during(killedByProbe(context, { ...probed, from: pane.stream.outputSeq }));
  expect(late).toMatchObject({ text: "rm -rf" });
  expect(pane.clock.nowMs()).toBe(3_250);
});

test("only fish gets its text back as a paste", async () => {
  const kinds: unknown[] = [];
  for (const kind of ["fish", "zsh", "ansi", "plain"] as const) {
    const { pane, context } = shellPane();
    drawn(pane, "$ x|");
    const before = await pane.server.capture(pane.pane);
    const from = pane.stream.outputSeq;
    drawn(pane, "$   |");
    const killed = await pane.during(killedByProbe(context, { kind, before, from }));
    kinds.push([killed?.text, killed?.back[1]?.kind]);
  }
  expect(kinds).toEqual([
    ["x", "paste"],
    ["x", "text"],
    ["x", "text"],
    ["x", "text"],
  ]);
});
