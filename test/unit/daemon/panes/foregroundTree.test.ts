/** Who reads from a terminal, by a tree of processes as a system reports it; real programs: `foreground.test.ts`. */
import { describe, expect, test } from "vitest";
import type { HostProcesses } from "../../../../daemon/host/hostProcesses.ts";
import type { ProcessStat } from "../../../../daemon/host/procfs.ts";
import {
  addresseeOf,
  ageSec,
  bytesRead,
  type ForegroundMark,
  hasLeftTerminal,
  isAtTerminal,
  isOnProcessor,
  isRunning,
  isSameProcess,
  isStillForeground,
  markOf,
  readersOf,
  readForeground,
  wasThereBefore,
} from "../../../../daemon/panes/foreground.ts";
import type { ForegroundProcess } from "../../../../daemon/tmux/processes.ts";

const PANE = 5;

/** In front of the pane's terminal unless it says otherwise; children by the parents they name. */
interface Given extends Partial<Omit<ProcessStat, "parent">> {
  readonly parent?: number;
  readonly children?: readonly number[];
}

/** @param given by pid; the pane's own process is a shell whose foreground group is 10 */
function hostOf(given: Readonly<Record<number, Given>>, more: Partial<HostProcesses> = {}): HostProcesses {
  const all: Record<number, Given> = { [PANE]: { name: "bash", group: PANE }, ...given };
  const statNow = (pid: number) => {
    const one = all[pid];
    if (one === undefined) return undefined;
    return { pid, start: "100", name: "x", state: "S", group: 10, foregroundGroup: 10, terminal: 1, ...one };
  };
  return {
    reportsNow: true,
    statNow,
    executableNow: (pid: number) => statNow(pid)?.name,
    wordsNow: () => undefined,
    childrenNow: (pid: number) =>
      all[pid]?.children ??
      Object.keys(all)
        .map(Number)
        .filter((child) => all[child]!.parent === pid),
    hasTerminalInputNow: () => true,
    isRunningNow: () => true,
    bytesReadNow: (pid: number) => (pid === 99 ? undefined : pid),
    isAlive: (pid: number) => (pid === 98 ? undefined : pid in all),
    ...more,
  } as unknown as HostProcesses;
}

