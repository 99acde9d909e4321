/**
 * Echoes of programs that are not at hand here (zsh's zle, fish, TUIs), written after what they are known to print, and the
 * borders of what counts as an echo.
 */
import { expect, test } from "vitest";
import { outcomeOf, re2Done, turns, waitBench } from "../waitFixture.ts";

interface Shape {
  readonly before?: string;
  readonly typed: string;
  readonly output: readonly string[];
  readonly pattern: string;
  /** The place of the real match: the text that stands before it in the output, with all its occurrences. */
  readonly after: string | undefined;
  readonly isRegex?: boolean;
}

const SHAPES: Readonly<Record<string, Shape>> = {
  "zle: every character written twice": {
    before: "\x1b[?2004hmac% ",
    typed: "echo DONE\r",
    output: ["e\bec\bch", "\bho D\bDO\bON\bNE\x1b[?2004l\r\r\n", "DONE\r\n"],
    pattern: "DONE",
    after: "e\bec\bch\bho D\bDO\bON\bNE\x1b[?2004l\r\r\n",
  },
  "fish: the row is drawn again with colours and a suggestion behind the cursor": {
    before: "\x1b[?2004h~> ",
    typed: "echo DONE\r",
    output: [
      "\x1b[31me\x1b[90mcho DONE twice\x1b[16D\x1b[0m",
      "\r\x1b[3C\x1b[36mecho\x1b[0m DO\x1b[90mNE twice\x1b[8D\x1b[0m",
      "\r\x1b[3C\x1b[36mecho\x1b[0m DONE\x1b[K\r\n\x1b[?2004l",
      "DONE\r\n",
    ],
    pattern: "DONE",
    after: "DONE\x1b[K\r\n\x1b[?2004l",
  },
  "a letter is corrected after the cursor has gone back to it": {
    typed: "echo DONE\r",
    output: ["echo DOM", "E\b\bNE\r\n", "DONE\r\n"],
    pattern: "NE",
    after: "echo DOME\b\bNE\r\nDO",
  },
  "the line goes on in the next row": {
    typed: "echo DONE\r",
    output: ["echo DO", "\r\n", "NE\r\n", "DONE\r\n"],
    pattern: "NE",
    after: "echo DO\r\nNE\r\nDO",
  },
  "the line goes on in the next row, in one chunk": {
    typed: "echo DONE\r",
    output: ["echo DO\r\nNE\r\nDONE\r\n"],
    pattern: "NE",
    after: "echo DO\r\nNE\r\nDO",
  },
  "the tty's echo of a line without Enter, behind which the shell begins to edit": {
    before: "\x1b[?2004l\r",
    typed: "echo DONE",
    output: ["echo DONE\x1b[?2004hbash-5.2# ", "echo DONE", "\r\n\x1b[?2004l\rDONE\r\n"],
    pattern: "DONE",
    after: "echo DONE\x1b[?2004hbash-5.2# echo DONE\r\n\x1b[?2004l\r",
  },
  "the prompt is drawn again in front of the echo": {
    typed: "make\r",
    output: ["\r\x1b[K[1]+ Done  sleep\r\n\x1b[?2004h$ ", "make\r\n\x1b[?2004l\r", "make: done\r\n"],
    pattern: "make",
    after: "make\r\n\x1b[?2004l\r",
  },
  "a program that prints the command it runs": {
    typed: "echo DONE\r",
    output: ["echo DONE\r\n", "+ echo DONE\r\nDONE\r\n"],
    pattern: "echo DONE",
    after: "echo DONE\r\n+ ",
  },
  "output that only begins like the command, without an echo": {
    typed: "DONE now\r",
    output: ["DONE", " never\r\n"],
    pattern: "DONE",
    after: "",
  },
  "a line that goes on behind the typed text is output": {
    typed: "DONE\r",
    output: ["DONE: all of it\r\n"],
    pattern: "DONE",
    after: "",
  },
  "a letter typed without Enter, and a word that begins with it": {
    typed: "q",
    output: ["quit\r\n"],
    pattern: "quit",
    after: "",
  },
  "text typed without Enter": {
    typed: "DONE",
    output: ["DO", "NE", "\r\nDONE\r\n"],
    pattern: "DONE",
    after: "DONE\r\n",
  },
  "the same command typed again by its output": {
    typed: "hello\r",
    output: ["hello\r\n", "hello\r\n"],
    pattern: "^hello$",
    after: "hello\r\n",
    isRegex: true,
  },
  "a regex does not begin in the echo": {
    typed: "echo DONE\r",
    output: ["$ echo DONE\r\n", "DO", "NE\r\n$ "],
    pattern: "D\\w+E",
    after: "$ echo DONE\r\n",
    isRegex: true,
  },
  "a regex over lines does not reach over the echo": {
    typed: "echo DONE\r",
    output: ["first\r\n$ echo DONE\r\nother\r\n"],
    pattern: "first\\s+other",
    after: undefined,
    isRegex: true,
  },
  "nothing but keys is typed: nothing is hidden": {
    typed: "\x03\r",
    output: ["^C\r\nDONE\r\n"],
    pattern: "^C",
    after: "",
  },
  "the echo and the answer in one chunk with an escape between": {
    before: "\x1b[?2004h$ ",
    typed: "date\r",
    output: ["date\r\n\x1b[?2004l\rdate is today\r\n\x1b[?2004h$ "],
    pattern: "date",
    after: "date\r\n\x1b[?2004l\r",
  },
  "an echo long after the typing, behind another command's output": {
    before: "",
    typed: "echo DONE\r",
    output: ["building\r\n".repeat(50), "\x1b[?2004h$ echo DONE\r\n\x1b[?2004l\rDONE\r\n"],
    pattern: "DONE",
    after: `${"building\r\n".repeat(50)}\x1b[?2004h$ echo DONE\r\n\x1b[?2004l\r`,
  },
};

