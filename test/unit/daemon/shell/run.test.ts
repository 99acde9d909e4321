/** The line typed into a shell, and a command's output cut out of a stream that is cut anywhere. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type MarkedOutput, MarkScanner } from "../../../../daemon/shell/markScanner.ts";
import {
  erasingLine,
  isReadWhole,
  type LinePlace,
  marksOf,
  SHELL_INTEGRATION_MARKS,
  shellKind,
  shellLine,
} from "../../../../daemon/shell/shellLine.ts";

const NONCE = "aBcDeFgHiJ";
const SECRET = "1234567890";
const START = `\u001b]5151;${NONCE};C;${SECRET}\u0007`;
const end = (status: number, secret = SECRET): string => `\u001b]5151;${NONCE};D;${status};${secret}\u0007`;

describe("the typed line", () => {
  test.each([
    ["bash", "ansi"],
    ["-zsh", "zsh"],
    ["/usr/bin/dash", "plain"],
    ["fish", "fish"],
    ["vim", undefined],
    ["bash-completion", undefined],
    ["", undefined],
  ])("%s is %s", (command, kind) => {
    expect(shellKind(command)).toBe(kind);
  });

  test("is quoted as the shell quotes", () => {
    const middle = (line: string) => /; eval ([^]*); printf /.exec(line)?.[1];
    expect(middle(shellLine("ansi", "it's", NONCE))).toBe("'it'\\''s'");
    expect(middle(shellLine("ansi", "a\tb\n'\\!", NONCE))).toBe("$'a\\011b\\012\\'\\\\\\041'");
    expect(middle(shellLine("plain", "a\nb", NONCE))).toBe("'a\nb'");
    expect(middle(shellLine("fish", "it's \\n", NONCE))).toBe("'it\\'s \\\\n'");
    expect(middle(shellLine("fish", "a\tb\u0003", NONCE))).toBe("'a'\\x09'b'\\x03''");
    // A C1 control is two bytes in UTF-8.
    expect(middle(shellLine("ansi", "\u0085", NONCE))).toBe("$'\\302\\205'");
    expect(shellLine("fish", "x", NONCE)).toMatch(/ \$status \$_tw$/);
    expect(shellLine("plain", "x", NONCE)).toMatch(/ \$\? \$_tw$/);
  });

  test("never holds the marks' own bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (command) => {
        fc.pre(!command.includes("\0"));
        const line = shellLine("ansi", command, NONCE);
        expect(line).not.toMatch(marksOf(NONCE).start);
        expect(line).not.toMatch(marksOf(NONCE).end(undefined));
        expect(line).not.toMatch(/\p{Cc}/u);
      }),
    );
  });

  test.each(["a\u0003b", "a\tb"])("refuses %j where it cannot be quoted", (command) => {
    expect(() => shellLine("plain", command, NONCE)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  test.each(["touch a\0b", "\ud800"])("refuses %j everywhere", (command) => {
    for (const kind of ["ansi", "zsh", "plain", "fish"] as const) {
      expect(() => shellLine(kind, command, NONCE)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    }
  });

  test("removes itself by as many rows as it takes, and never ends at the screen's edge", () => {
    const place = fc.record({
      col: fc.nat(60),
      cols: fc.integer({ min: 61, max: 300 }),
      rows: fc.integer({ min: 8, max: 60 }),
    });
    const shell = fc.constantFrom("bash", "zsh", "fish", "dash", "mksh");
    fc.assert(
      fc.property(shell, fc.string({ unit: "grapheme-ascii", maxLength: 300 }), place, (name, command, at) => {
        const erasing = erasingLine(name, command, NONCE, at);
        if (erasing === undefined) return;
        const {
          line,
          places: [{ rowsBelow, col }],
        } = erasing;
        const cells = at.col + line.length;
        expect([rowsBelow, col]).toEqual([Math.floor(cells / at.cols), cells % at.cols]);
        expect(col).not.toBe(0);
        expect(rowsBelow).toBeLessThan(at.rows - 1);
        // From the row behind its Enter to its first one, and to the end of the prompt.
        expect(line).toContain(`\\033[${rowsBelow + 1}A\\033[${at.col + 1}G\\033[J%s\\r\\n`);
        expect(line).not.toMatch(/\p{Cc}/u);
      }),
    );
  });

  test.each<[string, string, LinePlace]>([
    ["it would scroll its own first row away", "true", { col: 2, cols: 20, rows: 10 }],
    ["a shell shows the command in its own way", "printf 'a\tb'", { col: 2, cols: 80, rows: 24 }],
    ["the shell asks for the rest of the command", "echo a\necho b", { col: 2, cols: 80, rows: 24 }],
  ])("stays where %s", (_, command, place) => {
    expect(erasingLine("dash", command, NONCE, place)).toBeUndefined();
  });

  test("is replaced by the command in bash's history, and joined by it in zsh's", () => {
    const place = { col: 2, cols: 80, rows: 24 };
    expect(erasingLine("bash", "ls", NONCE, place)?.line).toContain('history -s -- "$_twc"');
    expect(erasingLine("zsh", "ls", NONCE, place)?.line).toContain('print -rs -- "$_twc"');
    expect(erasingLine("dash", "ls", NONCE, place)?.line).not.toContain("history");
  });

  test("refuses what a cooked line cannot hold", () => {
    expect(() => shellLine("plain", "x".repeat(4_000), NONCE)).toThrow("about 4,000 bytes");
    expect(shellLine("ansi", "x".repeat(60_000), NONCE)).toHaveLength(60_000 + shellLine("ansi", "", NONCE).length);
  });
});

/** Feeds a stream in pieces; the output, and where the stream had come to. */
function scan(
  stream: Buffer,
  cuts: readonly number[],
  maxBytes = 1_000_000,
  marks = marksOf(NONCE),
): MarkedOutput | undefined {
  const scanner = new MarkScanner(marks, 0, maxBytes);
  let at = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), stream.length]) {
    const output = scanner.push(stream.subarray(at, cut));
    if (output !== undefined) return output;
    at = cut;
  }
  return undefined;
}