describe("who reads", () => {
  test.each<[string, Readonly<Record<number, Given>>, readonly (readonly [number, number])[]]>([
    ["nobody, where the pane has no process", { [PANE]: undefined as never }, []],
    ["nobody, where the terminal has no foreground group", { [PANE]: { foregroundGroup: 0 }, 0: {} }, []],
    ["nobody, where the terminal is gone", { [PANE]: { foregroundGroup: -1 }, [-1]: {} }, []],
    [
      "the group's leader and what it has started",
      { 10: {}, 11: { parent: 10 }, 12: { parent: 11 } },
      [
        [10, 0],
        [11, 1],
        [12, 2],
      ],
    ],
    ["a member of the group whose leader has gone", { 11: { parent: PANE } }, [[11, 0]]],
    ["a member further down", { 7: { parent: PANE, group: 7 }, 11: { parent: 7 } }, [[11, 0]]],
    [
      "a member of the group whose leader has ended",
      { 10: { parent: PANE, state: "Z" }, 11: { parent: PANE } },
      [[11, 0]],
    ],
    ["nobody, where all of the group have ended", { 10: { state: "X" }, 11: { parent: PANE, state: "Z" } }, []],
    ["nobody, where only other groups are there", { 11: { parent: PANE, group: 11 } }, []],
    [
      "none that has ended, with what is below it",
      { 10: {}, 11: { parent: 10, state: "Z" }, 12: { parent: 11 } },
      [[10, 0]],
    ],
    [
      "none that is stopped, but what is below it",
      { 10: { state: "T" }, 11: { parent: 10, state: "t" }, 12: { parent: 11 } },
      [[12, 2]],
    ],
    ["none without a terminal", { 10: {}, 11: { parent: 10, terminal: 0 } }, [[10, 0]]],
    ["none in the background", { 10: {}, 11: { parent: 10, group: 11 } }, [[10, 0]]],
    [
      "one in front of a terminal of its own",
      { 10: {}, 11: { parent: 10, group: 11, foregroundGroup: 11, terminal: 2 } },
      [
        [10, 0],
        [11, 1],
      ],
    ],
    ["no child of tmux that has not started its program", { 10: { name: "tmux: server" } }, []],
    ["none that has gone meanwhile", { 10: { children: [11] } }, [[10, 0]]],
    [
      "each once",
      { 10: { children: [10, 11, 11] }, 11: { children: [10] } },
      [
        [10, 0],
        [11, 1],
      ],
    ],
  ])("%s", (_what, given, found) => {
    expect(readForeground(PANE, hostOf(given))?.map(({ pid, depth }) => [pid, depth])).toEqual(found);
  });

  test("of very many, the first", () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [11 + at, { parent: 10 }]));
    expect(readForeground(PANE, hostOf({ 10: {}, ...many }))).toHaveLength(128);
    const deep = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [
        11 + at,
        { parent: at === 0 ? PANE : 10 + at, group: at === 299 ? 10 : 9 },
      ]),
    );
    expect(readForeground(PANE, hostOf(deep))).toEqual([]);
  });

  test("is not known where the system does not say, or the pane's process is not the one that is known of", () => {
    const silent = hostOf({ 10: {} }, { reportsNow: false });
    expect(readForeground(PANE, silent)).toBeUndefined();
    expect(readersOf(PANE, hostOf({ 10: {} }))).toHaveLength(1);
    expect(readersOf(undefined, hostOf({ 10: {} }))).toBeUndefined();
    for (const pane of [undefined, { terminal: 0 }, { state: "Z" }]) {
      expect(readersOf(PANE, hostOf({ [PANE]: pane as Given, 10: {} }))).toBeUndefined();
    }
  });
});

describe("who is meant of them", () => {
  const process = (pid: number, name: string, more: Partial<ForegroundProcess> = {}): ForegroundProcess => {
    const isShell = name === "bash";
    const seen = { executable: name, names: [name], isShell, isInteractiveShell: isShell, hasTerminalInput: true };
    return { pid, start: "1000", depth: 0, ...seen, ...more };
  };
  const claude = process(2, "claude", { depth: 1 });
  const child = (more: Partial<ForegroundProcess> = {}) => process(3, "claude", { depth: 2, ...more });

  test.each<[string, readonly ForegroundProcess[], number | undefined]>([
    ["the named one", [process(1, "bash"), claude, process(3, "vim", { depth: 2 })], 2],
    ["the one of its name that it has just started", [claude, child({ start: "1500" })], 3],
    ["not one that it has started later", [claude, child({ start: "1501" })], 2],
    ["not one without the terminal as its input", [claude, child({ hasTerminalInput: false })], 2],
    ["not one that was only forked", [claude, child({ isForked: true })], 2],
    ["not one that another has started", [claude, child({ depth: 3 })], 2],
    ["without the name, what a launcher has started", [process(1, "npx"), process(2, "vim")], 2],
    ["without the name, what a shell has started", [process(1, "bash"), process(2, "vim")], 2],
    ["the shell, where there is nothing else", [process(1, "bash")], 1],
    ["the launcher, where there is nothing else", [process(1, "npx"), process(2, "bash")], 1],
    ["nobody", [], undefined],
  ])("%s", (_what, foreground, pid) => {
    expect(addresseeOf(foreground, new Set(["claude"]))?.pid).toBe(pid);
  });
});

