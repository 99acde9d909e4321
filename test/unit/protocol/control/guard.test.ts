import { describe, expect, test } from "vitest";
import { readGuard } from "../../../../protocol/control/parser.ts";

const guard = (line: string): ReturnType<typeof readGuard> => readGuard(Buffer.from(line), 0, line.length);

describe("readGuard", () => {
  test("reads the three keywords", () => {
    expect(guard("%begin 1700000000 269 1")).toEqual({
      keyword: "begin",
      timeSec: 1_700_000_000,
      number: 269,
      flags: 1,
    });
    expect(guard("%end 1 0 0")).toEqual({ keyword: "end", timeSec: 1, number: 0, flags: 0 });
    expect(guard("%error 1 2 3")?.keyword).toBe("error");
  });

  test.each([
    "%end 1 2",
    "%end 1 2 ",
    "%end 1 2 1 ",
    "%end  1 2",
    "%end 1 2 1 4",
    " %end 1 2 1",
    "%End 1 2 1",
    "%ended 1 2 1",
    "%end 1 -2 1",
    "%end 1 2 1\r",
    "%exit 1 2 1",
    "xend 1 2 1",
    "%end 1 02 1",
    "%end 01 2 1",
    "%end 1 2 01",
    `%end ${"1".repeat(21)} 2 1`,
    `%end ${"1".repeat(20)} ${"2".repeat(11)} 1`,
    `%end ${"1".repeat(20)} ${"2".repeat(10)} ${"1".repeat(80)}`,
  ])("%j is none", (line) => {
    expect(guard(line)).toBeUndefined();
  });

  test("reads only its window", () => {
    const line = Buffer.from("x%end 1 2 10");
    expect(readGuard(line, 1, 11)?.flags).toBe(1);
  });
});
