import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutAt, cuts } from "../../../protocol/text/cuts.ts";
import { type StreamMark, StreamMarks } from "../../../../../daemon/panes/vt/streamMarks.ts";

function marksOf(chunks: readonly Uint8Array[]): StreamMark[] {
  const marks: StreamMark[] = [];
  const scanner = new StreamMarks({ mark: (mark) => marks.push(mark) });
  for (const chunk of chunks) scanner.push(chunk);
  return marks;
}

const heard = (text: string): StreamMark[] => marksOf([Buffer.from(text)]);
const title = (text: string): StreamMark => ({ kind: "title", title: text });
const paste = (on: boolean): StreamMark => ({ kind: "bracketedPaste", on });

describe("what a program says in its output", () => {
  test.each<[string, StreamMark[]]>([
    ["plain text, no marks; [?2004h 133;A", []],
    ["\u001b]0;✳ Claude\u0007", [title("✳ Claude")]],
    ["\u001b]2;⠂ at work\u001b\\", [title("⠂ at work")]],
    ["\u001b]0;\u0007", [title("")]],
    // A mouse pointer, and marks behind other numbers.
    ["\u001b]22;text\u0007\u001b]1;133;A\u0007\u001b]7;7501;state=idle\u0007\u001b[1\u0007m", []],
    ["\u001b]1;icon\u0007\u001b]4;1;rgb:0/0/0\u0007\u001b]52;c;aGk=\u0007\u001b]8;;x\u0007", []],
    ["\u001bPtmux;\u001b\u001b]0;inside\u0007\u001b\\", []],
    ["\u001b_G\u001b]0;after\u0007", [title("after")]],
    [
      "\u001b]133;A\u0007$ \u001b]133;B\u0007",
      [
        { kind: "shellMark", mark: "prompt" },
        { kind: "shellMark", mark: "prompt" },
      ],
    ],
    ["\u001b]133;C;cmdline=ls\u001b\\", [{ kind: "shellMark", mark: "command" }]],
    ["\u001b]133;A;tmuxwire\u0007", [{ kind: "shellMark", mark: "prompt", isOurs: true }]],
    ["\u001b]133;C;tmuxwire=12ab\u0007", [{ kind: "shellMark", mark: "command", isOurs: true }]],
    ["\u001b]133;D;130\u0007", [{ kind: "shellMark", mark: "done" }]],
    ["\u001b]133;E\u0007\u001b]1337;A\u0007\u001b]133;AB\u0007", []],
    ["\u001b]7501;state=idle\u0007", [{ kind: "agentState", state: "idle" }]],
    ["\u001b]7501;state=done\u0007", [{ kind: "agentState", state: "idle" }]],
    ["\u001b]7501;state=working\u001b\\", [{ kind: "agentState", state: "busy" }]],
    ["\u001b]7501;state=blocked:kind=permission\u0007", [{ kind: "agentState", state: "asking" }]],
    ["\u001b]7501;agent=x;state=working;n=1\u0007", [{ kind: "agentState", state: "busy" }]],
    ["\u001b]7501;state=dreaming\u0007\u001b]7501;mystate=idle\u0007\u001b]7501\u0007", []],
    ["\u001b[?2004h", [paste(true)]],
    ["\u001b[?25;2004l", [paste(false)]],
    ["\u001b[2004h\u001b[?2004$p\u001b[?2004s", []],
    [
      "\u001b[?1049h\u001b[?1049l",
      [
        { kind: "alternateScreen", on: true },
        { kind: "alternateScreen", on: false },
      ],
    ],
    [
      "\u001b[?1047h\u001b[?47l",
      [
        { kind: "alternateScreen", on: true },
        { kind: "alternateScreen", on: false },
      ],
    ],
    // A reset switches it off.
    ["\u001b[?2004h\u001bc\u001bc", [paste(true), paste(false)]],
    ["\u001bc\u001b[?2004l\u001bc", [paste(false)]],
    ["\u001b]0;never ended", []],
    ["\u001b]0;cancelled\u0018\u001b]0;next\u0007", [title("next")]],
  ])("%j", (text, marks) => {
    expect(heard(text)).toEqual(marks);
  });

  test("a title longer than anybody needs is cut, a clipboard of a megabyte costs no memory", () => {
    const [long] = heard(`\u001b]0;✳ ${"x".repeat(10_000)}\u0007`);
    expect(long).toMatchObject({ kind: "title" });
    expect(long?.kind === "title" && long.title.length).toBeLessThan(260);
    expect(heard(`\u001b]52;c;${"A".repeat(1_000_000)}\u0007\u001b]0;after\u0007`)).toEqual([title("after")]);
  });

  test("a hole forgets the sequence it has cut", () => {
    const marks: StreamMark[] = [];
    const scanner = new StreamMarks({ mark: (mark) => marks.push(mark) });
    scanner.push(Buffer.from("\u001b]0;half"));
    scanner.reset();
    scanner.push(Buffer.from("of it\u0007\u001b]0;whole\u0007"));
    expect(marks).toEqual([title("whole")]);
  });

  test("however the stream is cut, the same marks come", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "\u001b]0;✳ a\u0007",
        "\u001b]2;⠂ b\u001b\\",
        "\u001b]133;C\u0007",
        "\u001b]7501;state=blocked:kind=x\u0007",
        "\u001b[?2004h",
        "\u001b[?1;2004;1049l",
        "\u001bP\u001b]0;no\u001b\\",
        "\u001b",
        "\u001b]",
        "\u0007",
        "text ❯ 1. Yes\r\n",
      ),
      fc.string({ maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), cuts, (pieces, places) => {
        const bytes = Buffer.from(pieces.join(""));
        expect(marksOf(cutAt(bytes, places))).toEqual(marksOf([bytes]));
        expect(marksOf(cutAt(bytes, [...bytes.keys()]))).toEqual(marksOf([bytes]));
      }),
    );
  });
});
