/**
 * Random sequences of everything that changes a device's layout: it stays well formed, the revision counts what was done, a
 * refusal changes nothing, and the same sequence gives the same layout.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { leavesOf, parseSnapshot } from "../../protocol/api/freshell/deviceLayout.ts";
import type { RpcCommand } from "../../protocol/api/freshell/rpcCommands.ts";
import { DeviceFake } from "../support/freshell/deviceFake.ts";

interface Step {
  readonly command: RpcCommand;
  readonly args: object;
  readonly terminalId: string;
  /** What comes of a place that was reserved. */
  readonly end: "finalize" | "compensate" | "forget" | "crash";
  readonly stale: boolean;
}

const tab = fc.oneof(
  fc.nat(4).map((index) => `tab-index:${index}`),
  fc.constantFrom("tab-name:a", "tab-name:b", "tab:none"),
);
const pane = fc.nat(6).map((index) => `pane-index:${index}`);
const ofPane = { target: pane, tab };
const percent = fc.option(fc.integer({ min: 1, max: 99 }), { nil: undefined });
const title = fc.constantFrom("a", "b", "c");
const direction = fc.constantFrom("horizontal", "vertical");
const shown = fc.constantFrom({}, { browser: "https://x.org" }, { editor: "/x" }, { picker: true });

const ARGS: Readonly<Partial<Record<RpcCommand, fc.Arbitrary<object>>>> = {
  "new-tab": fc.tuple(fc.record({ title }), shown).map(([one, other]) => ({ ...one, ...other })),
  "kill-tab": fc.record({ target: tab }),
  "rename-tab": fc.record({ target: tab, title }),
  "select-tab": fc.record({ target: tab }),
  "split-pane": fc.tuple(fc.record({ ...ofPane, direction }), shown).map(([one, other]) => ({ ...one, ...other })),
  "kill-pane": fc.record(ofPane),
  "resize-pane": fc.record({ ...ofPane, x: percent, y: percent }),
  "swap-pane": fc.record({ ...ofPane, source: pane }),
  "select-pane": fc.record(ofPane),
  "open-browser": fc.record({ ...ofPane, url: fc.constantFrom("https://x.org/1", "javascript:1") }),
  navigate: fc.record({ ...ofPane, url: fc.constant("https://x.org/2") }),
  "open-editor": fc.record({ ...ofPane, filePath: fc.constant("/y") }),
  "attach-terminal": fc.record({ target: fc.constant("terminal:t"), to: pane, tab }),
  "respawn-pane": fc.record(ofPane),
};

// Trees that grow: what makes panes comes more often than what takes them away.
const command = fc.constantFrom(
  ...(Object.keys(ARGS) as RpcCommand[]),
  ...(["new-tab", "split-pane", "split-pane", "split-pane"] as const),
);
const step: fc.Arbitrary<Step> = command.chain((name) =>
  fc.record({
    command: fc.constant(name),
    args: ARGS[name] ?? fc.constant({}),
    terminalId: fc.constantFrom("t", "u"),
    end: fc.constantFrom("finalize", "finalize", "finalize", "compensate", "forget", "crash"),
    stale: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
  }),
);

const withoutTime = (device: DeviceFake): string => JSON.stringify(device.runtime.layout());

/** Does one step; how many revisions it was worth. */
function perform(device: DeviceFake, { command: name, args, terminalId, end, stale }: Step): 0 | 1 {
  const before = device.kept;
  const expectedRevision = device.runtime.workspaceRevision - (stale ? 1 : 0);
  // Also as the server does it, where it comes in phases.
  const outcome = device.ask(name, args, { expectedRevision });
  if (outcome.ok) return 1;
  expect(device.kept).toBe(before);
  const reserved = device.ask(name, args, { phase: "reserve", expectedRevision });
  expect(device.kept).toBe(before);
  if (!reserved.ok) return 0;
  const { reservationId } = reserved.result;
  if (end === "crash") device.restart();
  if (end === "compensate") device.done(name, { reservationId }, { phase: "compensate" });
  const finalized = end === "forget" ? undefined : device.finalize(name, reservationId, terminalId);
  expect(finalized?.ok ?? false).toBe(end === "finalize");
  if (finalized?.ok !== true) expect(device.kept).toBe(before);
  return finalized?.ok === true ? 1 : 0;
}

test("F177 F179 every sequence of changes leaves a whole layout, and gives the same one again", () => {
  let most = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const [device, again] = [new DeviceFake(), new DeviceFake()];
      let done = 1;
      for (const one of steps) {
        done += perform(device, one);
        const { layout } = device;
        // Well formed: trees, ids that occur once, pointers that lead to what is there.
        parseSnapshot(layout);
        expect(device.runtime.workspaceRevision).toBe(done);
        const leaves = layout.tabs.flatMap(({ id }) => leavesOf(layout.layouts[id]!));
        expect(layout.panes?.map(({ id }) => id)).toEqual(leaves.map(({ id }) => id));
        most = Math.max(most, leaves.length);
        expect(JSON.stringify(layout)).not.toContain('revision"');
      }
      for (const one of steps) perform(again, one);
      expect(withoutTime(again)).toBe(withoutTime(device));
      const last = withoutTime(device);
      device.restart();
      expect(withoutTime(device)).toBe(last);
    }),
    { numRuns: 75 },
  );
  // It was not about empty layouts: eight to twelve panes at once, in runs that were counted.
  expect(most).toBeGreaterThan(4);
});
