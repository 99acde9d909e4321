/** How many sessions a connection of ssh is given, by what sshd has taken and refused. Real ones: test/programs/agentlessHosts. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SshMaster, SshMasterOptions } from "../../../../adapters/remote/sshMaster.ts";
import { SshSessions } from "../../../../adapters/remote/sshSessions.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

const REFUSED = { code: 255, stdout: "", stderr: "mux_client_request_session: Session open refused by peer\n" };
const DONE = { code: 0, stdout: "tmux 3.6\n", stderr: "" };

/** Refuses the commands that are asked for at these turns, from 1 on; no second connection can be made. */
function scene(isRefused: (turn: number) => boolean) {
  let turns = 0;
  const master = {
    controlPath: "/nowhere",
    isLoggedIn: true,
    run: async () => (isRefused((turns += 1)) ? REFUSED : DONE),
  } as unknown as SshMaster;
  const sessions = new SshSessions({ name: "build" } as SshMasterOptions, master);
  return { run: () => sessions.run("tmux -V"), turns: () => turns };
}

test("a connection that has taken a command takes one again after sshd still counted the one that had ended", async () => {
  const { run, turns } = scene((turn) => turn === 2 || turn === 3);
  expect([await run(), await run(), await run()]).toEqual([DONE, DONE, DONE]);
  expect(turns()).toBe(5);
});

test("a connection that has never taken one is not asked again", async () => {
  const { run, turns } = scene(() => true);
  await expect(run()).rejects.toMatchObject({ code: "RESOURCE_LIMIT" });
  expect(turns()).toBe(1);
});

test("a connection that takes none any more is given up", async () => {
  const { run, turns } = scene((turn) => turn > 1);
  await run();
  await expect(run()).rejects.toMatchObject({ code: "RESOURCE_LIMIT" });
  expect(turns()).toBe(21);
});

test("a further login that is refused is not tried again and again: that could lock the account", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tw-ssh-"));
  const logins = join(directory, "logins");
  writeFileSync(
    join(directory, "ssh"),
    `#!/bin/sh\necho >>'${logins}'\necho 'me@build: Permission denied (publickey).' >&2\nexit 255\n`,
    { mode: 0o755 },
  );
  const clock = new FakeClock();
  const options: SshMasterOptions = {
    name: "build",
    destination: "build",
    directory: join(directory, "host"),
    loginPath: join(directory, "login"),
    env: { PATH: `${directory}:${process.env["PATH"]}` },
    clock,
  };
  const endless = (): Promise<never> => new Promise(() => undefined);
  const first = { controlPath: "/nowhere", isLoggedIn: false, run: endless } as unknown as SshMaster;
  const sessions = new SshSessions(options, first);
  // As many as one connection takes.
  for (let taken = 0; taken < 9; taken += 1) void sessions.run("sleep");
  const count = (): number => readFileSync(logins, "utf8").length;
  for (const [passMs, tried] of [
    [0, 1],
    [1, 1],
    [599_998, 1],
    [1, 2],
  ] as const) {
    clock.advanceMs(passMs);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await expect(sessions.run("true")).rejects.toMatchObject({ details: { state: "auth_needed" } });
    expect(count()).toBe(tried);
  }
  rmSync(directory, { recursive: true });
});
