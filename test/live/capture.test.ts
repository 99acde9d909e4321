/** What a capture shows, and when it knows its place in the stream (docs/tmuxFacts.md 36). */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownedFixture, type OwnedFixture } from "../support/tmux/ownedFixture.ts";
import { keys, type Program, script, startProgram, text } from "../support/tmux/panePrograms.ts";
import { seen } from "../support/tmux/output.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";

let fixture: OwnedFixture;
let sessions = 0;

beforeAll(async () => {
  fixture = await ownedFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

/** A pane on which `bytes` has been printed. */
async function shown(bytes: string, size: { readonly cols?: number; readonly rows?: number } = {}): Promise<Program> {
  return startProgram(
    fixture.server,
    `shown${(sessions += 1)}`,
    script(
      `process.stdin.on("data", (d) => process.stdout.write(d)); process.stdout.write(${JSON.stringify(`${bytes}\u001b]ready;\u0007`)});`,
    ),
    size,
  );
}

const capture = async (program: Program, options: Parameters<typeof fixture.server.capture>[1] = {}) =>
  fixture.server.capture(program.pane, options);

test("the visible screen, without blank lines at its end", async () => {
  const program = await shown("one\r\n\r\n  three  \r\n\r\n", { cols: 40, rows: 10 });
  expect(await capture(program)).toMatchObject({
    lines: ["one", "", "  three"],
    exact: true,
    cols: 40,
    rows: 10,
    cursor: { col: 0, row: 4 },
    alternateScreen: false,
    position: { epoch: fixture.server.status().epoch, outputSeq: program.source.outputSeq },
  });
});

test("history beyond the screen, by lines", async () => {
  const numbers = Array.from({ length: 300 }, (_unused, index) => `line ${index}`);
  const program = await shown(`${numbers.join("\r\n")}\r\n`, { rows: 10 });
  expect((await capture(program)).lines).toEqual(numbers.slice(-9));
  expect((await capture(program, { lines: 5 })).lines).toEqual(numbers.slice(-5));
  expect((await capture(program, { lines: 250 })).lines).toEqual(numbers.slice(-250));
  expect((await capture(program, { lines: 5_000 })).lines).toEqual(numbers);
  for (const lines of [0, -1, 20_001, 1.5]) {
    await expect(capture(program, { lines })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  }
});

test("wrapped lines, joined and not", async () => {
  const long = "0123456789".repeat(7);
  const program = await shown(`${long}\r\nshort\r\n${long}\r\n`.repeat(40), { cols: 20, rows: 10 });
  expect((await capture(program, { lines: 3 })).lines).toEqual([
    long.slice(20, 40),
    long.slice(40, 60),
    long.slice(60),
  ]);
  expect((await capture(program, { lines: 3, joinWrapped: true })).lines).toEqual([long, "short", long]);
  expect((await capture(program, { lines: 100, joinWrapped: true })).lines).toHaveLength(100);
  expect((await capture(program, { lines: 5_000, joinWrapped: true })).lines).toHaveLength(120);
});

test("colours are kept on demand only", async () => {
  const program = await shown("\u001b[31mred\u001b[0m plain\r\n");
  expect((await capture(program)).lines).toEqual(["red plain"]);
  const { lines } = await capture(program, { ansi: true });
  expect(lines).toEqual(["\u001b[31mred\u001b[39m plain"]);
});

test("the last coloured lines carry the colour they began with", async () => {
  const program = await shown("\u001b[31mone\r\ntwo\r\nthree\u001b[0m\r\nfour\r\n");
  const { lines } = await capture(program, { ansi: true, lines: 3 });
  // From 3.6 on tmux says it at the start of each line, up to 3.5a where it changes.
  // oxlint-disable-next-line no-control-regex -- attributes begin with one
  expect(lines[0]).toMatch(/^\u001b\[(0;)?31mtwo(\u001b\[39m)?$/);
  expect(lines.join("\n")).toMatch(/two[^]*three[^]*four/);
});

test("tabs become spaces as on the screen", async () => {
  const printed = [
    "a\tb",
    "漢\tb",
    "\tx\t\tc\t",
    "e\tfghijklmn\top\tq\tr\ts",
    "blanks  \t",
    "\u001b[31mred\t\u001b[42mgreen\t\u001b[0mend",
  ];
  const program = await shown(`${printed.join("\r\n")}\r\n`, { cols: 30, rows: 10 });
  const red = "red     green   end";
  const rows = [
    "a       b",
    "漢      b",
    "        x               c",
    "e       fghijklmn       op   q",
    "r       s",
    "blanks",
    red,
  ];
  expect((await capture(program)).lines).toEqual(rows);
  expect((await capture(program, { whole: true })).lines).toEqual([...rows, "", "", ""]);
  const joined = await capture(program, { joinWrapped: true });
  expect(joined.lines).toEqual([...rows.slice(0, 3), `${rows[3]}${rows[4]}`, ...rows.slice(5)]);
  const { lines } = await capture(program, { ansi: true });
  // oxlint-disable-next-line no-control-regex -- attributes begin with one
  expect(lines.map((line) => line.replaceAll(/\u001b\[[0-9;]*m/g, "").trimEnd())).toEqual(rows);
  const snapshot = Buffer.from((await fixture.server.snapshot(program.pane)).data).toString();
  expect(snapshot).toContain("a       b");
  expect(snapshot).not.toContain("\t");
  // With stops of its own.
  const own = await shown("\u001b[3g\u001b[5G\u001bH\u001b[11G\u001bH\r1\t2\t3\t4\r\n", { cols: 30, rows: 4 });
  expect((await capture(own)).lines).toEqual(["1   2     3                  4"]);
});

test("wide, combining and private characters", async () => {
  const rows = ["漢字 ｗｉｄｅ", "é e\u0301", "🙂", "\ue0b0 \u{f0000}", "עברית"];
  const program = await shown(`${rows.join("\r\n")}\r\n`);
  expect((await capture(program)).lines).toEqual(rows);
});

test("the alternate screen, and the normal one after it", async () => {
  const program = await shown("normal\r\n\u001b[?1049h\u001b[Halternate");
  expect(await capture(program)).toMatchObject({ lines: ["alternate"], alternateScreen: true });
  await fixture.server.input(program.pane, [text("\u001b[?1049l;back")]);
  await seen(program.source, program.startSeq, ";back");
  expect(await capture(program)).toMatchObject({ alternateScreen: false });
  expect((await capture(program)).lines[0]).toBe("normal");
});

test.runIf(keepsPanes())("a dead pane can be read, a pane that is gone cannot", async () => {
  const { server } = fixture;
  const session = await server.createSession({
    name: "dead",
    command: ["sh", "-c", "echo last words"],
    remainOnExit: true,
  });
  const source = server.output(session.activePane!);
  if (source.exit === undefined) {
    await new Promise<void>((resolve) => {
      source.subscribe({
        advanced: () => undefined,
        gap: () => undefined,
        exited: () => resolve(),
        closed: () => undefined,
      });
    });
  }
  expect((await server.capture(session.activePane!, { lines: 50 })).lines).toContain("last words");
  const program = await shown("here");
  const pending = Promise.allSettled([server.killSession(program.session.id), capture(program)]);
  const [, captured] = await pending;
  if (captured.status === "rejected") expect(captured.reason).toMatchObject({ code: "NOT_FOUND" });
  await expect(capture(program)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("an exact capture matches its position while another pane prints fast", async () => {
  const { server } = fixture;
  const flood = await server.createSession({ name: "flood", command: ["sh", "-c", "while :; do echo flooding; done"] });
  const program = await shown("", { rows: 5 });
  let exact = 0;
  for (let round = 0; round < 30; round += 1) {
    const from = program.source.outputSeq;
    await server.input(program.pane, [text(`round ${round};\r\n`), keys("Enter")]);
    await seen(program.source, from, `round ${round};`);
    const result = await capture(program);
    expect(result.lines).toContain(`round ${round};`);
    if (result.exact) exact += 1;
  }
  expect(exact).toBeGreaterThan(0);
  await server.killSession(flood.id);
});
