/** Who is meant, by who read when the request arrived and who reads now; and that nobody else is given it. */
import { describe, expect, test } from "vitest";
import { type AddresseeRequest, findAddressee, typeFor } from "../../../../../daemon/delivery/pane/addressee.ts";
import type { HostProcesses } from "../../../../../daemon/host/hostProcesses.ts";
import type { ProcessStat } from "../../../../../daemon/host/procfs.ts";
import { EndSigns } from "../../../../../daemon/panes/endSigns.ts";
import type { InputOptions } from "../../../../../daemon/tmux/io.ts";
import type { Foreground, ForegroundProcess, PaneForeground } from "../../../../../daemon/tmux/processes.ts";
import type { TmuxServer } from "../../../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import type { PaneId } from "../../../../../protocol/ids.ts";
import { profileNamed } from "../../../../support/agents/agentCatalogue.ts";

const pane = "%1" as PaneId;
const PANE_PID = 5;
const TERM = 1n << 14n;

const program = (pid: number, name: string, depth = 0): ForegroundProcess => {
  const isShell = name === "bash";
  return { pid, start: "100", executable: name, names: [name], isShell, isInteractiveShell: isShell, depth };
};
const [shell, claude, vim, npx] = [program(10, "bash"), program(20, "claude"), program(30, "vim"), program(40, "npx")];
const otherClaude = program(21, "claude");
const reused = { ...claude, start: "200" };

/** A pane with these programs in front, one after the other each time it is asked, and what the host says of them. */
class World {
  readonly stats = new Map<number, Partial<ProcessStat>>();
  readonly signals = new Map<number, { pending: bigint; caught: bigint }>();
  readonly typed: InputOptions[] = [];
  readonly answers: PaneForeground[];
  /** What tmux says to what is written. */
  refusal: AppError | undefined;

  constructor(...answers: readonly PaneForeground[]) {
    this.answers = [...answers];
    for (const { processes = [] } of answers) for (const each of processes) this.runs(each);
    this.stats.set(PANE_PID, { pid: PANE_PID, foregroundGroup: 1, group: 1, terminal: 1, state: "S" });
  }

  runs({ pid, start, executable }: ForegroundProcess): void {
    this.stats.set(pid, { pid, start, name: executable!, state: "S", group: 1, foregroundGroup: 1, terminal: 1 });
  }

  readonly processes = {
    reportsNow: true,
    statNow: (pid: number) => this.stats.get(pid),
    executableNow: (pid: number) => this.stats.get(pid)?.name,
    signalsNow: (pid: number) => this.signals.get(pid),
    isRunningNow: (pid: number) => pid === claude.pid,
    bytesReadNow: (pid: number) => pid,
    wordsNow: () => [],
    childrenNow: () => [],
    hasTerminalInputNow: () => true,
  } as unknown as HostProcesses;

  readonly server = {
    processes: this.processes,
    findPane: () => ({ pid: PANE_PID }),
    foreground: async () => (this.answers.length > 1 ? this.answers.shift()! : this.answers[0]!),
    input: async (_pane: PaneId, _parts: unknown, options: InputOptions) => {
      options.beforeWrite?.();
      this.typed.push(options);
      if (this.refusal !== undefined) throw this.refusal;
    },
  } as unknown as TmuxServer;
}

const front = (processes: Foreground | undefined, command = ""): PaneForeground => ({
  pid: PANE_PID,
  command,
  processes,
});

const OTHER = /^a different program reads from the pane than when/;
const NOBODY = /^no program reads/;
const SHELL = /^a shell reads/;
const UNNAMED = /^which program reads .* cannot be known/;

interface Given {
  /** Who read when the request arrived; undefined: not known. */
  readonly before: Foreground | undefined;
  readonly now: Foreground | undefined;
  readonly command?: string;
  readonly isNamed?: boolean;
  readonly hadAgent?: boolean;
  readonly request?: AddresseeRequest;
}

async function meant(profile: "claude" | "shell", given: Given): Promise<number | string | undefined> {
  const { before, now, command = "", isNamed = false, hadAgent = false, request } = given;
  const { server, processes } = new World(front(now, command));
  const endSigns = new EndSigns([], processes);
  const readers = before === undefined ? undefined : { foreground: before, endSigns };
  const arrival = { readers, isNamed, hadAgent };
  const found = findAddressee(server, pane, profileNamed(profile), arrival, request);
  return found.then(
    (addressee) => addressee.process?.pid,
    (error: AppError) => {
      expect(error).toMatchObject({ code: "WRONG_STATE", details: { reason: "program_changed", pane } });
      return error.message;
    },
  );
}

