import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { createReadiness, type ReadinessEngine } from "../../../daemon/readiness/engine.ts";
import type { PaneReadiness, Readiness } from "../../../daemon/readiness/readiness.ts";
import { AppError } from "../../../protocol/errors.ts";
import { FakeClock } from "../../support/fakeClock.ts";
import { MemorySource } from "../../support/memorySource.ts";
import { cutAt, cuts } from "../text/cuts.ts";
import { ReadinessServer, rest } from "../../support/readinessServer.ts";

const RULE = "─".repeat(60);
const BOX = [RULE, "❯ ", RULE, "  ? for shortcuts"];
const WORKING = ["✻ Pondering… (esc to interrupt)", ...BOX];
const dialog = (what: string): string[] => [
  RULE,
  ` ${what}`,
  " Do you want to proceed?",
  " ❯ 1. Yes",
  "   2. No, and tell Claude what to do differently (esc)",
];

class Scene {
  readonly clock = new FakeClock();
  readonly errors: unknown[] = [];
  readonly tmux = new ReadinessServer();
  readonly engine: ReadinessEngine = createReadiness({
    clock: this.clock,
    nowUnixMs: () => 1_000_000 + this.clock.nowMs(),
    onError: (error) => this.errors.push(error),
  });
  readonly told: Readiness[] = [];
  pane!: PaneReadiness;

  async watch(command: string, lines: readonly string[], profile?: string): Promise<this> {
    this.tmux.command = command;
    this.tmux.lines = lines;
    this.pane = this.engine.watch(this.tmux.server, this.tmux.pane, { profile });
    this.pane.subscribe((readiness) => this.told.push(readiness));
    await rest();
    this.told.length = 0;
    return this;
  }

  get state(): string {
    return `${this.pane.current.state} by ${this.pane.current.source}`;
  }

  /** The program prints, its screen is this from now on. */
  print(output: string, lines?: readonly string[]): void {
    if (lines !== undefined) this.tmux.lines = lines;
    this.tmux.source.write(output);
  }

  async pass(ms: number): Promise<string> {
    for (let left = ms; left > 0; left -= 4) {
      this.clock.advanceMs(Math.min(4, left));
      await rest();
    }
    return this.state;
  }
}

const title = (text: string): string => `\u001b]0;${text}\u0007`;
let scene: Scene;
const claude = async (lines: readonly string[] = BOX): Promise<Scene> =>
  (scene = await new Scene().watch("claude", lines));

/** Whatever a test did: nothing is left when the engine is closed. */
afterEach(() => {
  scene.engine.close();
  const { errors, clock, tmux } = scene;
  const left = [...errors, clock.pendingTimers, tmux.source.listeners, tmux.listenerCount].filter((item) => item !== 0);
  if (left.length > 0) throw new Error(`left behind: ${left.map(String).join(", ")}`);
});

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

describe("looks", () => {
  test("come after output only, one when it has settled", async () => {
    await claude();
    const { captures } = scene.tmux;
    await scene.pass(60_000 / 100);
    expect(scene.tmux.captures).toBe(captures);
    scene.print("a");
    scene.print("b");
    await scene.pass(200);
    expect(scene.tmux.captures).toBe(captures + 1);
  });

  test("come every 60 ms while output flows, one at a time", async () => {
    await claude();
    const { captures } = scene.tmux;
    for (let turn = 0; turn < 100; turn += 1) {
      scene.print("flood");
      await scene.pass(8);
    }
    expect(scene.tmux.captures - captures).toBeLessThanOrEqual(14);
    expect(scene.tmux.captures - captures).toBeGreaterThanOrEqual(12);
    await scene.pass(100);
    let release = (): void => undefined;
    scene.tmux.held = new Promise((resolve) => (release = resolve));
    const before = scene.tmux.captures;
    for (let turn = 0; turn < 50; turn += 1) {
      scene.print("flood");
      await scene.pass(8);
    }
    expect(scene.tmux.captures - before).toBe(1);
    release();
    scene.tmux.held = undefined;
    await scene.pass(100);
  });

  test("asked for by a caller begin after the call, and are shared", async () => {
    await claude();
    const { captures } = scene.tmux;
    let release = (): void => undefined;
    scene.tmux.held = new Promise((resolve) => (release = resolve));
    const first = scene.pane.look();
    scene.tmux.lines = WORKING;
    const [second, third] = [scene.pane.look(), scene.pane.look()];
    release();
    expect((await first).state).toBe("idle");
    expect((await second).state).toBe("busy");
    expect((await third).state).toBe("busy");
    expect(scene.tmux.captures - captures).toBe(2);
  });

  test("that fail are the caller's to know, and are tried again without haste", async () => {
    await claude();
    scene.tmux.failure = new AppError("RESOURCE_LIMIT", "too much at once");
    await expect(scene.pane.look()).rejects.toThrow("too much at once");
    expect(scene.errors.splice(0)).toHaveLength(1);
    scene.print("\u001b]7501;state=working\u0007\u001b]7501;state=idle\u0007");
    const { captures } = scene.tmux;
    await scene.pass(1_000);
    expect(scene.tmux.captures - captures).toBeLessThanOrEqual(6);
    scene.errors.length = 0;
    scene.tmux.failure = undefined;
    expect(await scene.pass(300)).toBe("idle by osc7501");
  });

  test("ask for the program in the foreground only when it may be another", async () => {
    await claude();
    const { describes } = scene.tmux;
    for (let turn = 0; turn < 10; turn += 1) {
      scene.print(title(`⠂ ${turn}`), WORKING);
      await scene.pass(100);
    }
    expect(scene.tmux.describes).toBe(describes);
  });
});

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

