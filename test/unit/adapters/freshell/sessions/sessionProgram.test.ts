/** How long a session's program has for its input and its end, on a clock moved by hand. */
import { expect, test } from "vitest";
import { SessionProgram } from "../../../../../adapters/freshell/sessions/sessionProgram.ts";
import { eventually } from "../../../../support/clock/eventually.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { isAlive } from "../../../../support/daemon/isAlive.ts";

const nothing = (): void => undefined;
const refusal = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

function run(script: string) {
  const clock = new FakeClock();
  const lines: { readonly child?: number }[] = [];
  const plan = {
    file: "/bin/sh",
    args: ["-c", script],
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "" },
    hasInput: true,
  };
  const program = new SessionProgram(plan, clock, {
    onLine: (line) => lines.push(line),
    onBadLine: nothing,
    onErrors: nothing,
    onPause: nothing,
    onEnded: nothing,
  });
  const child = async (): Promise<number> => {
    await eventually(() => lines.length === 1);
    return lines[0]!.child!;
  };
  return { program, clock, child };
}
const CHILD = `trap '' TERM; sleep 600 & echo "{\\"child\\":$!}"`;

test("input that the program does not take is reported after 30 s, and more than 8 MiB of it is refused", async () => {
  const { program, clock } = run("read -r go; exec cat");
  await program.write("go");
  const first = refusal(program.write(`${JSON.stringify({ text: "x".repeat(5_000_000) })}\n`));
  expect(await refusal(program.write("y".repeat(4_000_000)))).toMatchObject({ code: "RESOURCE_LIMIT" });
  clock.advanceMs(29_999);
  expect(await Promise.race([first, Promise.resolve("open")])).toBe("open");
  clock.advanceMs(1);
  expect(await first).toMatchObject({ code: "COMMAND_TIMEOUT", details: { delivery: "indeterminate" } });
  expect(program.pid).toBeDefined();
  program.letGo();
  await program.ended;
});

test("one that ignores SIGTERM is killed after 5 s with all of its group", async () => {
  const { program, clock, child } = run(`${CHILD}; while :; do sleep 600; done`);
  const pid = await child();
  program.end();
  clock.advanceMs(4_999);
  expect(isAlive(pid)).toBe(true);
  clock.advanceMs(1);
  expect(await program.ended).toEqual({ signal: 9 });
  await eventually(() => !isAlive(pid));
});

test("what it leaves behind holds its end back for half a second, and is killed too", async () => {
  const { program, clock, child } = run(`${CHILD}; exit 4`);
  const pid = await child();
  await eventually(() => program.pid === undefined);
  clock.advanceMs(500);
  expect(await program.ended).toEqual({ exitCode: 4 });
  expect(isAlive(pid)).toBe(true);
  clock.advanceMs(4_500);
  await eventually(() => !isAlive(pid));
});
