import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { TERMINAL_AT_REST } from "../../../../../adapters/cli/quietOutput.ts";
import { inProcessCli } from "../../../../support/daemon/cliOutput.ts";

const folder = mkdtempSync(join(tmpdir(), "tw-play-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function cast(text: string): string {
  const path = join(folder, "one.cast");
  writeFileSync(path, text);
  return path;
}
const lines = (...all: unknown[]): string => all.map((one) => `${JSON.stringify(one)}\n`).join("");
const TWO = { version: 2, width: 80, height: 24 };
const play = (path: string, ...options: string[]) => inProcessCli(["play", path, ...options]);

test("output in order, pauses cut, holes told at the end", async () => {
  const path = cast(
    lines(
      TWO,
      [0.5, "o", "a"],
      [1, "i", "x"],
      [86_400, "m", "gap: output is missing"],
      [90_000, "o", "b"],
      [90_001, "r", "9x9"],
    ),
  );
  expect(await play(path, "--idle", "0")).toEqual({
    code: 0,
    out: `ab${TERMINAL_AT_REST}`,
    err: "tmuxwire: output is missing at 1 place of the recording\n",
  });
  expect(await play(path, "--from", "90000")).toMatchObject({ code: 0, out: `ab${TERMINAL_AT_REST}` });
});

test("version 3 counts from the event before, and may hold comments", async () => {
  const three = { version: 3, term: { cols: 80, rows: 24 } };
  const path = cast(`${lines(three)}# a comment\n${lines([1_000, "o", "a"], [1_000, "o", "b"], [0, "x", "0"])}`);
  expect(await play(path, "--from", "2000")).toEqual({ code: 0, out: `ab${TERMINAL_AT_REST}`, err: "" });
});

test("a line ends with LF, not at the line separators that output may hold", async () => {
  const path = cast(lines(TWO, [0, "o", "one\u2028two\u2029three"]).replaceAll("\n", "\r\n"));
  const { code, out, err } = await play(path);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^one.{0,3}two.{0,3}three/su);
});

test("a last line that was cut off is none; a broken one before it is told by its number", async () => {
  expect(await play(cast(`${lines(TWO, [0, "o", "a"])}[0.1, "o", "cut`))).toMatchObject({ code: 0, err: "" });
  const broken = await play(cast(`${lines(TWO, [0, "o", "a"])}[0.1, "o"\n${lines([0.2, "o", "b"])}`));
  expect(broken).toMatchObject({ code: 2, out: `a${TERMINAL_AT_REST}` });
  expect(broken.err).toContain("line 3 is not an event of a recording");
});

test("what is no recording is told, and nothing is written to the terminal", async () => {
  for (const text of ["", "hello\n", lines({ version: 1 })]) {
    // oxlint-disable-next-line no-await-in-loop -- one file
    const result = await play(cast(text));
    expect(result).toMatchObject({ code: 2, out: "" });
    expect(result.err).toMatch(/^tmuxwire: .*one\.cast is (?:empty|not an asciicast file of version 2 or 3)\n$/);
  }
  expect(await play(join(folder, "none.cast"))).toMatchObject({ code: 2, out: "" });
});

test("an interrupted play leaves the terminal at rest", async () => {
  const controller = new AbortController();
  const path = cast(lines(TWO, [0, "o", "a"], [10_000, "o", "b"]));
  const [out, told]: [string[], string[]] = [[], []];
  await inProcessCli(["play", path], {
    signal: controller.signal,
    out: async (data) => {
      out.push(String(data));
      if (String(data) === "a") queueMicrotask(() => controller.abort(new Error("stop")));
    },
    err: (text) => told.push(text),
  });
  expect(out).toEqual(["a", TERMINAL_AT_REST]);
});
