/** What a pane with a shell in it is judged to be, by its marks, its bracketed paste or its prompt. */
import { afterEach, describe, expect, test } from "vitest";
import { dialog, Scene, WORKING } from "./engineScene.ts";

let scene: Scene;
afterEach(() => scene.end());

describe("a shell", () => {
  const shell = async (): Promise<Scene> => (scene = await new Scene().watch("bash", ["$ "]));

  test("is what its marks say, at once", async () => {
    await shell();
    scene.print("\u001b]133;C\u0007");
    expect(scene.state).toBe("busy by osc133");
    scene.print("\u001b]133;D;0\u0007\u001b]133;A\u0007$ \u001b]133;B\u0007");
    expect(scene.state).toBe("idle by osc133");
    expect(scene.told.map(({ state }) => state)).toEqual(["busy", "idle"]);
  });

  test("is what its editor says where it sends our marks", async () => {
    await shell();
    const before = scene.state;
    scene.print("\u001b]133;C;tmuxwire=12ab\u0007\u001b]133;A;tmuxwire\u0007");
    expect(scene.state).toBe(before);
    scene.print("\u001b[?2004l\u001b]133;C;tmuxwire=12ab\u0007");
    expect(scene.state).toBe("busy by bracketedPaste");
  });

  test("a command that ends in the turn in which it began is another idle", async () => {
    await shell();
    scene.print("\u001b]133;A\u0007");
    const before = scene.pane.current;
    await scene.pass(8);
    scene.print("\u001b]133;C\u0007\u001b]133;A\u0007");
    expect(scene.pane.current.state).toBe("idle");
    expect(scene.pane.current.position?.outputSeq).toBeGreaterThan(before.position?.outputSeq ?? Infinity);
  });

  test("that switches bracketed paste on reads a line; an editor that does is its command", async () => {
    await shell();
    scene.print("\u001b[?2004l");
    expect(scene.state).toBe("busy by bracketedPaste");
    scene.tmux.command = "vim";
    scene.print("\u001b[?1049h\u001b[?2004h", ["~", "~"]);
    expect(await scene.pass(40)).toBe("busy by bracketedPaste");
    scene.tmux.command = "bash";
    scene.print("\u001b[?2004l\u001b[?1049l\u001b[?2004h", ["$ "]);
    expect(await scene.pass(40)).toBe("idle by bracketedPaste");
    expect(scene.pane.current.profile).toBe("shell");
  });

  test("whose command has ended since it was asked for is a shell at its prompt", async () => {
    await shell();
    const ended = { pid: 2 ** 22 + 1, start: "1", executable: "1:1", names: ["sleep"], isShell: false };
    scene.tmux.inForeground = [{ ...ended, isInteractiveShell: false, depth: 0 }];
    scene.tmux.command = "sleep";
    scene.print("sleep 1\r\n", ["$ sleep 1", ""]);
    await scene.pass(40);
    scene.print("# ", ["$ sleep 1", "# "]);
    await scene.pass(40);
    scene.tmux.inForeground = undefined;
    scene.tmux.command = "bash";
    expect(await scene.pass(100)).toBe("idle by screen");
    expect(new Set(scene.told.map(({ profile }) => profile))).toEqual(new Set(["shell"]));
  });

  test("that was not yet in front when it was asked for is a script when it prints what looks like a prompt", async () => {
    scene = new Scene();
    scene.tmux.inForeground = [];
    await scene.watch("sh", [""]);
    const script = { pid: process.pid, start: "1", executable: "1:1", names: ["sh"], isShell: true };
    scene.tmux.inForeground = [{ ...script, isInteractiveShell: false, depth: 0 }];
    scene.print("ready in a moment $ ", ["ready in a moment $ "]);
    await scene.pass(100);
    expect(scene.told.filter(({ state }) => state === "idle")).toEqual([]);
    expect((await scene.pane.probe()).state).not.toBe("idle");
  });

  describe("that draws a dialog for what it then becomes", () => {
    const { pid } = process;
    const own = { pid, executable: "1:1", isInteractiveShell: false, depth: 0 };
    const become = (name: string): void => {
      const { start } = scene.tmux.processes.statNow(pid)!;
      scene.tmux.command = name;
      scene.tmux.inForeground = [{ ...own, start, names: [name], isShell: name === "bash" }];
    };
    const script = async (panePid: number): Promise<void> => {
      scene = new Scene();
      scene.tmux.panePid = panePid;
      become("bash");
      await scene.watch("bash", [""]);
      scene.print("Bash command", dialog("Bash command"));
      await scene.pass(40);
      expect(scene.pane.current).toMatchObject({ state: "unknown", profile: "shell" });
    };

    test("is that program, though it prints nothing more", async () => {
      await script(pid);
      become("anything");
      await scene.pass(100);
      expect(scene.pane.current).toMatchObject({ state: "asking", profile: "generic" });
    });

    test("is not asked for again and again", async () => {
      await script(pid);
      await scene.pass(2_000);
      const { captures } = scene.tmux;
      expect(captures).toBeLessThan(40);
      await scene.pass(2_000);
      expect(scene.tmux.captures).toBe(captures);
    });

    test("is a shell while the program only runs in it", async () => {
      await script(pid - 1);
      become("anything");
      await scene.pass(100);
      expect(scene.pane.current).toMatchObject({ state: "unknown", profile: "shell" });
    });
  });

  test("a child of tmux's server that has not started its program is nobody", async () => {
    scene = new Scene();
    scene.tmux.title = "✳ Claude Code";
    scene.tmux.inForeground = [];
    await scene.watch("tmux", [""]);
    expect(scene.pane.current.profile).toBe("generic");
  });

  test("who has only just come is asked for twice", async () => {
    await shell();
    scene.tmux.panePid = process.pid;
    const { start } = scene.tmux.processes.statNow(process.pid)!;
    const child = { pid: process.pid, start, executable: "1:1", isInteractiveShell: true, isShell: true, depth: 0 };
    scene.tmux.inForeground = [{ ...child, names: ["bash"] }];
    scene.print("\u001b[?2004l", [""]);
    await scene.pass(40);
    scene.tmux.command = "anything";
    scene.tmux.inForeground = [{ ...child, names: ["anything"], isInteractiveShell: false, isShell: false }];
    scene.print("Bash command", dialog("Bash command"));
    await scene.pass(100);
    expect(scene.pane.current).toMatchObject({ state: "asking", profile: "generic" });
  });

  test("without any mark is judged by its prompt; a line being typed is still its prompt", async () => {
    await shell();
    expect(scene.state).toBe("idle by screen");
    scene.print("l", ["$ ls -l"]);
    expect(await scene.pass(40)).toBe("idle by screen");
    scene.print("\r\n", ["$ ls -l", ""]);
    expect(await scene.pass(40)).toBe("busy by screen");
    scene.print("$ ", ["$ ls -l", "$ "]);
    expect(await scene.pass(40)).toBe("idle by screen");
  });

  test("that starts an agent is that agent, with what its hook said before it was recognised", async () => {
    await shell();
    scene.pane.report({ state: "busy" });
    scene.tmux.command = "claude";
    scene.print("\u001b[?2004l\u001b[?2004h", WORKING);
    await scene.pass(40);
    expect(scene.pane.current).toMatchObject({ state: "busy", source: "hook", profile: "claude" });
  });

  test("what it retains from before tells its state", async () => {
    scene = new Scene();
    scene.tmux.source.write("\u001b]133;A\u0007$ \u001b]133;B\u0007make\r\n\u001b]133;C\u0007compiling");
    await scene.watch("make", ["$ make", "compiling"]);
    expect(scene.pane.current).toMatchObject({ state: "busy", source: "osc133", profile: "shell" });
  });
});
