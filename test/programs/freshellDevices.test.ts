/** The built command line as a device, against the daemon and real tmux: what two devices do to each other's layouts. */
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PaneList, TabList } from "../../adapters/freshell/cli/deviceCalls.ts";
import type { TerminalEntry } from "../../protocol/api/freshell/freshellHttp.ts";
import type { FreshellScene } from "../support/freshell/freshellScene.ts";
import { AUTH_TOKEN, freshellScene } from "../support/freshell/freshellScene.ts";

let scene: FreshellScene;
beforeAll(async () => {
  scene = await freshellScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

interface Made {
  readonly tabId: string;
  readonly paneId: string;
  readonly terminalId: string;
  readonly appliedRevision: number;
}
const terminals = async (): Promise<readonly string[]> =>
  (await scene.data<readonly TerminalEntry[]>("list-terminals")).map(({ terminalId }) => terminalId);

describe("this device", () => {
  test("F014 F048 F077 F096 F101 a build in a pane: opened, typed into, waited for, read, and left running", async () => {
    const { paneId, terminalId } = await scene.data<Made>("new-tab", "-n", "build", "--cwd", scene.sandbox.path("tmp"));
    const at = ["--target", "pane-index:0", "--tab", "tab-name:build"];
    await scene.data("send-keys", ...at, "pwd; echo done-$((1+1))", "Enter");
    await scene.data("wait-for", "--target", `pane:${paneId}`, "-p", "done-2", "--from", "tail:50");
    expect((await scene.run("capture-pane", ...at)).stdout).toContain(`${scene.sandbox.path("tmp")}\ndone-2\n`);
    const split = await scene.data<Made>("split-pane", ...at, "--direction", "horizontal", "--shell");
    const page = await scene.data<Made>(
      "split-pane",
      ...at,
      "--direction",
      "vertical",
      "--browser",
      "http://localhost:1",
    );
    const { panes } = await scene.data<PaneList>("list-panes", "--tab", "tab-name:build");
    expect(panes.map(({ id, kind }) => [id, kind])).toEqual([
      [paneId, "terminal"],
      [page.paneId, "browser"],
      [split.paneId, "terminal"],
    ]);
    expect(await scene.refusal("send-keys", "--target", `pane:${page.paneId}`, "x")).toMatchObject({
      exitCode: 4,
      code: "INVALID_TARGET",
    });
    const before = (await scene.data<readonly TerminalEntry[]>("list-terminals")).find(
      (one) => one.terminalId === terminalId,
    );
    expect(
      await scene.data("attach-terminal", "--target", `terminal:${terminalId}`, "--to", `pane:${page.paneId}`),
    ).toMatchObject({
      terminalId,
      appliedRevision: page.appliedRevision + 1,
    });
    expect(await scene.data("respawn-pane", "--target", `pane:${split.paneId}`)).toMatchObject({
      terminalId: split.terminalId,
    });
    const killed = await scene.data<{ detachedTerminals: readonly string[] }>("kill-tab", "--target", "tab-name:build");
    expect(new Set(killed.detachedTerminals)).toEqual(new Set([terminalId, split.terminalId]));
    const after = (await scene.data<readonly TerminalEntry[]>("list-terminals")).find(
      (one) => one.terminalId === terminalId,
    );
    expect([after?.status, after?.pid]).toEqual(["running", before?.pid]);
  });

  test("F032 F160 ten commands at once are ten tabs and ten revisions, and one key is one tab", async () => {
    const { workspaceRevision, tabs } = await scene.data<TabList>("list-tabs");
    await Promise.all(Array.from({ length: 10 }, (_, at) => scene.data("new-tab", "-n", `many-${at}`)));
    const after = await scene.data<TabList>("list-tabs");
    expect([after.workspaceRevision - workspaceRevision, after.tabs.length - tabs.length]).toEqual([10, 10]);
    const [one, two] = [
      await scene.data("new-tab", "--idempotency-key", "k"),
      await scene.data("new-tab", "--idempotency-key", "k"),
    ];
    expect(two).toEqual(one);
    expect((await scene.data<TabList>("list-tabs")).tabs).toHaveLength(after.tabs.length + 1);
    expect(existsSync(scene.sandbox.path("home/.freshell/cli-device.lock"))).toBe(false);
  });
});

/** Another home on this machine, which is another device. */
function another(name: string) {
  const options = {
    script: "freshell.js",
    env: { FRESHELL_URL: scene.url, AUTH_TOKEN, FRESHELL_HOME: scene.sandbox.path(name) },
  };
  const run = async <Told>(status: "ok" | "error", [command = "", ...rest]: readonly string[]): Promise<Told> => {
    const { code, stdout, stderr } = await scene.sandbox.run([command, "--json", ...rest], options);
    const told = JSON.parse(stdout) as { status: string };
    if (told.status !== status) throw new Error(`${command} ${rest.join(" ")}: ${stdout}${stderr}`);
    return { ...told, exitCode: code } as Told;
  };
  return {
    login: () => run("ok", ["auth", "login"]),
    start: (...args: readonly string[]) => scene.sandbox.start(args, options),
    data: async <Data>(...args: readonly string[]) => (await run<{ data: Data }>("ok", args)).data,
    refusal: (...args: readonly string[]) => run<{ code: string; exitCode: number }>("error", args),
  };
}

describe("another device that runs", () => {
  test("F003 F031 F033 F198 it does what it allows, through one owner, and stops when it is told to", async () => {
    const desk = another("desk");
    await desk.login();
    const me = (await scene.data<{ text: string }>("display", "-p", "%deviceId")).text;
    const running = desk.start("device", "run", "--allow-remote", me);
    const id = (await desk.data<{ text: string }>("display", "-p", "%deviceId")).text;
    await running.line(/is online/);
    const made = await scene.data<Made>("new-tab", "--device", id, "-n", "from afar");
    const split = ["--device", id, "--target", `pane:${made.paneId}`, "--direction", "horizontal", "--shell"];
    const { terminalId } = await scene.data<Made>("split-pane", ...split);
    await desk.data("rename-tab", "--target", `tab:${made.tabId}`, "renamed here");
    expect(await scene.data<TabList>("list-tabs", "--device", id)).toMatchObject({
      source: "live",
      ownerDeviceId: id,
      workspaceRevision: 4,
      tabs: [{ id: made.tabId, title: "renamed here", ownerDeviceId: id, panes: 2 }],
    });
    await scene.data(
      "send-keys",
      "--device",
      id,
      "--target",
      "pane-index:1",
      "--tab",
      "tab-index:0",
      "echo far-$((1+1))",
      "Enter",
    );
    await scene.data("wait-for", "--target", `terminal:${terminalId}`, "-p", "far-2", "--from", "tail:50");
    const phone = another("phone");
    await phone.login();
    expect(await phone.refusal("kill-tab", "--device", id, "--target", "tab-index:0")).toMatchObject({
      exitCode: 6,
      code: "UNAUTHORIZED",
    });
    running.child.kill("SIGTERM");
    expect((await running.finished).code).toBe(0);
    expect(await scene.refusal("kill-tab", "--device", id, "--target", "tab-index:0")).toMatchObject({
      exitCode: 5,
      code: "DEVICE_OFFLINE",
    });
    expect(await terminals()).toContain(terminalId);
  });
});
