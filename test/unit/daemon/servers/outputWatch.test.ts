/** Panes that may have been turned off for our client, over a fake transport and a clock moved by hand. */
import { expect, test } from "vitest";
import { featuresOf } from "../../../../daemon/connection/tmuxFeatures.ts";
import { OutputWatch } from "../../../../daemon/servers/outputWatch.ts";
import type { PaneId, SessionId, WindowId } from "../../../../protocol/ids.ts";
import { fakeConnection, turn } from "../../../support/tmux/fakeTransport.ts";

const SESSION = "$0" as SessionId;
const PANE = "%7" as PaneId;
const ON = 'refresh-clien -A "%7:on"';
const START_MS = 1_000_000_000;

function scene(hasOtherReader = false) {
  const { connection, transport } = fakeConnection();
  const other = fakeConnection();
  const time = { ms: START_MS };
  const holes: PaneId[] = [];
  let replied = transport.lines.length;
  const watch = new OutputWatch({
    nowUnixMs: () => time.ms,
    windows: () => ["@1" as WindowId],
    panesOf: () => [PANE],
    isThere: () => true,
    onMoved: () => undefined,
    mayBeUnread: () => [PANE],
    otherReader: () => (hasOtherReader ? other.connection : undefined),
    onHole: (panes) => holes.push(...panes),
  });
  watch.begin();
  /** Replies to what was asked since the last time: no window was written to that we did not hear. */
  const answered = async (): Promise<readonly string[]> => {
    await turn();
    const asked = transport.lines.slice(replied);
    replied = transport.lines.length;
    asked.forEach(() => transport.reply());
    await turn();
    return asked;
  };
  const beat = (): Promise<readonly string[]> => {
    watch.probe(connection, SESSION);
    return answered();
  };
  /** The pane prints once in each of these milliseconds from now. */
  const prints = (...afterMs: readonly number[]): void => {
    const fromMs = time.ms;
    for (const after of afterMs) {
      time.ms = fromMs + after;
      watch.received(7);
    }
  };
  return { connection, other: other.transport, time, holes, beat, answered, prints };
}

test("a pane that is quieter than usual is turned on; what comes before tmux replies once more had to wait, behind a hole", async () => {
  const { time, holes, beat, prints } = scene();
  prints(0, 10, 20, 30);
  time.ms += 500;
  expect(await beat()).toContain(ON);
  time.ms += 300;
  prints(0);
  expect(holes).toEqual([PANE]);
  prints(1);
  expect(holes).toEqual([PANE]);
});

test("what comes later was printed then: no hole", async () => {
  const { time, holes, beat, answered, prints } = scene();
  prints(0, 10);
  time.ms += 500;
  expect(await beat()).toContain(ON);
  expect(await answered()).toContain(ON);
  prints(1);
  expect(holes).toEqual([]);
});

test("a pane that prints as it uses to is let alone, however long its pauses are", async () => {
  const { time, beat, prints } = scene();
  prints(0, 1_000, 1_001, 2_000, 2_001, 3_000);
  time.ms += 900;
  expect(await beat()).not.toContain(ON);
  time.ms += 400;
  expect(await beat()).toContain(ON);
});

test("where another client of ours makes tmux read, it is turned on for that one, and what comes is no sign", async () => {
  const { other, time, holes, beat, prints } = scene(true);
  prints(0, 10);
  time.ms += 500;
  expect(await beat()).not.toContain(ON);
  expect(other.lines).toContain(ON);
  prints(0);
  expect(holes).toEqual([]);
});

test("a tmux that reads what is off is left alone", async () => {
  const { connection, time, beat, prints } = scene();
  connection.features = featuresOf("3.3a");
  prints(0, 10);
  time.ms += 500;
  expect(await beat()).not.toContain(ON);
});