describe("the scanner", () => {
  const bytes = fc.uint8Array({ maxLength: 600 });

  test("finds the output however the stream is cut", () => {
    fc.assert(
      fc.property(
        bytes,
        bytes,
        fc.integer({ min: 0, max: 255 }),
        fc.array(fc.nat(1_400)),
        (before, output, status, cuts) => {
          const stream = Buffer.concat([
            before,
            Buffer.from(START),
            output,
            Buffer.from(end(status)),
            Buffer.from("$ "),
          ]);
          const from = before.length + START.length;
          expect(
            scan(
              stream,
              cuts.filter((cut) => cut <= stream.length),
            ),
          ).toEqual({
            bytes: Buffer.from(output),
            from,
            to: from + output.length,
            status,
            gaps: [],
          });
        },
      ),
    );
  });

  test("keeps the newest bytes and declares the others", () => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.integer({ min: 1, max: 500 }), fc.array(fc.nat(3_200)), (length, max, cuts) => {
        const output = Buffer.from(Uint8Array.from({ length }, (_, index) => index % 251));
        const stream = Buffer.concat([Buffer.from(START), output, Buffer.from(end(0))]);
        const found = scan(
          stream,
          cuts.filter((cut) => cut <= stream.length),
          max,
        );
        const dropped = Math.max(0, length - max);
        expect(found?.bytes).toEqual(output.subarray(dropped));
        const gap = { from: START.length, to: START.length + dropped, reason: "evicted" };
        expect(found?.gaps).toEqual(dropped === 0 ? [] : [gap]);
      }),
    );
  });

  test("takes no other nonce and no echo for a mark", () => {
    const other = START.replace(NONCE, "0000000000") + end(1).replace(NONCE, "0000000000");
    const echo = shellLine("ansi", "x", NONCE);
    const stream = Buffer.from(`${echo}\r\n${START}${other}${echo}${end(4)}`);
    expect(scan(stream, [])).toMatchObject({ status: 4, bytes: Buffer.from(other + echo) });
  });

  test("takes no end without the start's secret", () => {
    const forged = end(0, "987654321") + end(0, "") + `\u001b]5151;${NONCE};D;0\u0007`;
    expect(scan(Buffer.from(forged + START + forged + end(7)), [])).toMatchObject({
      status: 7,
      bytes: Buffer.from(forged),
    });
  });

  test("a hole before the start mark stands for it, one after it is declared", () => {
    const gap = { from: 10, to: 11, reason: "paused" } as const;
    const early = new MarkScanner(marksOf(NONCE), 0, 100);
    early.push(Buffer.from("0123456789"));
    early.gap(gap);
    expect(early.push(Buffer.from(`tail${end(2)}`))).toMatchObject({
      bytes: Buffer.from("tail"),
      from: 11,
      status: 2,
      gaps: [gap],
    });
    const late = new MarkScanner(marksOf(NONCE), 0, 100);
    late.push(Buffer.from(`${START}one`));
    late.gap({ ...gap, from: START.length + 3, to: START.length + 4 });
    expect(late.push(Buffer.from(`two${end(0)}`))).toMatchObject({
      bytes: Buffer.from("onetwo"),
      to: START.length + 7,
    });
  });

  test("reads the shell's own marks, with parameters, either terminator, and without a start", () => {
    const marks = SHELL_INTEGRATION_MARKS;
    const whole = "ls\r\n\u001b]133;C;cmdline=ls\u001b\\out\r\n\u001b]133;D;3\u0007\u001b]133;A\u0007";
    expect(scan(Buffer.from(whole), [], 100, marks)).toMatchObject({ bytes: Buffer.from("out\r\n"), status: 3 });
    expect(scan(Buffer.from("ls\r\nout\r\n\u001b]133;D\u0007"), [], 100, marks)).toMatchObject({
      bytes: Buffer.from("out\r\n"),
      status: undefined,
    });
  });
});