describe("a process that was seen", () => {
  const mark = { pid: 20, start: "100", executable: "x" };
  const seen: ForegroundMark = { panePid: PANE, leader: { ...mark, pid: 10 }, program: mark, readers: [20, 99, 10] };
  const front = { 10: {}, 20: { parent: 10 } };

  test.each<
    [string, Readonly<Record<number, Given>>, { front: boolean; terminal: boolean; runs: boolean; left: boolean }]
  >([
    ["is as it was", front, { front: true, terminal: true, runs: true, left: false }],
    ["has gone", { 10: {} }, { front: false, terminal: false, runs: false, left: true }],
    ["has ended", { ...front, 20: { state: "Z" } }, { front: false, terminal: false, runs: false, left: true }],
    [
      "is another with its pid",
      { ...front, 20: { start: "200" } },
      { front: false, terminal: false, runs: false, left: true },
    ],
    [
      "has become another program",
      { ...front, 20: { name: "y" } },
      { front: false, terminal: false, runs: true, left: true },
    ],
    ["is stopped", { ...front, 20: { state: "T" } }, { front: false, terminal: false, runs: true, left: false }],
    [
      "is in the background",
      { ...front, 20: { group: 20 } },
      { front: false, terminal: false, runs: true, left: false },
    ],
    [
      "has lost its terminal",
      { ...front, 20: { terminal: 0 } },
      { front: false, terminal: false, runs: true, left: true },
    ],
    ["has another leader", { 20: {} }, { front: false, terminal: true, runs: true, left: false }],
    [
      "is of a group that is not in front",
      { ...front, 10: { group: 11 } },
      { front: false, terminal: true, runs: true, left: false },
    ],
    [
      "is in a pane that has gone",
      { ...front, [PANE]: undefined as never },
      { front: false, terminal: true, runs: true, left: false },
    ],
  ])("%s", (_what, given, expected) => {
    const host = hostOf(given);
    expect({
      front: isStillForeground(seen, host),
      terminal: isAtTerminal(mark, host),
      runs: isRunning(mark, host),
      left: hasLeftTerminal(mark, host),
    }).toEqual(expected);
  });

  test("counts as the same until it has ended, where the system says nothing else", () => {
    for (const [given, is] of [
      [front, true],
      [{ 10: {} }, false],
      [{ 20: {} }, false],
    ] as const) {
      expect(isStillForeground(seen, hostOf(given, { reportsNow: false }))).toBe(is);
    }
    for (const pid of [20, 97, 98]) {
      const host = hostOf(front, { reportsNow: false });
      const is = pid !== 97;
      const answers = [
        isAtTerminal({ ...mark, pid }, host),
        isRunning({ ...mark, pid }, host),
        !hasLeftTerminal({ ...mark, pid }, host),
      ];
      expect(answers).toEqual([is, is, is]);
    }
  });

  test("has read what all in front have read, as far as that is known", () => {
    expect(bytesRead(seen, hostOf(front))).toBe(30);
    expect(bytesRead({ ...seen, readers: [99] }, hostOf(front))).toBeUndefined();
  });

  test("is on a processor, if it still is the same", () => {
    expect(isOnProcessor(mark, hostOf(front))).toBe(true);
    expect(isOnProcessor(mark, hostOf(front, { isRunningNow: () => undefined }))).toBe(false);
    expect(isOnProcessor({ ...mark, start: "200" }, hostOf(front))).toBe(false);
    expect(isOnProcessor({ ...mark, pid: 97 }, hostOf(front))).toBe(false);
  });

  test("is told from another by pid, start and program, and by nothing else", () => {
    expect(markOf({ ...mark, names: [] } as never)).toEqual(mark);
    expect(isSameProcess(mark, { ...mark })).toBe(true);
    for (const other of [{ pid: 21 }, { start: "200" }, { executable: "y" }]) {
      expect(isSameProcess(mark, { ...mark, ...other })).toBe(false);
    }
  });

  test.each([
    ["100", 1, false],
    ["100", 1.01, true],
    ["100", 0.5, false],
    ["Sat Nov 28", 0, true],
  ])("that began at %s was there before %f s: %j", (start, uptimeSec, was) => {
    expect(wasThereBefore({ ...mark, start }, uptimeSec)).toBe(was);
  });

  test("has an age where its start is a number", () => {
    expect(ageSec(mark, 3)).toBe(2);
    expect(ageSec({ ...mark, start: "Sat Nov 28" }, 3)).toBeUndefined();
  });
});
