/**
 * The daemon where the pty module did not install: on pipes. Whether a killed one leaves its clients is a matter of what they
 * had to say (test/live/orphanedClients.test.ts has those that are left); the next one starts all the same.
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { beforeAll, afterAll, expect, test } from "vitest";
import { type CliSandbox, cliSandbox, type Finished, type Running } from "../support/daemon/cliSandbox.ts";
import { eventually } from "../support/clock/eventually.ts";
import { attached, userSession } from "../support/tmux/guestFixture.ts";
import { privateSocket } from "../support/tmux/ownedFixture.ts";
import { orphanedClient } from "../support/daemon/orphanedClient.ts";

const NO_MODULE = `const Module = require("node:module");
const load = Module._load;
Module._load = function (name, ...rest) {
  if (name.includes("node-pty")) throw new Error("no prebuilt binary for this system");
  return load.call(this, name, ...rest);
};`;

let sandbox: CliSandbox;
let env: Record<string, string>;
beforeAll(() => {
  sandbox = cliSandbox();
  const file = sandbox.path("noModule.cjs");
  writeFileSync(file, NO_MODULE);
  env = { NODE_OPTIONS: `--require ${file}` };
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const serve = (...args: string[]): Promise<Running> => sandbox.serve(args, { env });
const run = (...args: string[]): Promise<Finished> => sandbox.run(args, { env });

async function kill({ child }: Running): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

test("doctor says so; the daemon works, leaves nothing when it stops, and starts again after it was killed", async () => {
  await using user = privateSocket();
  userSession(user, "theirs");
  const owned = { tmux: (...args: string[]) => sandbox.tmux(sandbox.tmuxSocketPath, ...args) };
  const clients = (): readonly string[] =>
    owned.tmux("list-clients", "-F", "#{client_pid} #{client_tty}").trim().split("\n").filter(Boolean);

  const { checks } = JSON.parse((await run("doctor", "--json", "--port", "0", "--addin-port", "0")).stdout) as {
    checks: { check: string; verdict: string; message: string }[];
  };
  expect(checks.find(({ check }) => check === "terminal module")).toMatchObject({
    verdict: "warn",
    message: expect.stringContaining("no prebuilt binary for this system") as string,
  });

  const first = await serve("--server", `user=${user.socketPath}`);
  expect(first.stderr()).toContain('"event":"host.pty.missing"');
  expect(first.stderr()).not.toContain("innerError");
  expect((await run("new", "work", "--", "sh")).code).toBe(0);
  expect(await run("run", "work", "echo one-$((40+2))")).toMatchObject({ code: 0, stdout: "one-42\n" });
  // The daemon itself, or on pipes: no terminal.
  expect(clients()).toEqual([expect.stringMatching(/^\d+ *$|^(\d+) tmuxwire-\1-/) as string]);
  const [left = ""] = clients();
  await eventually(() => attached(user).length === 1);
  const [guestLeft] = attached(user);

  // Another daemon is told who holds the server, and does it no harm.
  const refused = await sandbox.run(
    ["serve", "--only", "native", "--port", "0", "--socket", sandbox.path("run/b.sock")],
    {
      env,
    },
  );
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`(pid ${first.pid})`) as string });
  expect(await run("run", "work", "echo still")).toMatchObject({ code: 0, stdout: "still\n" });

  await kill(first);

  using person = await orphanedClient(["-u", "-S", user.socketPath, "attach-session"]);
  const second = await serve("--server", `user=${user.socketPath}`);
  expect(clients()).not.toContain(left);
  expect(clients()).toHaveLength(1);
  expect(await run("run", "work", "echo again")).toMatchObject({ code: 0, stdout: "again\n" });
  await eventually(() => {
    const pids = attached(user).map(({ pid }) => pid);
    return pids.length === 2 && !pids.includes(guestLeft!.pid) && pids.includes(person.pid);
  });

  second.child.kill("SIGTERM");
  expect((await second.finished).code).toBe(0);
  await eventually(() => clients().length === 0);
  expect(owned.tmux("list-sessions", "-F", "#{session_name}")).toBe("work\n");
  expect(attached(user).map(({ pid }) => pid)).toEqual([person.pid]);
}, 180_000);
