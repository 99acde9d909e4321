/** A screen in the page answers nothing: tmux already has, and a second answer would be typed into the program. */
import xterm from "@xterm/headless";
import { expect, test } from "vitest";
import { isFocusReport, silence } from "../../../../../adapters/dashboard/page/ui/silence.ts";

const ESC = "\u001b";
const QUESTIONS = [
  `${ESC}[c`,
  `${ESC}[0c`,
  `${ESC}[>c`,
  `${ESC}[>0c`,
  `${ESC}[=c`,
  `${ESC}[5n`,
  `${ESC}[6n`,
  `${ESC}[?6n`,
  `${ESC}[?15n`,
  `${ESC}[4$p`,
  `${ESC}[?2004$p`,
  `${ESC}[>q`,
  `${ESC}[14t`,
  `${ESC}[18t`,
  `${ESC}[21t`,
  `${ESC}P$qm${ESC}\\`,
  `${ESC}P$qr${ESC}\\`,
  `${ESC}P+q544e${ESC}\\`,
  `${ESC}]4;1;?${ESC}\\`,
  `${ESC}]10;?${ESC}\\`,
  `${ESC}]11;?\u0007`,
  `${ESC}]12;?\u0007`,
  `${ESC}]10;?;?;?\u0007`,
  `${ESC}]52;c;?\u0007`,
  `${ESC}Z`,
];

async function answersTo(question: string, isSilent: boolean): Promise<string[]> {
  const terminal = new xterm.Terminal({ allowProposedApi: true });
  const answers: string[] = [];
  terminal.onData((data) => answers.push(data));
  if (isSilent) silence(terminal.parser);
  await new Promise<void>((resolve) => {
    terminal.write(question, resolve);
  });
  terminal.dispose();
  return answers;
}

test.each(QUESTIONS)("%j is not answered", async (question) => {
  expect(await answersTo(question, true)).toEqual([]);
});

test("without it some of them would be", async () => {
  const answered = await Promise.all(QUESTIONS.map(async (question) => (await answersTo(question, false)).length > 0));
  expect(answered.filter(Boolean).length).toBeGreaterThan(5);
});

test("what is drawn is still drawn", async () => {
  const terminal = new xterm.Terminal({ allowProposedApi: true, cols: 20, rows: 2 });
  silence(terminal.parser);
  await new Promise<void>((resolve) => {
    terminal.write(`${ESC}]10;rgb:ff/00/00\u0007a${ESC}[6nb${ESC}[cc`, resolve);
  });
  expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe("abc");
  terminal.dispose();
});

test("reports of focus are told from keys", () => {
  expect([`${ESC}[I`, `${ESC}[O`].every(isFocusReport)).toBe(true);
  expect([`${ESC}[A`, ESC, "I", `${ESC}[I${ESC}[I`].some(isFocusReport)).toBe(false);
});
