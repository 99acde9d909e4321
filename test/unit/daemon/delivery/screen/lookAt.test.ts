/** What a pane shows of a text, in its box and above it, the history included. */
import { expect, test, vi } from "vitest";
import { DeliveryEngine } from "../../../../../daemon/delivery/deliveryEngine.ts";
import type { Look } from "../../../../../daemon/delivery/delivery.ts";
import { RULE } from "../../../../support/agents/boxPane.ts";
import { FakePane } from "../../../../support/agents/fakePane.ts";

const LONG = `${"word ".repeat(12)}and its end`;

/** @param history rows above the screen */
function look(text: string | undefined, screen: readonly string[], history: readonly string[] = []): Promise<Look> {
  const pane = new FakePane("claude");
  pane.draw(screen, { col: 2, row: 1 });
  const capture = pane.server.capture.bind(pane.server);
  pane.server.capture = async (id, options) => {
    const now = await capture(id, options);
    const lines = options?.lines === undefined ? now.lines : [...history, ...now.lines];
    return { ...now, lines, rows: screen.length };
  };
  const delivery = new DeliveryEngine({ readiness: pane.readiness, clock: pane.clock, nowUnixMs: () => 0 });
  return pane.during(delivery.look({ server: pane.server, pane: pane.pane, text }));
}

const box = (typed: string, ...above: readonly string[]): string[] => [...above, RULE, `❯ ${typed}`, RULE];
const nothing = { holds: false, shows: false, since: undefined };

test.each<[string, string | undefined, readonly string[], readonly string[], Partial<Look>]>([
  ["no text", undefined, box("fix it", "> fix it"), [], { ...nothing, typed: "fix it" }],
  ["the text in the box", "fix it", box("fix it"), [], { ...nothing, typed: "fix it", holds: true }],
  ["more than the text in the box", "fix it", box("fix it now"), [], { ...nothing, typed: "fix it now" }],
  [
    "the word for a paste in the box",
    "a\nb\nc\nd\ne",
    box("[Pasted text #1 +4 lines]"),
    [],
    { ...nothing, holds: true },
  ],
  ["the word for a paste, and more", "a\nb\nc\nd\ne", box("[Pasted text #1 +4 lines] x"), [], nothing],
  ["an emoji in the box", "🎉", box("🎉"), [], { ...nothing, holds: true }],
  ["another emoji in the box", "🎉", box("😀"), [], nothing],
  ["a frame character instead of an emoji in the box", "🎉", box("■"), [], nothing],
  ["an emoji instead of the text in the box", "fix it", box("😀"), [], nothing],
  ["an empty box", "fix it", box(""), [], { ...nothing, typed: "" }],
  ["no box", "fix it", ["Working"], [], { ...nothing, typed: undefined }],
  [
    "the text above it, and what came since",
    "fix it",
    box("", "> fix it", "", "", "● done", "", ""),
    [],
    { shows: true, since: "● done" },
  ],
  [
    "the last of several",
    "fix it",
    box("", "> fix it", "● one", "> fix it", "● two"),
    [],
    { shows: true, since: "● two" },
  ],
  [
    "the text in the history",
    "fix it",
    box("", "● more"),
    ["> fix it", "● done  "],
    { shows: true, since: "● done\n● more" },
  ],
  [
    "an answer that quotes it",
    "fix it",
    box("", "> fix it", "", "● you said: fix it", "", "● done"),
    [],
    { shows: true, since: "● you said: fix it\n\n● done" },
  ],
  [
    "an answer that quotes it, where what was typed is wrapped",
    "please fix the failing test",
    box("", "  > please fix", "    the failing test", "", "● please fix the failing test: done"),
    [],
    { shows: true, since: "● please fix the failing test: done" },
  ],
  [
    "a quotation alone, where what was typed has gone",
    "fix it",
    box("", "● you said: fix it", "", "● done"),
    [],
    { shows: true, since: "● done" },
  ],
  ["nothing since", "fix it", box("", "> fix it"), [], { shows: true, since: "" }],
  [
    "the beginning of a text that is folded",
    `first line of it\n${LONG}`,
    box("", "> first line of it …", "● x"),
    [],
    { shows: true, since: "● x" },
  ],
  [
    "the shortest beginning that is not met by chance",
    `fix these\n${LONG}`,
    box("", "> fix these …", "● x"),
    [],
    { shows: true, since: "● x" },
  ],
  ["a short beginning, which is met by chance", `fix\n${LONG}`, box("", "> fix …"), [], { shows: false }],
  [
    "a text that is wrapped, by the row in which it ends",
    "please fix the failing test",
    box("", "> please fix", "  the failing test", "● x"),
    [],
    { shows: true, since: "● x" },
  ],
  [
    "a text that is wrapped, where an earlier one was not",
    "please fix the failing test",
    box(
      "",
      "> please fix the failing test",
      ...Array<string>(8).fill("● x"),
      "> please fix",
      "  the failing test",
      "● y",
    ),
    [],
    { shows: true, since: "● y" },
  ],
  ["a text of nothing visible, and an empty box", "\u200b", box(""), [], nothing],
  ["a text in the box that stood nowhere above", "fix it", box("fix it", "● x"), [], { shows: false }],
])("%s", async (_what, text, screen, history, expected) => {
  expect(await look(text, screen, history)).toMatchObject(expected);
});

test("of what came since, no more than is looked through in an answer", async () => {
  const rows = Array.from({ length: 400 }, () => "x".repeat(99));
  const { since } = await look("fix it", box(""), ["> fix it", ...rows]);
  expect(since).toHaveLength(20_000);
});

test("what came since begins with no half of a letter", async () => {
  const { since } = await look("fix it", box(""), ["> fix it", `${"😀".repeat(10_000)}x`]);
  expect(since).toBe(`${"😀".repeat(9_999)}x`);
});

test("a text that stands nowhere in a long history costs each of its rows one reading", async () => {
  const rows = Array.from({ length: 1_000 }, (_, row) => `● row ${row} of an answer`);
  const normalize = vi.spyOn(String.prototype, "normalize");
  expect(await look("please fix the failing test", box(""), rows)).toMatchObject({ shows: false });
  expect(normalize.mock.calls.length).toBeLessThan(2 * rows.length);
});