describe("the end, and the connection", () => {
  test("an ended program is dead, whatever its screen shows", async () => {
    await claude(dialog("first"));
    scene.tmux.source.end({ exitCode: 0 });
    expect(scene.state).toBe("dead by exit");
    expect(scene.pane.current.dialog).toBeUndefined();
  });

  test("a pane that is gone is dead, and nobody can begin to watch it", async () => {
    await claude();
    scene.tmux.isThere = false;
    scene.tmux.emit({ kind: "pane-closed", pane: scene.tmux.pane });
    expect(scene.state).toBe("dead by exit");
    expect(() => scene.engine.watch(scene.tmux.server, scene.tmux.pane)).toThrow("there is no pane %5");
  });

  test("nothing is known while the connection is gone; then everything is taken anew", async () => {
    await claude(dialog("first"));
    const { source } = scene.tmux;
    scene.tmux.state = "connecting";
    source.close(new AppError("CONNECTION_LOST", "gone"));
    expect(scene.pane.current).toMatchObject({ state: "unknown", source: "none", position: undefined });
    await expect(scene.pane.look()).rejects.toThrow("being reconnected");
    scene.tmux.source = new MemorySource({ id: "%5", epoch: "e2" });
    scene.tmux.lines = BOX;
    scene.tmux.state = "ready";
    scene.tmux.emit({ kind: "state", state: "ready" });
    await scene.pass(40);
    expect(scene.pane.current).toMatchObject({ state: "idle", position: { epoch: "e2", outputSeq: 0 } });
  });
});

test("however the output is cut into chunks, the same state comes of it", async () => {
  const piece = fc.constantFrom(
    title("⠂ a"),
    title("✳ a"),
    title("a"),
    "\u001b]7501;state=working\u0007",
    "\u001b]7501;state=blocked:kind=x\u0007",
    "\u001b]7501;state=done\u001b\\",
    "\u001b]133;A\u0007",
    "\u001b]133;C\u0007",
    "\u001b[?2004h",
    "\u001b[?2004l",
    "\u001b[?1049h",
    "text\r\n",
  );
  const program = fc.constantFrom(["claude", BOX], ["claude", WORKING], ["codex", dialog("x")], [
    "bash",
    ["$ "],
  ] as const);
  const outcome = async (
    [command, lines]: readonly [string, readonly string[]],
    chunks: readonly Uint8Array[],
  ): Promise<string> => {
    const one = await new Scene().watch(command, lines);
    for (const chunk of chunks) one.tmux.source.write(chunk);
    for (let turn = 0; turn < 50; turn += 1) {
      one.clock.advanceMs(50);
      await rest();
    }
    one.engine.close();
    return `${one.state} of ${one.pane.current.profile}`;
  };
  await fc.assert(
    fc.asyncProperty(program, fc.array(piece, { maxLength: 8 }), cuts, async (which, pieces, places) => {
      const bytes = Buffer.from(pieces.join(""));
      const of = which as readonly [string, readonly string[]];
      expect(await outcome(of, cutAt(bytes, places))).toBe(await outcome(of, [bytes]));
    }),
    { numRuns: 60 },
  );
  scene = await new Scene().watch("claude", BOX);
});

describe("the engine", () => {
  test("observes a pane once for all who watch it, as long as one does", async () => {
    await claude();
    const other = scene.engine.watch(scene.tmux.server, scene.tmux.pane);
    expect([scene.engine.watchedCount, scene.tmux.source.listeners]).toEqual([1, 1]);
    expect(scene.engine.known(scene.tmux.server, scene.tmux.pane)).toBe(scene.pane.current);
    other[Symbol.dispose]();
    other[Symbol.dispose]();
    expect(scene.engine.watchedCount).toBe(1);
    scene.pane[Symbol.dispose]();
    expect([scene.engine.watchedCount, scene.tmux.source.listeners]).toEqual([0, 0]);
    expect(scene.engine.known(scene.tmux.server, scene.tmux.pane)).toBeUndefined();
  });

  test("a listener that throws reaches nobody else", async () => {
    await claude();
    const told: string[] = [];
    scene.pane.subscribe(() => {
      throw new Error("mine");
    });
    scene.pane.subscribe(({ state }) => told.push(state));
    scene.print(title("⠂ x"));
    expect(told).toEqual(["busy"]);
    expect(scene.errors.splice(0)).toMatchObject([{ message: "mine" }]);
  });

  test("an unknown profile is refused before anything begins, a given one is everybody's", async () => {
    await claude();
    expect(() => scene.engine.watch(scene.tmux.server, scene.tmux.pane, { profile: "vim" })).toThrow("no profile");
    using other = scene.engine.watch(scene.tmux.server, scene.tmux.pane, { profile: "codex" });
    expect([scene.pane.current.profile, other.current.profile]).toEqual(["codex", "codex"]);
    await rest();
    expect(scene.pane.current.profile).toBe("codex");
  });

  test("closed, it keeps what was last known and watches nothing any more", async () => {
    await claude();
    scene.engine.close();
    expect(scene.state).toBe("idle by screen");
    scene.print(title("⠂ x"));
    expect(scene.state).toBe("idle by screen");
    expect(() => scene.engine.watch(scene.tmux.server, scene.tmux.pane)).toThrow("stopping");
    expect(await scene.pane.look()).toBe(scene.pane.current);
  });
});
