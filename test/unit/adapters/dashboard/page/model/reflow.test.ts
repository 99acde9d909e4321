/** A terminal's screen as lines that can be wrapped to another width. */
import xterm from "@xterm/headless";
import { expect, test } from "vitest";
import { reflowedLines } from "../../../../../../adapters/dashboard/page/model/reflow.ts";

const [COLS, ROWS] = [20, 6];

/** What a terminal of these columns shows of this output. */
async function linesOf(output: string, hasCursor = false) {
  const terminal = new xterm.Terminal({ cols: COLS, rows: ROWS, allowProposedApi: true, scrollback: 1_000 });
  await new Promise<void>((drawn) => {
    terminal.write(output, drawn);
  });
  const lines = reflowedLines({ buffer: terminal.buffer.active, rows: ROWS, hasCursor });
  terminal.dispose();
  return lines;
}

const textOf = ({ runs }: Awaited<ReturnType<typeof linesOf>>[number]): string => runs.map(({ text }) => text).join("");

test("what was wrapped is one line, what ended is not, and blanks at the end are gone", async () => {
  const long = "a long line that needs three rows of them";
  expect((await linesOf(`${long}\r\n  short   \r\n\r\nlast\r\n\r\n`)).map(textOf)).toEqual([
    long,
    "  short",
    "",
    "last",
  ]);
});

test("a wide character that did not fit leaves no blank", async () => {
  expect((await linesOf(`${"x".repeat(19)}中文 é`)).map(textOf)).toEqual([`${"x".repeat(19)}中文 é`]);
});

test("what has scrolled away is there, as much as is worth it", async () => {
  const output = Array.from({ length: 400 }, (_none, at) => `line ${at}`).join("\r\n");
  const lines = (await linesOf(output)).map(textOf);
  expect([lines.length, lines.at(-1)]).toEqual([200 + ROWS, "line 399"]);
});

test("colours and attributes are kept; the cursor and what is inverse change sides", async () => {
  const [line] = await linesOf(
    "p\x1b[31mr\x1b[1mR\x1b[0m\x1b[38;5;196;48;5;250mi\x1b[38;2;1;2;3mc\x1b[7mv\x1b[0;2;3;4;9md\x1b[0;8mhidden\x1b[0m",
    true,
  );
  expect(line!.runs).toEqual([
    { text: "p", colour: undefined, ground: undefined, classes: "" },
    { text: "r", colour: "#cc0000", ground: undefined, classes: "" },
    { text: "R", colour: "#ef2929", ground: undefined, classes: "bold" },
    { text: "i", colour: "rgb(255 0 0)", ground: "rgb(188 188 188)", classes: "" },
    { text: "c", colour: "#010203", ground: "rgb(188 188 188)", classes: "" },
    { text: "v", colour: "rgb(188 188 188)", ground: "#010203", classes: "inverse" },
    { text: "d", colour: undefined, ground: undefined, classes: "dim italic underlined struck" },
    { text: "      ", colour: undefined, ground: undefined, classes: "" },
    { text: " ", colour: undefined, ground: undefined, classes: "inverse" },
  ]);
});

test("a rule is told, and the right side of a frame is left away", async () => {
  const lines = await linesOf(`${"─".repeat(COLS)}\r\n│ > text          │\r\nend`);
  expect(lines.map((line) => [textOf(line), line.isRule])).toEqual([
    ["─".repeat(COLS), true],
    ["│ > text", false],
    ["end", false],
  ]);
});

test("a line has the same key exactly as long as it is the same", async () => {
  const keys = async (output: string) => (await linesOf(output)).map(({ key }) => key);
  const [first, second, third] = await keys("one\r\n\x1b[31mone\x1b[0m\r\none");
  expect(first).toBe(third);
  expect(first).not.toBe(second);
});