describe("an agent", () => {
  test.each<[string, Given, number | RegExp | undefined]>([
    ["who read then", { before: [claude], now: [claude] }, claude.pid],
    ["another of its name", { before: [claude], now: [otherClaude] }, OTHER],
    ["another of its name, named", { before: [claude], now: [otherClaude], isNamed: true }, OTHER],
    ["another with its pid", { before: [claude], now: [reused] }, OTHER],
    ["one that came from a shell", { before: [shell], now: [claude] }, OTHER],
    ["one that came from a shell, named", { before: [shell], now: [claude], isNamed: true }, claude.pid],
    ["one that came from another program", { before: [vim], now: [claude], isNamed: true }, OTHER],
    ["one that came when nobody read", { before: [], now: [claude] }, OTHER],
    ["one that came when nobody read, named", { before: [], now: [claude], isNamed: true }, claude.pid],
    ["one whose launcher is still in front", { before: [npx], now: [npx, program(20, "claude", 1)] }, claude.pid],
    ["one whose launcher has become another", { before: [npx], now: [{ ...npx, start: "200" }, claude] }, OTHER],
    ["one that is the first to be seen", { before: undefined, now: [claude] }, claude.pid],
    ["a shell", { before: [shell], now: [shell], isNamed: true }, SHELL],
    ["nobody", { before: [claude], now: [], isNamed: true }, NOBODY],
    ["the process that is asked for", { before: [claude], now: [claude], request: { process: claude } }, claude.pid],
    [
      "one of several that is asked for",
      { before: [claude], now: [claude, vim], request: { process: claude } },
      claude.pid,
    ],
    [
      "another than the one that is asked for",
      { before: [claude], now: [claude], request: { process: reused } },
      /^a different program now/,
    ],
    ["a shell that tmux names", { before: undefined, now: undefined, command: "-zsh", isNamed: true }, SHELL],
    ["what tmux names", { before: undefined, now: undefined, command: "claude" }, undefined],
  ])("%s", async (_who, given, wanted) => {
    const got = await meant("claude", given);
    if (wanted instanceof RegExp) expect(got).toMatch(wanted);
    else expect(got).toBe(wanted);
  });
});

describe("any other program", () => {
  const mine = program(12, "mine", 1);
  test.each<[string, Given, number | RegExp | undefined]>([
    ["who read then", { before: [shell], now: [shell] }, shell.pid],
    ["another", { before: [shell], now: [vim], isNamed: true }, OTHER],
    ["one that came when nobody read", { before: [], now: [shell], isNamed: true }, OTHER],
    ["one that is the first to be seen", { before: undefined, now: [shell] }, UNNAMED],
    ["one that is the first to be seen, named", { before: undefined, now: [shell], isNamed: true }, shell.pid],
    ["one behind an agent", { before: [shell], now: [shell], hadAgent: true }, /^an agent was in front/],
    ["one behind an agent, named", { before: [shell], now: [shell], hadAgent: true, isNamed: true }, shell.pid],
    ["a shell, for an agent", { before: [shell], now: [shell], request: { isAgent: true } }, SHELL],
    ["the first in front", { before: [vim], now: [vim, mine] }, vim.pid],
    [
      "a program that the caller names",
      { before: undefined, now: [vim, mine], isNamed: true, request: { programs: new Set(["mine"]) } },
      mine.pid,
    ],
    ["what tmux names", { before: undefined, now: undefined, command: "bash" }, UNNAMED],
    ["what tmux names, named", { before: undefined, now: undefined, command: "bash", isNamed: true }, undefined],
  ])("%s", async (_who, given, wanted) => {
    const got = await meant("shell", given);
    if (wanted instanceof RegExp) expect(got).toMatch(wanted);
    else expect(got).toBe(wanted);
  });
});

const toClaude = (world: World) =>
  findAddressee(world.server, pane, profileNamed("claude"), { readers: undefined, isNamed: true, hadAgent: false });

test("a pane whose process has only just been forked is asked again", async () => {
  for (const foregroundGroup of [-1, 7]) {
    const world = new World(front([]), front([claude]));
    world.stats.set(PANE_PID, { foregroundGroup, group: 7 });
    expect((await toClaude(world)).process?.pid).toBe(claude.pid);
  }
  const started = new World(front([]), front([claude]));
  started.stats.set(PANE_PID, { foregroundGroup: 8, group: 7 });
  await expect(toClaude(started)).rejects.toThrow(NOBODY);
  const forEver = new World(front([]));
  forEver.stats.set(PANE_PID, { foregroundGroup: -1, group: 7 });
  await expect(toClaude(forEver)).rejects.toThrow(NOBODY);
});

