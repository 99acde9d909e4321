/** When the engine looks, whom it tells, and how it ends, whatever program is watched. */
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../protocol/errors.ts";
import { MemorySource } from "../../../support/daemon/memorySource.ts";
import { rest } from "../../../support/agents/readinessServer.ts";
import { cutAt, cuts } from "../../protocol/text/cuts.ts";
import { BOX, dialog, Scene, title, WORKING } from "./engineScene.ts";

let scene: Scene;
const claude = async (lines: readonly string[] = BOX): Promise<Scene> =>
  (scene = await new Scene().watch("claude", lines));

afterEach(() => scene.end());

describe("looks", () => {
  test("asked for by a caller go on until a title that came with the retained output is settled", async () => {
    scene = new Scene();
    scene.tmux.title = "✳ project";
    scene.print(title("✳ project"), BOX);
    await scene.watch("claude", BOX);
    const asked = scene.pane.probe();
    await scene.pass(60);
    expect(await asked).toMatchObject({ state: "idle", source: "title" });
  });

  test("asked for by a caller end when nothing settles what the screen means", async () => {
    scene = new Scene();
    scene.tmux.title = "✳ project";
    await scene.watch("claude", ["nothing that is known"]);
    const asked = scene.pane.probe();
    await scene.pass(600);
    expect((await asked).state).toBe("unknown");
  });

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
    const first = scene.pane.probe();
    scene.tmux.lines = WORKING;
    const [second, third] = [scene.pane.probe(), scene.pane.probe()];
    release();
    expect((await first).state).toBe("idle");
    expect((await second).state).toBe("busy");
    expect((await third).state).toBe("busy");
    expect(scene.tmux.captures - captures).toBe(2);
  });

  test("that fail are the caller's to know, and are tried again without haste", async () => {
    await claude();
    scene.tmux.failure = new AppError("RESOURCE_LIMIT", "too much at once");
    await expect(scene.pane.probe()).rejects.toThrow("too much at once");
    expect(scene.errors.splice(0)).toHaveLength(1);
    scene.print("\u001b]7501;state=working\u0007\u001b]7501;state=idle\u0007");
    const { captures } = scene.tmux;
    await scene.pass(1_000);
    expect(scene.tmux.captures - captures).toBeLessThanOrEqual(6);
    scene.errors.length = 0;
    scene.tmux.failure = undefined;
    expect(await scene.pass(300)).toBe("idle by osc7501");
  });

  test("that fail are tried again also when what was seen before still tells a state", async () => {
    await claude();
    expect(await scene.pass(100)).toBe("idle by screen");
    scene.tmux.failure = new AppError("CONNECTION_LOST", "gone");
    scene.print("x", dialog("Bash command"));
    await scene.pass(100);
    scene.tmux.failure = undefined;
    expect(await scene.pass(1_000)).toBe("asking by screen");
    scene.end();
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
    await expect(scene.pane.probe()).rejects.toThrow("being reconnected");
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

  test("what was in a pane was not in the one that has its id on another tmux", async () => {
    await claude();
    const { engine, tmux } = scene;
    const hadAgent = (): boolean => engine.hadAgent(tmux.server, tmux.pane);
    scene.pane[Symbol.dispose]();
    expect(hadAgent()).toBe(true);
    tmux.identity = "200";
    expect(hadAgent()).toBe(false);
    const late = engine.watch(tmux.server, tmux.pane);
    await rest();
    tmux.emit({ kind: "pane-closed", pane: tmux.pane });
    tmux.identity = "300";
    late[Symbol.dispose]();
    expect(hadAgent()).toBe(false);
  });

  test("a watcher of a pane that is gone, and leaves late, ends nobody's observation of another with its id", async () => {
    await claude();
    scene.tmux.emit({ kind: "pane-closed", pane: scene.tmux.pane });
    scene.tmux.source = new MemorySource({ id: "%5" });
    const watch = () => scene.engine.watch(scene.tmux.server, scene.tmux.pane);
    watch()[Symbol.dispose]();
    using another = watch();
    scene.pane[Symbol.dispose]();
    expect(scene.engine.watchedCount).toBe(1);
    expect(scene.engine.known(scene.tmux.server, scene.tmux.pane)).toBe(another.current);
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

  test("has 4,096 listeners at a pane, and room again when one leaves", async () => {
    await claude();
    const subscribe = () => scene.pane.subscribe(() => undefined);
    // The scene has one.
    const leave = Array.from({ length: 4_095 }, subscribe);
    expect(subscribe).toThrow(expect.objectContaining({ code: "RESOURCE_LIMIT" }) as Error);
    leave[0]!();
    subscribe();
    expect(subscribe).toThrow(expect.objectContaining({ code: "RESOURCE_LIMIT" }) as Error);
  });

  test("an unknown profile is refused before anything begins, a given one is everybody's", async () => {
    await claude();
    expect(() => scene.engine.watch(scene.tmux.server, scene.tmux.pane, { profile: "vim" })).toThrow("no profile");
    using other = scene.engine.watch(scene.tmux.server, scene.tmux.pane, { profile: "codex" });
    expect([scene.pane.current.profile, other.current.profile]).toEqual(["codex", "codex"]);
    await rest();
    expect(scene.pane.current.profile).toBe("codex");
  });

  test("a given profile holds for as long as somebody who gave it watches; then it follows the program again", async () => {
    await claude();
    const give = (profile: string) => scene.engine.watch(scene.tmux.server, scene.tmux.pane, { profile });
    const [first, second] = [give("codex"), give("gemini")];
    expect(scene.pane.current.profile).toBe("gemini");
    second[Symbol.dispose]();
    expect(scene.pane.current.profile).toBe("codex");
    const same = give("codex");
    first[Symbol.dispose]();
    await scene.pass(200);
    expect(scene.pane.current.profile).toBe("codex");
    same[Symbol.dispose]();
    expect(await scene.pass(200)).toBe("idle by screen");
    expect(scene.pane.current.profile).toBe("claude");
  });

  test("what was heard while its output was followed does not outlive that: nothing could take it back", async () => {
    const box = ["› Ask Codex to do anything", "", "  100% context left"];
    scene = new Scene();
    scene.tmux.kind = "guest";
    await scene.watch("codex", box, "codex");
    using unfollowed = scene.engine.watch(scene.tmux.server, scene.tmux.pane, { profile: "codex", unfollowed: true });
    scene.print("\u001b]7501;state=working\u0007", ["• Working (1s • esc to interrupt)", "", ...box]);
    expect(await scene.pass(100)).toBe("busy by osc7501");
    scene.pane[Symbol.dispose]();
    await scene.pass(100);
    expect(unfollowed.current).toMatchObject({ state: "busy", source: "screen" });
    scene.print("something was written", box);
    await scene.pass(100);
    expect(unfollowed.current).toMatchObject({ state: "idle", source: "screen" });
  });

  test("a dialog that has gone from a pane that nobody follows was not followed by work for a moment", async () => {
    scene = new Scene();
    scene.tmux.kind = "guest";
    scene.tmux.command = "claude";
    scene.tmux.lines = dialog("Bash");
    scene.tmux.title = "⠂ project";
    scene.pane = scene.engine.watch(scene.tmux.server, scene.tmux.pane, { unfollowed: true });
    expect(await scene.pass(400)).toMatch("asking by");
    const states: string[] = [];
    scene.pane.subscribe(({ state }) => states.push(state));
    scene.tmux.title = "✳ project";
    scene.tmux.lines = BOX;
    // That something was written is all that is told of it.
    scene.tmux.source.gap(1);
    await scene.pass(400);
    expect(states).toEqual(["idle"]);
  });

  test("a dialog that a hook tells of is looked for, also while the one before it was the last that was seen", async () => {
    scene = new Scene();
    scene.tmux.kind = "guest";
    scene.tmux.command = "claude";
    scene.tmux.lines = dialog("Bash");
    scene.pane = scene.engine.watch(scene.tmux.server, scene.tmux.pane, { unfollowed: true });
    expect(await scene.pass(400)).toMatch("asking by");
    const first = scene.pane.current.dialog?.id;
    // Answered, at work, and the next question, before tmux tells that anything was written.
    scene.tmux.lines = BOX;
    scene.pane.report({ state: "busy" });
    scene.pane.report({ state: "asking" });
    await scene.pass(60);
    scene.tmux.lines = dialog("Edit");
    await scene.pass(100);
    expect(scene.pane.current.dialog?.id).not.toBe(first);
    expect(scene.state).toMatch("asking by");
    expect(scene.pane.current.dialog?.id).toBeDefined();
  });

  test("closed, it keeps what was last known and watches nothing any more", async () => {
    await claude();
    scene.engine.close();
    expect(scene.state).toBe("idle by screen");
    scene.print(title("⠂ x"));
    expect(scene.state).toBe("idle by screen");
    expect(() => scene.engine.watch(scene.tmux.server, scene.tmux.pane)).toThrow("stopping");
    expect(await scene.pane.probe()).toBe(scene.pane.current);
  });
});
