/** The short form of `npm run load -- crowd`. */
import { expect, test } from "vitest";
import { crowd } from "../support/tmux/crowd.ts";

test.each(["owned", "guest"] as const)("a server lives in a crowd: %s", async (kind) => {
  expect(await crowd(kind, 1, 4)).toMatch(/^tmux /);
});
