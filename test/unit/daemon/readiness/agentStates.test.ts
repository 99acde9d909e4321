/** What a pane with an agent in it is judged to be, by what it says, what it shows and what its hooks report. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import type { Foreground } from "../../../../daemon/tmux/processes.ts";
import { BOX, dialog, Scene, title, WORKING } from "./engineScene.ts";

let scene: Scene;
const claude = async (lines: readonly string[] = BOX): Promise<Scene> =>
  (scene = await new Scene().watch("claude", lines));

afterEach(() => scene.end());

/** A process that counts as Claude, in front of the pane. Returns what ends it. */
function claudeProcess({ tmux }: Scene): () => Promise<void> {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  const pid = child.pid!;
  const { start } = tmux.processes.statNow(pid)!;
  tmux.panePid = pid;
  tmux.inForeground = [
    { pid, start, executable: "1:1", names: ["claude"], isInteractiveShell: false, isShell: false, depth: 0 },
  ];
  return async () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
}

describe("an agent", () => {
  test("is what its screen shows when it says nothing", async () => {
    await claude();
    expect(scene.pane.current).toMatchObject({ state: "idle", source: "screen", profile: "claude" });
    scene.print("x", WORKING);
    expect(await scene.pass(20)).toBe("busy by screen");
    expect(scene.pane.current).toMatchObject({ sinceUnixMs: 1_000_016, position: { epoch: "e1", outputSeq: 1 } });
    scene.print("y", BOX);
    expect(await scene.pass(20)).toBe("idle by screen");
  });

  test("is busy at the byte that says so, without a look", async () => {
    await claude();
    const { captures } = scene.tmux;
    scene.print(title("⠂ project"));
    expect(scene.state).toBe("busy by title");
    expect(scene.tmux.captures).toBe(captures);
  });

  test("that nobody knew when its dialog came is asked for before the dialog is told", async () => {
    scene = await new Scene().watch("node", ["starting"]);
    scene.print("x", ["Claude Code v2.1.330", ...dialog("Bash command")]);
    await scene.pass(100);
    expect(scene.state).toBe("asking by screen");
    const asked = scene.told.filter(({ state }) => state === "asking");
    expect(asked.map(({ profile }) => profile)).toEqual(["claude"]);
  });

  test("with the title that means idle or asking is neither before the frame that belongs to it", async () => {
    await claude();
    scene.print(title("⠂ project"), WORKING);
    await scene.pass(100);
    scene.print(title("✳ project"));
    // The box of before is still drawn.
    scene.print("", BOX);
    expect(await scene.pass(32)).toBe("busy by title");
    scene.print("drawn", dialog("Bash command"));
    expect(await scene.pass(30)).toBe("asking by screen");
    expect(scene.told.map(({ state }) => state)).not.toContain("idle");
  });

  test("with that title and its box is idle within 100 ms", async () => {
    await claude(WORKING);
    scene.print(title("⠂ project"));
    await scene.pass(100);
    scene.print(title("✳ project"), BOX);
    expect(await scene.pass(60)).toBe("idle by title");
  });

  test("that asks stays asking, whatever hook comes, until the dialog is gone", async () => {
    await claude();
    scene.pane.report({ state: "busy" });
    scene.print("x", dialog("Bash command"));
    expect(await scene.pass(20)).toBe("asking by screen");
    scene.pane.report({ state: "idle" });
    expect(scene.state).toBe("asking by screen");
    scene.pane.report({ state: "busy" });
    expect(scene.state).toBe("asking by screen");
    scene.print("y", WORKING);
    expect(await scene.pass(20)).toBe("busy by hook");
  });

  test("says asking by its hook first, and the dialog follows when it is drawn", async () => {
    await claude(WORKING);
    scene.pane.report({ state: "busy" });
    scene.pane.report({ state: "asking" });
    expect(scene.pane.current).toMatchObject({ state: "asking", source: "hook" });
    expect(scene.pane.current.dialog).toBeUndefined();
    await scene.pass(78);
    scene.print("drawn", dialog("Bash command"));
    await scene.pass(20);
    expect(scene.pane.current).toMatchObject({
      state: "asking",
      source: "hook",
      dialog: { options: [{ keys: ["1"] }, { keys: ["2"] }] },
    });
    // Escape: no hook, no title.
    scene.print("gone", BOX);
    expect(await scene.pass(20)).toBe("idle by screen");
  });

  test("interrupted without a hook is not busy for ever: the box, no word of work, and quiet", async () => {
    await claude(WORKING);
    scene.pane.report({ state: "busy" });
    scene.print("x", BOX);
    expect(await scene.pass(1_400)).toBe("busy by hook");
    scene.print("y");
    expect(await scene.pass(1_400)).toBe("busy by hook");
    expect(await scene.pass(200)).toBe("idle by screen");
  });

  test("at work stays busy however long it is quiet while its screen says so", async () => {
    await claude(WORKING);
    scene.pane.report({ state: "busy" });
    expect(await scene.pass(10_000)).toBe("busy by hook");
  });

  test("a late hook does not overrule what the program has said since", async () => {
    await claude();
    await scene.pass(100);
    scene.print(title("⠂ project"), WORKING);
    scene.pane.report({ state: "idle", atMs: 50 });
    expect(scene.state).toBe("busy by title");
  });

  test("a straggling frame of the spinner does not undo the Stop hook, a spinner that goes on does", async () => {
    await claude(WORKING);
    scene.print(title("⠂ project"));
    await scene.pass(50);
    scene.pane.report({ state: "idle" });
    scene.print(title("⠐ project"), BOX);
    expect(await scene.pass(40)).toBe("idle by hook");
    await scene.pass(600);
    scene.print(title("⠂ project"), WORKING);
    expect(scene.state).toBe("busy by title");
  });

  test("is starting while it draws what nobody knows, unknown when it has come to rest", async () => {
    scene = await new Scene().watch("claude", []);
    expect(scene.state).toBe("unknown by none");
    scene.print("Loading", ["Loading"]);
    expect(await scene.pass(20)).toBe("starting by screen");
    expect(await scene.pass(3_000)).toBe("unknown by none");
    scene.print("box", BOX);
    expect(await scene.pass(20)).toBe("idle by screen");
  });

  test.each([
    ["a title", title("⠐ project"), []],
    ["its box, as if it waited", "x", BOX],
  ])("that has just ended is dead, whatever it leaves: %s", async (_what, printed, left) => {
    scene = new Scene();
    const end = claudeProcess(scene);
    await scene.watch("claude", BOX);
    scene.print(printed, dialog("Bash command"));
    expect(await scene.pass(100)).toBe("asking by screen");
    // Its process has been asked for in this very moment.
    scene.print("x", dialog("Bash command"));
    await scene.pass(20);
    await end();
    scene.told.length = 0;
    scene.tmux.lines = left;
    await scene.pane.probe();
    expect(scene.told.map(({ state, source }) => `${state} by ${source}`)).toEqual(["dead by screen"]);
  });

  test("that nobody follows and that ends while its last frame looks as if it waited was never ready", async () => {
    scene = new Scene();
    const end = claudeProcess(scene);
    scene.tmux.kind = "guest";
    scene.tmux.command = "claude";
    scene.tmux.lines = WORKING;
    scene.pane = scene.engine.watch(scene.tmux.server, scene.tmux.pane, { unfollowed: true });
    expect((await scene.pane.probe()).state).toBe("busy");
    scene.pane.subscribe((readiness) => scene.told.push(readiness));
    scene.tmux.lines = BOX;
    const probed = scene.pane.probe();
    await scene.pass(20);
    await end();
    scene.tmux.inForeground = [];
    await scene.pass(60);
    expect([(await probed).state, ...scene.told.map(({ state }) => state)]).toEqual(["dead", "dead"]);
  });

  test("is not at work because the one before it was when it was killed, but is when it says so itself", async () => {
    await claude(WORKING);
    expect(scene.state).toBe("busy by screen");
    const left = [...WORKING.slice(0, 3), "❯ Killed"];
    scene.tmux.command = "bash";
    scene.print("\u001b[?2004h", [...left, "user@host:~$ "]);
    await scene.pass(40);
    expect(scene.pane.current).toMatchObject({ state: "idle", profile: "shell" });
    scene.tmux.command = "claude";
    scene.print("\u001b[?2004l", [...left, "user@host:~$ claude", "▐▛███▜▌ Claude Code v2.1.197", ...BOX]);
    await scene.pass(40);
    expect(scene.pane.current).toMatchObject({ state: "idle", profile: "claude" });
    scene.print("x", [...left, "user@host:~$ claude", "▐▛███▜▌ Claude Code v2.1.197", ...WORKING]);
    expect(await scene.pass(40)).toBe("busy by screen");
  });

  test.each([
    ["", false],
    [", also for who begins to watch it then", true],
  ])("is not at work because one was whose place it takes at once%s", async (_, isWatchedAnew) => {
    const children = [spawn("sleep", ["1000"], { stdio: "ignore" }), spawn("sleep", ["1000"], { stdio: "ignore" })];
    scene = new Scene();
    const inFront = (pid: number): Foreground => {
      const { start } = scene.tmux.processes.statNow(pid)!;
      scene.tmux.panePid = pid;
      return [
        { pid, start, executable: "1:1", names: ["claude"], isInteractiveShell: false, isShell: false, depth: 0 },
      ];
    };
    scene.tmux.inForeground = inFront(children[0]!.pid!);
    await scene.watch("claude", WORKING);
    expect(scene.state).toBe("busy by screen");
    const ended = once(children[0]!, "exit");
    children[0]!.kill("SIGKILL");
    await ended;
    scene.tmux.inForeground = inFront(children[1]!.pid!);
    if (isWatchedAnew) {
      scene.pane[Symbol.dispose]();
      await scene.watch("claude", [...WORKING.slice(0, 3), "❯ Killed"]);
    }
    scene.print("x", [...WORKING.slice(0, 3), "❯ Killed", "", ...BOX]);
    await scene.pass(40);
    expect(scene.state).toBe("idle by screen");
    // In the place where it stood it means something once something else has stood there.
    scene.print("x", ["Welcome", ...WORKING.slice(1, 3), "", "", ...BOX]);
    expect(await scene.pass(40)).toBe("idle by screen");
    scene.print("x", WORKING);
    expect(await scene.pass(40)).toBe("busy by screen");
    children[1]!.kill("SIGKILL");
  });

  test("behind a page of its own that nobody knows is unknown", async () => {
    await claude();
    scene.print("x", ["  Settings", "  Theme  dark"]);
    expect(await scene.pass(400)).toBe("unknown by screen");
  });

  test("that went back to a shell is a shell, or dead when the profile was given", async () => {
    await claude();
    scene.tmux.command = "bash";
    scene.print("\u001b[?2004l\u001b[?2004h", [...BOX, "user@host:~$ "]);
    await scene.pass(40);
    expect(scene.pane.current).toMatchObject({ state: "idle", source: "bracketedPaste", profile: "shell" });
    scene.engine.close();
    scene = await new Scene().watch("claude", BOX, "claude");
    scene.tmux.command = "bash";
    // Its last frame still stands there.
    scene.print("\u001b[?2004l\u001b[?2004h", [...BOX, "user@host:~$ "]);
    await scene.pass(40);
    expect(scene.pane.current).toMatchObject({ state: "dead", source: "screen", profile: "claude" });
    scene.print("ls", [...BOX, "user@host:~$ ls"]);
    await scene.pass(40);
    expect(scene.pane.current.state).toBe("dead");
    scene.tmux.command = "claude";
    scene.print("\u001b[?2004l", BOX);
    await scene.pass(40);
    expect(scene.pane.current).toMatchObject({ state: "idle", profile: "claude" });
  });
});

