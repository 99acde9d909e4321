import { expect, test } from "vitest";
import { judgeVersion, releaseOf } from "../../../../daemon/connection/tmuxVersion.ts";

test.each([
  "tmux 3.2",
  "tmux 3.2a",
  "tmux 3.3-rc",
  "tmux 3.3a",
  "tmux 3.10",
  "tmux 4.0",
  "tmux next-3.8",
  "tmux master",
  "tmux openbsd-6.9",
  "tmux openbsd-7.4",
])("%s is supported", (answer) => {
  expect(judgeVersion(answer)).toBe("supported");
});

test.each(["tmux 1.8", "tmux 2.9a", "tmux 3.1c", "tmux next-3.1", "tmux openbsd-6.6", "tmux openbsd-6.8"])(
  "%s is too old",
  (answer) => {
    expect(judgeVersion(answer)).toBe("too_old");
  },
);

test.each([
  "3.3a",
  "",
  "tmux",
  "screen 4.9",
  "tmux openbsd-",
  "tmux openbsd-current",
  "tmux masterful",
  "zellij 0.39",
  "tmux 3",
  "tmux x3.3",
])("%j is no version of tmux", (answer) => {
  expect(judgeVersion(answer)).toBe("unknown");
});

test("releases are compared as numbers", () => {
  expect(["3.2a", "3.10", "next-3.8", "master", "openbsd-7.4"].map(releaseOf)).toEqual([
    302,
    310,
    308,
    undefined,
    undefined,
  ]);
});
