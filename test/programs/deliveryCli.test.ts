/** `tmuxwire submit` as a user's shell runs it, and what a daemon that was killed knows of it afterwards. */
import { once } from "node:events";
import { expect, test } from "vitest";
import { cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import { run } from "../support/daemon/sandboxDaemon.ts";

const parsed = (text: string): object => JSON.parse(text) as object;

test("exit codes tell what became of a prompt; a key holds across kill -9 of the daemon", async () => {
  await using sandbox = cliSandbox();
  const kill = async ({ child }: Running): Promise<void> => {
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
  const daemon = await sandbox.serve();
  const ok = (...args: string[]): Promise<string> => run(sandbox, ...args);
  await ok("new", "work", "--", "bash", "--norc", "--noprofile", "-i");
  await ok("wait", "work", "--from", "tail:1", "--prompt");

  expect(await ok("submit", "work", "echo one-$((40+2))")).toBe("");
  await ok("wait", "work", "--from", "tail:50", "--regex", "^one-42$");

  const first = parsed(await ok("submit", "work", "--json", "--key", "task-1", "echo x >>counted; wc -l <counted"));
  expect(first).toMatchObject({ outcome: "submitted", enterPresses: 1 });
  await ok("wait", "work", "--from", "tail:50", "--regex", "^1$");

  const stdin = await sandbox.run(["submit", "work", "-"], { input: "echo from-$((1+2)); echo 'an end';" });
  expect(stdin).toMatchObject({ code: 0, stdout: "", stderr: "" });
  await ok("wait", "work", "--from", "tail:50", "--regex", "^from-3$");

  await ok("submit", "work", "stty -echo; cat >/dev/null");
  const busy = await sandbox.run(["submit", "work", "too early"]);
  expect(busy).toMatchObject({ code: 10, stdout: "", stderr: expect.stringMatching(/busy/) as string });
  const unseen = await sandbox.run(["submit", "work", "--profile", "generic", "unseen"]);
  expect(unseen).toMatchObject({ code: 22, stderr: expect.stringMatching(/Enter was not pressed/) as string });

  await kill(daemon);
  await sandbox.serve();
  const again = ["submit", "work", "--json", "--key", "task-1"];
  const repeated = parsed(await ok(...again, "echo x >>counted; wc -l <counted"));
  expect(repeated).toEqual({ ...first, repeated: true });
  const other = await sandbox.run([...again, "another text"]);
  expect(other).toMatchObject({ code: 7, stdout: expect.stringMatching(/"ALREADY_EXISTS"/) as string });
  expect((await sandbox.run(["submit", "work"])).code).toBe(2);
});
