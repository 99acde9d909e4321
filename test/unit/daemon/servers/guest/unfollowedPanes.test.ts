/** What is told of panes that nobody follows: that they were written to, and once more when that second is over. */
import { expect, test } from "vitest";
import type { ControlConnection } from "../../../../../daemon/connection/controlConnection.ts";
import { UnfollowedPanes, WRITTEN } from "../../../../../daemon/servers/guest/unfollowedPanes.ts";
import type { OutputSource } from "../../../../../daemon/tmux/outputSource.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import type { PaneId, WindowId } from "../../../../../protocol/ids.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { DEAF } from "../../../../support/tmux/output.ts";

const PANES: Readonly<Record<string, readonly string[]>> = { "@1": ["%1"], "@2": ["%2", "%3"] };

function scene() {
  const clock = new FakeClock();
  const sent: string[] = [];
  const connection = { send: (command: string) => void sent.push(command) } as unknown as ControlConnection;
  const panes = new UnfollowedPanes({
    clock,
    base: () => connection,
    baseWindows: () => ["@7" as WindowId, "@8" as WindowId],
    connection: () => connection,
    panesOf: (window: WindowId) => (PANES[window] ?? []) as readonly PaneId[],
    onListenerError: (error) => {
      throw error;
    },
  });
  const holes: string[] = [];
  const closed: string[] = [];
  const listen = (source: OutputSource): (() => void) =>
    source.subscribe({
      ...DEAF,
      gap: () => void holes.push(source.id),
      closed: ({ code }) => void closed.push(code),
    });
  const follow = (pane: string) => listen(panes.source(pane as PaneId));
  return { clock, sent, panes, holes, closed, follow };
}

test("a window that was written to is told to its panes that are observed, and again once its second is over", () => {
  const { clock, panes, holes, follow } = scene();
  follow("%1");
  follow("%3");
  panes.written("@1 100 @2 100 ");
  expect(holes).toEqual(["%1", "%3"]);
  clock.advanceMs(1_000);
  panes.written("@1 100 @2 101 ");
  expect(holes).toEqual(["%1", "%3", "%3"]);
  clock.advanceMs(49);
  expect(holes.length).toBe(3);
  clock.advanceMs(1);
  expect(holes).toEqual(["%1", "%3", "%3", "%1"]);
  clock.advanceMs(1_000);
  expect(holes).toEqual(["%1", "%3", "%3", "%1", "%3"]);
  clock.advanceMs(60_000);
  expect(holes.length).toBe(5);
  expect(clock.pendingTimers).toBe(0);
});

test("tmux is asked to tell while a pane is observed, and over each new connection", () => {
  const { sent, panes, holes, follow } = scene();
  const [one, other] = [follow("%1"), follow("%2")];
  expect(sent).toEqual([expect.stringContaining(`"${WRITTEN}:@7:`)]);
  const again: string[] = [];
  panes.attached({ send: (command: string) => void again.push(command) } as unknown as ControlConnection);
  expect(again).toEqual(sent);
  // What was written meanwhile was told to nobody.
  expect(holes).toEqual(["%1", "%2"]);
  one();
  expect(sent.length).toBe(1);
  other();
  expect(sent.length).toBe(2);
  expect(sent[1]).not.toContain("@7");
});

test("a pane that is gone, and a server that is, end it", () => {
  const { panes, closed, follow, sent } = scene();
  follow("%1");
  follow("%2");
  panes.paneGone("%1" as PaneId);
  panes.closeAll(new AppError("CONNECTION_LOST", "gone"));
  expect(closed).toEqual(["NOT_FOUND", "CONNECTION_LOST"]);
  expect(sent.length).toBe(2);
});
