/** One moment of a pane, or the best of twenty tries; and what of its output is not finished. */
import { expect, test } from "vitest";
import { takeSnapshot } from "../../../../../daemon/panes/screen/snapshot.ts";
import { FakeHistory } from "../../../../support/tmux/fakeHistory.ts";

/** Of a snapshot without history. */
const COMMANDS = 5;

test.each<[string, (at: number) => boolean, boolean, number]>([
  ["in which nothing comes is exact", () => false, true, 1],
  ["in which output comes is taken again", (at) => at === 2, true, 2],
  ["in which output always comes is not exact in the end", (at) => at % COMMANDS === 2, false, 20],
])("a snapshot %s", async (_what, comes, exact, tries) => {
  const history = new FakeHistory();
  for (let at = 0; at < 25 * COMMANDS; at += 1) {
    if (comes(at)) history.before.set(at, () => history.print({ text: "more", goesOn: false }));
  }
  const snapshot = await takeSnapshot(history.context());
  expect([snapshot.exact, history.commands.length]).toEqual([exact, tries * COMMANDS]);
  expect(snapshot.position.outputSeq).toBe(history.stream.outputSeq);
});

test.each([
  ["", 0],
  ["a", 0],
  ["\u00e2\u0082", 2],
  ["\u00e2\u0082\u00ac", 0],
  ["a\u00f0\u009f\u0098", 3],
  ["\u00f0\u009f\u0098\u0080", 0],
  ["\u00c3", 1],
  ["\u0080\u0080\u0080\u0080", 0],
  ["\u00c3a", 0],
])("of output that ends with %j, %i bytes are not finished", async (output, pendingBytes) => {
  const history = new FakeHistory();
  history.print({ text: "row", goesOn: false }, "row\r\n");
  history.stream.take(Buffer.from(output, "latin1"));
  const snapshot = await takeSnapshot(history.context());
  expect(snapshot.pendingBytes).toBe(pendingBytes);
  const end = Buffer.from(snapshot.data).toString("latin1");
  expect(end.slice(end.length - pendingBytes)).toBe(output.slice(output.length - pendingBytes));
});