test("a shell that reads again while a look at the agent before it is under way is at its prompt", async () => {
  await claude();
  let release = (): void => undefined;
  scene.tmux.held = new Promise((resolve) => (release = resolve));
  scene.print("\u001b[?2004l");
  await scene.pass(40);
  scene.tmux.command = "bash";
  scene.print("\u001b[?2004h", [...BOX, "user@host:~$ "]);
  scene.tmux.held = undefined;
  release();
  await scene.pass(100);
  expect(scene.pane.current).toMatchObject({ state: "idle", source: "bracketedPaste", profile: "shell" });
});

test("a shell that reads again before its process is in the foreground is at its prompt", async () => {
  await claude();
  scene.tmux.inForeground = [];
  scene.print("\u001b[?2004l\u001b[?2004h", [...BOX, "user@host:~$ "]);
  await scene.pass(40);
  scene.tmux.inForeground = undefined;
  scene.tmux.command = "bash";
  scene.print(" ");
  await scene.pass(100);
  expect(scene.pane.current).toMatchObject({ state: "idle", source: "bracketedPaste", profile: "shell" });
});

test("an agent behind a wrapper that is a shell's name is not gone: the cursor is in its box", async () => {
  scene = new Scene();
  scene.tmux.cursor = { row: 1, col: 2 };
  await scene.watch("sh", BOX, "claude");
  scene.print("\u001b[?2004h");
  await scene.pass(40);
  expect(scene.pane.current).toMatchObject({ state: "idle", profile: "claude" });
});

describe("dialogs", () => {
  test("another one, and the same one again, have other ids; a mark that moves does not", async () => {
    await claude(dialog("first"));
    const first = scene.pane.current.dialog;
    scene.print(
      "x",
      dialog("first").map((row) => row.replace("❯", " ").replace("   2.", " ❯ 2.")),
    );
    await scene.pass(20);
    const moved = scene.pane.current.dialog;
    expect([moved?.id, moved?.marked]).toEqual([first?.id, 1]);
    scene.print("x", dialog("second"));
    await scene.pass(20);
    const second = scene.pane.current.dialog;
    scene.print("x", WORKING);
    await scene.pass(20);
    expect(scene.pane.current.dialog).toBeUndefined();
    scene.print("x", dialog("second"));
    await scene.pass(20);
    const again = scene.pane.current.dialog;
    expect(new Set([first?.id, second?.id, again?.id]).size).toBe(3);
  });

  test("what does not change is told once", async () => {
    await claude(dialog("first"));
    for (let turn = 0; turn < 5; turn += 1) {
      scene.print("blink");
      await scene.pass(100);
    }
    expect(scene.told).toEqual([]);
  });
});