const CUTS: Readonly<Record<string, (output: readonly string[]) => readonly string[]>> = {
  "as given": (output) => output,
  "by bytes": (output) => Array.from(output.join("")),
  whole: (output) => [output.join("")],
};

for (const [name, shape] of Object.entries(SHAPES)) {
  for (const [cut, chunksOf] of Object.entries(CUTS)) {
    test(`${name} (${cut})`, async () => {
      const { source, waits, clock } = waitBench();
      source.write(shape.before ?? "");
      const head = source.outputSeq;
      const kind = shape.isRegex === true ? "regex" : "literal";
      const request = { pattern: { kind, text: shape.pattern }, excludeEcho: Buffer.from(shape.typed) } as const;
      const wait = waits.wait(source, request);
      for (const chunk of chunksOf(shape.output)) {
        source.write(chunk);
        await Promise.resolve();
      }
      await re2Done(waits);
      await turns();
      await re2Done(waits);
      clock.advanceMs(100);
      const outcome = await outcomeOf(wait);
      const at = typeof outcome === "object" && "matched" in outcome ? outcome.matched[0]?.from?.outputSeq : outcome;
      const all = shape.output.join("");
      const wanted = shape.after === undefined ? undefined : all.indexOf(shape.after) + shape.after.length;
      expect(at).toBe(wanted === undefined ? "pending" : head + Buffer.byteLength(all.slice(0, wanted)));
    });
  }
}

test.each<[string, number, readonly string[], boolean]>([
  ["within the window is hidden", 60, ["make\r\n"], true],
  ["that has begun within the window is hidden", 62, ["ma", "ke", "\r\n"], true],
  ["past the window is output", 65, ["make\r\n"], false],
])("an echo %s", async (_what, bytes, chunks, isHidden) => {
  const { source, waits } = waitBench({ echoWindowBytes: 64 });
  const wait = waits.wait(source, { pattern: { kind: "literal", text: "make" }, excludeEcho: Buffer.from("make\r") });
  source.write(`${"x".repeat(bytes - 2)}\r\n`);
  for (const chunk of chunks) {
    await turns();
    source.write(chunk);
  }
  expect((await outcomeOf(wait)) === "pending").toBe(isHidden);
  source.write("make: done\r\n");
  expect(await outcomeOf(wait)).toMatchObject({ matched: [{ text: "make" }] });
});
