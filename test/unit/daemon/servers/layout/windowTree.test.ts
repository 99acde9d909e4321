/** What differs between two trees: applied to the one before, it makes the one after, and nothing in it is without effect. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ServerTree, TreePane } from "../../../../../daemon/tmux/layout.ts";
import { ServerLayout } from "../../../../../daemon/servers/layout/serverLayout.ts";
import { treeChanges, type TreeSource } from "../../../../../daemon/servers/layout/windowTree.ts";
import { applyTreeEvent } from "../../../../../protocol/api/native/applyTreeEvent.ts";
import { type NativeTree, serverEventSchema } from "../../../../../protocol/api/native/nativeTree.ts";
import type { PaneId, SessionId, WindowId } from "../../../../../protocol/ids.ts";
import { safeParse } from "valibot";

const names = fc.constantFrom("a", "b", "c d", "\u0000");
const exit = fc.constantFrom(null, {}, { exitCode: 0 }, { exitCode: 1 }, { signal: 9 });

/** Few ids, so that two trees share most of them. */
const tree: fc.Arbitrary<ServerTree> = fc
  .record({
    windows: fc.uniqueArray(
      fc.record({ number: fc.nat({ max: 5 }), name: names, cols: fc.nat({ max: 3 }), zoomed: fc.boolean() }),
      { selector: ({ number }) => number },
    ),
    panes: fc.uniqueArray(
      fc.record({
        number: fc.nat({ max: 9 }),
        at: fc.nat(),
        title: names,
        exit,
        pid: fc.nat({ max: 2 }),
        active: fc.boolean(),
      }),
      { selector: ({ number }) => number },
    ),
    sessions: fc.uniqueArray(fc.record({ number: fc.nat({ max: 3 }), name: names, at: fc.array(fc.nat()) }), {
      selector: ({ number }) => number,
    }),
  })
  .map(({ windows, panes, sessions }) => {
    const ids = windows.map(({ number }) => `@${number}` as WindowId);
    const of = (at: number): WindowId => ids[at % ids.length]!;
    const own: readonly (TreePane & { active: boolean })[] =
      ids.length === 0
        ? []
        : panes.map(({ number, at, title, exit: ended, pid, active }) => ({
            id: `%${number}` as PaneId,
            window: of(at),
            cols: 1,
            rows: pid,
            pid,
            title,
            exit: ended,
            active,
          }));
    const byId = (a: { id: string }, b: { id: string }): number => Number(a.id.slice(1)) - Number(b.id.slice(1));
    return {
      windows: windows
        .map(({ number, name, cols, zoomed }) => {
          const id = `@${number}` as WindowId;
          const inIt = own.filter((pane) => pane.window === id);
          return {
            id,
            name,
            cols,
            rows: 1,
            layout: `${cols}`,
            root: null,
            zoomed,
            panes: inIt.map((pane) => pane.id),
            activePane: inIt.find((pane) => pane.active)?.id ?? null,
          };
        })
        .sort(byId),
      panes: own.map(({ active: _active, ...pane }) => pane).sort(byId),
      sessions: sessions
        .map(({ number, name, at }) => ({
          id: `$${number}` as SessionId,
          name: `${name}${number}`,
          createdSec: 1,
          windows: ids.length === 0 ? [] : at.map((place, index) => ({ index, window: of(place) })),
          activeWindow: ids.length === 0 || at.length === 0 ? null : of(at[0]!),
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    };
  });

test("the events between two trees make the one of the other, none of them is empty, and each is as the API says", () => {
  fc.assert(
    fc.property(tree, tree, (before, after) => {
      let now: NativeTree = before;
      for (const event of treeChanges(before, after)) {
        const next = applyTreeEvent(now, event);
        expect(next).not.toEqual(now);
        expect(safeParse(serverEventSchema, event).success).toBe(true);
        now = next;
      }
      expect(now).toEqual(after);
      expect(treeChanges(after, after)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test("nothing is told while nobody listens, nor twice, and a listener that throws is its own affair", () => {
  let name = "one";
  const window = { id: "@1" as WindowId, panes: ["%1" as PaneId], cols: 2, rows: 1, layout: "", zoomed: false };
  const session = {
    id: "$1" as SessionId,
    name: "s",
    windows: [window.id],
    places: [{ index: 0, window: window.id }],
    activeWindow: window.id,
    activePane: undefined,
    createdSec: 1,
    attachedClients: 0,
  };
  const source: TreeSource = { sessions: () => [session], windows: () => [{ ...window, name }], panes: () => [] };
  const errors: unknown[] = [];
  const watch = new ServerLayout({ source, run: async () => ({}), onListenerError: (error) => errors.push(error) });
  name = "two";
  watch.changed();
  const told: unknown[] = [];
  watch.watch(() => {
    throw new Error("mine");
  });
  const stop = watch.watch((events) => told.push(...events));
  watch.changed();
  expect(told).toEqual([]);
  name = "three";
  // Not before the listing is complete.
  expect(watch.tree().windows[0]?.name).toBe("two");
  watch.changed();
  watch.changed();
  expect(told).toEqual([{ type: "window-renamed", window: "@1", name: "three" }]);
  expect(errors).toHaveLength(1);
  stop();
  name = "four";
  watch.changed();
  expect(told).toHaveLength(1);
});
