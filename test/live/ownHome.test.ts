/**
 * Nobody's start-up files are read, not even those of whoever runs the tests: a shell of theirs may take a minute to start.
 * `.ci/run` runs the tests with a home whose start-up files never end; here is what that rests on.
 */
import { readdirSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { dirname } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";

test("the home is this file's own, and empty", () => {
  expect(dirname(homedir())).toBe(tmpdir());
  expect(homedir()).not.toBe(userInfo().homedir);
  expect(readdirSync(homedir())).toEqual([]);
});

test("nothing leads elsewhere", () => {
  const leads = ["ENV", "BASH_ENV", "ZDOTDIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMUX"];
  expect(leads.filter((name) => process.env[name] !== undefined)).toEqual([]);
});

test("a tmux server and its panes' shells are told of it", async () => {
  await using fixture = await ownedFixture();
  expect(fixture.socket.tmux("show-environment", "-g", "HOME").trim()).toBe(`HOME=${homedir()}`);
});
