/** A silent screen answers nothing: another terminal does, and a second answer would be typed into the program. */
import xterm from "@xterm/headless";
import { expect, test } from "vitest";
import { isFocusReport, muteQueries } from "../../../../adapters/pages/terminalQueries.ts";

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

interface Heard {
  readonly answers: readonly string[];
  readonly copied: readonly string[];
  readonly shown: string | undefined;
}

/** What a screen makes of what a program writes; without `isSilent` xterm alone. */
async function heardAfter(written: string, isSilent?: boolean): Promise<Heard> {
  const terminal = new xterm.Terminal({ allowProposedApi: true, cols: 20, rows: 2 });
  const [answers, copied]: [string[], string[]] = [[], []];
  terminal.onData((data) => answers.push(data));
  if (isSilent !== undefined) {
    muteQueries(terminal.parser, { isSilent: () => isSilent, onClipboard: (text) => copied.push(text) });
  }
  await new Promise<void>((resolve) => {
    terminal.write(written, resolve);
  });
  const shown = terminal.buffer.active.getLine(0)?.translateToString(true);
  terminal.dispose();
  return { answers, copied, shown };
}

test.each(QUESTIONS)("%j is not answered", async (question) => {
  expect((await heardAfter(question, true)).answers).toEqual([]);
});

test("a screen that is not silent answers as xterm does", async () => {
  const all = QUESTIONS.join("");
  const { answers } = await heardAfter(all);
  expect(answers.length).toBeGreaterThan(5);
  expect((await heardAfter(all, false)).answers).toEqual(answers);
});

test("what is drawn is still drawn", async () => {
  const { shown } = await heardAfter(`${ESC}]10;rgb:ff/00/00\u0007a${ESC}[6nb${ESC}[cc`, true);
  expect(shown).toBe("abc");
});

test("OSC 52: text for the clipboard, never a question, and nothing that is no text", async () => {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const copiedBy = async (data: string, isSilent: boolean) =>
    (await heardAfter(`${ESC}]52;${data}\u0007`, isSilent)).copied;
  expect(await copiedBy(`c;${base64("héllo")}`, false)).toEqual(["héllo"]);
  expect(await copiedBy(`c;${base64("héllo")}`, true)).toEqual([]);
  for (const data of [`c;${btoa("héllo")}`, "c;?", "c;", "c;%%%", `c;${"A".repeat(1_048_577)}`])
    expect(await copiedBy(data, false)).toEqual([]);
});

test("reports of focus are told from keys", () => {
  expect([`${ESC}[I`, `${ESC}[O`].every(isFocusReport)).toBe(true);
  expect([`${ESC}[A`, ESC, "I", `${ESC}[I${ESC}[I`].some(isFocusReport)).toBe(false);
});