test("a shell's own marks with a secret: only the end that has it ends the command", () => {
  const mark = (rest: string): string => `\u001b]133;${rest}\u0007`;
  const forged =
    mark("D;0") + mark("D;0;tmuxwire=") + mark("D;0;tmuxwire=7") + mark("C;tmuxwire=7") + mark("D;1;tmuxwire=7");
  const whole = `ls\r\n${mark("C;tmuxwire=12ab-3")}${forged}out\r\n${mark("D;4;tmuxwire=12ab-3")}${mark("A;tmuxwire")}`;
  expect(scan(Buffer.from(whole), [], 100, SHELL_INTEGRATION_MARKS)).toMatchObject({
    bytes: Buffer.from(`${forged}out\r\n`),
    status: 4,
  });
});

describe("commands that are typed as they are", () => {
  test.each([
    "true",
    "echo marked; (exit 5)",
    String.raw`printf 'one\ntwo\n'`,
    'echo "$?"',
    "ls -la | wc -l && echo $HOME || false",
    "ls >/tmp/x 2>&1 <y;",
    "[ -f x ]",
    "FOO=bar make -j4",
    "echo 'a!b' é日本 \"it's\"",
    "echo 'if true'",
  ])("%s", (command) => {
    expect(isReadWhole("ansi", command)).toBe(true);
  });

  test.each([
    "",
    "echo 'abc",
    'echo "abc',
    "echo a!b",
    'echo "a!b"',
    "^a^b",
    "if true",
    "for i in 1 2; do echo $i; done",
    "cat <<X",
    String.raw`echo \ `,
    String.raw`echo 'a\'`,
    "ls |",
    "ls &&",
    "(ls",
    "f() echo",
    "{ ls",
    "[[ a",
    "# no",
    "echo $(ls)",
    "echo `ls`",
    "sleep 1 &",
    "a\tb",
    "a\nb",
    `echo ${"a".repeat(1_000)}`,
  ])("not: %s", (command) => {
    expect(isReadWhole("ansi", command)).toBe(false);
  });

  test("fish reads less", () => {
    const read = ["true", "echo 'a=b' | wc -l; false", 'echo "$HOME"'];
    const refused = ["(exit 3)", "echo $?", 'echo "$?"', "a=b", "true; A=b env", "break", "echo a[1]", "if true"];
    expect(read.filter((command) => !isReadWhole("fish", command))).toEqual([]);
    expect(refused.filter((command) => isReadWhole("fish", command))).toEqual([]);
  });

  test("the longest ones take no time", () => {
    const fromMs = performance.now();
    for (const part of ["a", "a ", "a;", "(", "(a ", " ", "1>b ", "'", '"a" ', "$a"])
      for (const last of ["", "'", "|"]) isReadWhole("ansi", part.repeat(1_000 / part.length).slice(0, 999) + last);
    expect(performance.now() - fromMs).toBeLessThan(10_000);
  });
});

test("a command that was given up: its output without the row of the prompt", () => {
  const scanner = new MarkScanner(marksOf(NONCE), 100, 1_000);
  expect(scanner.push(Buffer.from(`typed\r\n${START}one\r\n^C\r\n$ `))).toBeUndefined();
  const { bytes, status, from, to } = scanner.giveUp();
  expect([Buffer.from(bytes).toString(), status]).toEqual(["one\r\n^C\r\n", undefined]);
  expect([from, to - from]).toEqual([100 + `typed\r\n${START}`.length, bytes.length]);
});
