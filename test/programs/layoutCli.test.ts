/** Windows and panes from the command line, against a daemon on real tmux. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliSandbox, type CliSandbox } from "../support/daemon/cliSandbox.ts";
import { run } from "../support/daemon/sandboxDaemon.ts";

let sandbox: CliSandbox;
beforeAll(async () => {
  sandbox = cliSandbox();
  const daemon = await sandbox.serve();
  await daemon.line(/listening on (http:\S+)/);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const ok = (...args: string[]): Promise<string> => run(sandbox, ...args);

interface Told {
  readonly id: string;
  readonly event: { readonly type: string };
}

test("new-window → split-window → select-layout → respawn-pane → kill-window, and each is told", async () => {
  const first = (await ok("new", "work", "--", "cat")).trim();
  const events = sandbox.start(["events"]);
  await events.line(/"type":"reset"/);
  const logs = (await ok("new-window", "work", "--name", "logs", "--detached", "-e", "A=b c", "--", "cat")).trim();
  const beside = (await ok("split-window", logs, "--direction", "horizontal", "--size", "40%", "--", "cat")).trim();
  expect(await ok("panes")).toMatch(new RegExp(`^${beside} +work +32x24 `, "m"));
  const { window } = JSON.parse(await ok("select-layout", "work", "tiled", "--json")) as { window: string };
  const tree = await ok("tree");
  expect(tree).toMatch(
    new RegExp(`^work \\$\\d+\n  0: \\S+ ${window}\\*\n    ${first}\\* 80x24 .*\n  1: logs @\\d+\n`),
  );
  await ok("set-pane-option", logs, "remain-on-exit", "on");
  expect(await sandbox.run(["set-pane-option", logs, "remain-on-exit", "maybe"])).toMatchObject({ code: 2 });
  const fresh = (await ok("respawn-pane", beside, "--", "cat")).trim();
  expect(fresh).not.toBe(beside);
  await ok("resize-pane", logs, "--zoom");
  await ok("resize-pane", logs, "--unzoom");
  await ok("rename-window", logs, "notes");
  const windows = JSON.parse(await ok("windows", "--json")) as { windows: { id: string; name: string }[] };
  const { id } = windows.windows.find(({ name }) => name === "notes")!;
  await ok("kill-window", id);
  await events.line(/"type":"window-closed"/);
  events.child.kill("SIGINT");
  const told = (await events.finished).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Told);
  const types = told.map(({ event }) => event.type);
  expect(types[0]).toBe("reset");
  const some = ["window-created", "pane-created", "session-windows-changed", "layout-changed", "window-renamed"];
  expect(types).toEqual(expect.arrayContaining(some));
  const numbers = told.map(({ id: at }) => Number(at.split(":")[1]));
  expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! + index));
});
