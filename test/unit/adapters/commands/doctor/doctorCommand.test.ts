import { describe, expect, test } from "vitest";
import { reportText } from "../../../../../adapters/commands/doctor/doctorCommand.ts";
import { fail, findingOf, ok, warn } from "../../../../../adapters/serving/findings.ts";
import { AppError } from "../../../../../protocol/errors.ts";

const findings = [ok("tmux", "tmux 3.3a"), warn("hubs", "left behind", "start it"), fail("port", "in use", "stop it")];

describe("the report", () => {
  test("a line per check, and what to do about each that is not well", () => {
    expect(reportText(findings, false)).toBe(
      [
        "ok    tmux  tmux 3.3a",
        "warn  hubs  left behind",
        "            → start it",
        "FAIL  port  in use",
        "            → stop it",
        "",
        "1 of 3 checks failed",
        "",
      ].join("\n"),
    );
  });

  test.each([
    [findings.slice(0, 2), "usable, with 1 warning"],
    [findings.slice(0, 1), "all checks passed"],
  ])("ends with a summary", (some, text) => {
    expect(reportText(some, false).trimEnd().split("\n").at(-1)).toBe(text);
  });

  test("colours only the verdicts, and passes no control character on", () => {
    expect(reportText([ok("a", "b\u001b[2J")], true)).toBe("\u001b[32mok  \u001b[0m  a  b�[2J\n\nall checks passed\n");
  });
});

test("a check that throws is a failed check", async () => {
  const error = new AppError("TMUX_UNAVAILABLE", "tmux is not installed; install it");
  expect(await findingOf({ name: "tmux", probe: () => Promise.reject(error) })).toEqual(
    fail("tmux", "tmux is not installed; install it"),
  );
});