describe("what is typed", () => {
  const changed = (textWritten?: true) => ({
    code: "WRONG_STATE",
    details: { reason: "program_changed", pane, ...(textWritten === undefined ? {} : { textWritten }) },
  });
  const isExactly = (error: AppError): object => ({ code: error.code, details: error.details });
  const failure = async (typing: Promise<unknown>): Promise<object> =>
    typing.then(
      () => ({}),
      (error: AppError) => isExactly(error),
    );

  test("has the pane's process and program as its condition, for one that renames itself the process alone", async () => {
    const world = new World(front([claude], "claude"));
    const addressee = await toClaude(world);
    await addressee.type(world.server, pane, []);
    await addressee.whateverItsName().type(world.server, pane, []);
    world.stats.delete(claude.pid);
    expect(await failure(addressee.type(world.server, pane, []))).toEqual(changed());
    const nameless = new World(front([claude]));
    await (await toClaude(nameless)).type(nameless.server, pane, []);
    expect([...world.typed, ...nameless.typed].map(({ onlyIf }) => onlyIf)).toEqual([
      { pid: PANE_PID, command: "claude" },
      { pid: PANE_PID },
      { pid: PANE_PID, command: undefined },
    ]);
  });

  test.each([false, true])(
    "is nothing when the program has gone or is about to end (typed before: %s)",
    async (has) => {
      for (const ends of [
        (world: World) => world.stats.delete(claude.pid),
        (world: World) => world.signals.set(claude.pid, { pending: TERM, caught: 0n }),
      ]) {
        const world = new World(front([claude]));
        const addressee = await toClaude(world);
        ends(world);
        expect(await failure(addressee.type(world.server, pane, [], has))).toEqual(changed(has ? true : undefined));
        expect(world.typed).toEqual([]);
      }
    },
  );

  test.each([
    ["nothing of it", {}, false, undefined],
    ["its beginning", { delivery: "indeterminate" }, false, true],
    ["something before it", {}, true, true],
  ] as const)("and tmux's refusal: %s was typed", async (_what, details, hasTyped, textWritten) => {
    const world = new World(front([claude]));
    const addressee = await toClaude(world);
    world.refusal = new AppError("INCONSISTENT_STATE", "changed", { details });
    const refused = { code: "INCONSISTENT_STATE", details };
    expect(await failure(addressee.type(world.server, pane, [], hasTyped))).toEqual(refused);
    world.server.input = async () => {
      world.stats.delete(claude.pid);
      throw world.refusal!;
    };
    expect(await failure(addressee.type(world.server, pane, [], hasTyped))).toEqual(changed(textWritten));
    world.refusal = new AppError("CONNECTION_LOST", "lost");
    expect(await failure(addressee.type(world.server, pane, [], hasTyped))).toMatchObject({ code: "CONNECTION_LOST" });
  });

  test("goes on when what looked like an end was none", async () => {
    const world = new World(front([claude]));
    world.signals.set(claude.pid, { pending: 0n, caught: TERM });
    const addressee = await toClaude(world);
    world.signals.set(claude.pid, { pending: 0n, caught: 0n });
    expect([addressee.isEnding, addressee.goingOn().isEnding]).toEqual([true, false]);
    expect([addressee.bytesRead, addressee.isRunning, addressee.isGone]).toEqual([claude.pid, true, false]);
  });

  test("is for who reads when it is asked for, unless that was later than the request", async () => {
    const world = new World(front([otherClaude]));
    world.stats.set(PANE_PID, { ...world.stats.get(PANE_PID), foregroundGroup: claude.pid });
    world.runs(claude);
    world.stats.set(claude.pid, { ...world.stats.get(claude.pid), group: claude.pid, foregroundGroup: claude.pid });
    const claudes = profileNamed("claude");
    await expect(typeFor(world.server, pane, claudes, [])).rejects.toThrow(OTHER);
    world.stats.set(PANE_PID, { ...world.stats.get(PANE_PID), foregroundGroup: 1 });
    expect(await failure(typeFor(world.server, pane, claudes, [], { isLate: true }))).toEqual({});
    expect(world.typed).toHaveLength(1);
    const editing = new World(front([vim]));
    expect(await failure(typeFor(editing.server, pane, profileNamed("generic"), [], { isLate: true }))).toEqual({});
  });
});
