/** A session's program with a clock moved by hand: how long it has to take its input, and to go. */
import { afterEach, describe, expect, test } from "vitest";
import type { ExitStatus } from "../../../../../daemon/tmux/outputSource.ts";
import { SessionProgram } from "../../../../../adapters/freshell/sessions/sessionProgram.ts";
import type { AppError } from "../../../../../protocol/errors.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { eventually } from "../../../../support/clock/eventually.ts";

interface Run {
  readonly program: SessionProgram;
  readonly clock: FakeClock;
  readonly lines: unknown[];
  readonly bad: string[];
  readonly errors: string[];
  readonly ends: ExitStatus[];
}
const running: SessionProgram[] = [];
afterEach(async () => {
  for (const program of running.splice(0)) {
    program.letGo();
    await program.ended;
  }
});

function run(script: string, hasInput = true): Run {
  const clock = new FakeClock();
  const [lines, bad, errors, ends]: [unknown[], string[], string[], ExitStatus[]] = [[], [], [], []];
  const program = new SessionProgram({
    file: "/bin/sh",
    args: ["-c", script],
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "" },
    hasInput,
    clock,
    onLine: (line) => lines.push(line),
    onBadLine: (what) => bad.push(what),
    onErrors: (text) => errors.push(text),
    onPause: () => undefined,
    onEnded: (status) => ends.push(status),
  });
  running.push(program);
  return { program, clock, lines, bad, errors, ends };
}
const refusal = (work: Promise<unknown>): Promise<AppError | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => error as AppError,
  );

describe("what it is sent", () => {
  test("reaches it; what it says comes line by line, the last without its end too", async () => {
    const { program, lines, ends } = run(`read -r line; printf '%s\\n{"b":2}' "$line"`);
    await program.write('{"a":1}\n');
    expect(await program.ended).toEqual({ exitCode: 0 });
    expect([lines, ends]).toEqual([[{ a: 1 }, { b: 2 }], [{ exitCode: 0 }]]);
  });

  test("what nobody takes is told after 30 s, and the program goes on; past 8 MiB nothing is added", async () => {
    const { program, clock, lines } = run(`read -r go; exec cat`);
    await program.write("go");
    const first = refusal(program.write(`${JSON.stringify({ text: "x".repeat(5_000_000) })}\n`));
    expect(await refusal(program.write("y".repeat(4_000_000)))).toMatchObject({ code: "RESOURCE_LIMIT" });
    clock.advanceMs(29_999);
    expect(await Promise.race([first, Promise.resolve("open")])).toBe("open");
    clock.advanceMs(1);
    expect(await first).toMatchObject({ code: "COMMAND_TIMEOUT", details: { delivery: "indeterminate" } });
    expect([program.pid === undefined, lines]).toEqual([false, []]);
  });

  test("is refused where there is no input, and where there is none any more", async () => {
    const { program } = run("cat; sleep 60", false);
    expect(await refusal(program.write("x"))).toMatchObject({ code: "INVALID_TARGET" });
    const closed = run("exec <&-; echo '{}'; sleep 60");
    await eventually(() => closed.lines.length === 1);
    await eventually(async () => (await refusal(closed.program.write("x\n")))?.code === "INVALID_TARGET");
    const ended = run("exit 0");
    await ended.program.ended;
    expect(await refusal(ended.program.write("x"))).toMatchObject({ code: "INVALID_TARGET" });
  });
});

describe("its end", () => {
  test("SIGTERM, and SIGKILL after 5 s, to all of its group", async () => {
    const { program, clock, lines, ends } = run(
      `trap '' TERM; sleep 600 & echo "{\\"child\\":$!}"; while :; do sleep 600; done`,
    );
    await eventually(() => lines.length === 1);
    const { child } = lines[0] as { child: number };
    program.end();
    clock.advanceMs(4_999);
    process.kill(child, 0);
    expect(ends).toEqual([]);
    clock.advanceMs(1);
    expect(await program.ended).toEqual({ signal: 9 });
    await eventually(() => isGone(child));
  });

  test("by itself: what it leaves behind is ended, and does not hold its end back for longer than half a second", async () => {
    const { program, clock, lines, ends } = run(`trap '' TERM; sleep 600 & echo "{\\"child\\":$!}"; exit 4`);
    await eventually(() => lines.length === 1 && program.pid === undefined);
    expect(ends).toEqual([]);
    clock.advanceMs(500);
    expect(await program.ended).toEqual({ exitCode: 4 });
    const { child } = lines[0] as { child: number };
    clock.advanceMs(4_500);
    await eventually(() => isGone(child));
  });

  test("without us: the guard ends the group", async () => {
    const { program, clock, lines } = run(`sleep 600 & echo "{\\"child\\":$!}"; wait`);
    await eventually(() => lines.length === 1);
    program.letGo();
    expect(await program.ended).toMatchObject({ signal: 15 });
    expect(clock.nowMs()).toBe(0);
    await eventually(() => isGone((lines[0] as { child: number }).child));
  });

  test("of what cannot be started", async () => {
    const { program } = run("exec /nowhere/program");
    expect(await program.ended).toEqual({ exitCode: 127 });
    expect(program.lastWords).toContain("/nowhere/program");
  });
});

test("bad lines are told once, and those of a line that is too long end it", async () => {
  const { program, bad, lines } = run(`echo no; echo '[]'; echo '"text"'; echo '{"a":1}'; exec tr '\\0' x </dev/zero`);
  await eventually(() => bad.length === 2);
  expect(lines).toEqual([{ a: 1 }]);
  expect(bad[1]).toContain("8388608 bytes");
  expect(await program.ended).toEqual({ signal: 15 });
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
