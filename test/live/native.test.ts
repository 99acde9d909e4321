/** The native API over real tmux: what the stub cannot show. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownedApi } from "../support/daemon/ownedApi.ts";
import { Reader } from "../support/daemon/nativeReader.ts";
import { asTmuxWrites } from "../support/tmux/tmuxWords.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";

test("a session from its making to its end", async () => {
  await using tmux = await ownedApi();
  const { client: server } = tmux;
  const named = await asTmuxWrites("a.b");
  const session = await server.createSession({ name: "a.b", command: ["cat"], cols: 100, rows: 20 });
  expect(session).toMatchObject({ name: named, windows: [expect.stringMatching(/^@/)] });
  expect((await server.sessions()).map((each) => each.name)).toEqual([named]);
  const [pane] = await server.panes();
  expect(pane).toMatchObject({ id: session.activePane, sessions: [named], cols: 100, rows: 20, dead: false });
  const reader = new Reader(server.pane(named).follow());
  await reader.next();
  const { position } = await server.pane("a.b").type("hello", { enter: true });
  expect(await reader.text(14)).toBe("hello\r\nhello\r\n");
  expect(position).toMatch(/:0$/);
  await server.killSession(session.id);
  expect(await server.panes()).toEqual([]);
  await reader[Symbol.asyncDispose]();
  await expect(server.pane(session.activePane!.slice(1)).info()).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("reports program and directory, whatever their names", async () => {
  await using tmux = await ownedApi();
  const { client: server, owned } = tmux;
  const cwd = join(owned.socket.directory, "odd\n%exit\n%end 1 1 1\nname #{pid}");
  mkdirSync(cwd);
  await server.createSession({ name: "odd", cwd, command: ["sleep", "60"] });
  await expect.poll(async () => (await server.pane("odd").info()).command).toBe("sleep");
  const info = await server.pane("odd").info();
  expect(info).toMatchObject({ cwd, alternateScreen: false, inMode: false, historyLines: 0 });
  expect(info.tty).toMatch(/^\/dev\//);
  expect((await server.sessions()).map((each) => each.name)).toEqual(["odd"]);
});

test.runIf(keepsPanes())("a dead pane stays with its status, and its stream says so", async () => {
  await using tmux = await ownedApi();
  const { client: server } = tmux;
  const command = ["sh", "-c", "read x; printf bye; sleep 0.1; exit 7"];
  await server.createSession({ name: "dies", command, remainOnExit: true });
  const reader = new Reader(server.pane("dies").follow());
  await reader.next();
  await server.pane("dies").keys(["Enter"]);
  expect(await reader.text(5)).toBe("\r\nbye");
  expect(await reader.next()).toEqual({ kind: "exit", exitCode: 7 });
  expect(await server.pane("dies").info()).toMatchObject({ dead: true, exit: { exitCode: 7 } });
  const late = new Reader(server.pane("dies").follow({ from: "tail:1" }));
  expect(await late.text(3)).toBe("bye");
  expect(await late.next()).toEqual({ kind: "exit", exitCode: 7 });
  for (const each of [reader, late]) await each[Symbol.asyncDispose]();
});

test("resizing reaches the program, and readers", async () => {
  await using tmux = await ownedApi();
  const { client: server } = tmux;
  const command = ["sh", "-c", "trap 'stty size' WINCH; printf ready; while :; do read x; done"];
  await server.createSession({ name: "size", command, cols: 80, rows: 24 });
  const pane = server.pane("size");
  await pane.wait({ pattern: { literal: "ready" }, from: "tail:5" });
  const reader = new Reader(pane.follow({ from: "tail:5" }));
  expect(await reader.text(5)).toBe("ready");
  const resized = pane.wait({ pattern: { literal: "30 90" }, timeoutMs: 10_000 });
  await pane.resize(90, 30);
  expect((await resized).matched[0]?.text).toBe("30 90");
  const kinds = new Set<string>();
  for (
    let event = await reader.next();
    kinds.add(event?.kind ?? ""), event?.kind !== "snapshot";
    event = await reader.next()
  );
  expect(kinds).toContain("resize");
  expect(await pane.info()).toMatchObject({ cols: 90, rows: 30 });
  await expect(pane.resize(0, 30)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  await reader[Symbol.asyncDispose]();
});

test("a wait on the screen sees what the stream does not say, never what stood there, and tells of an echo", async () => {
  await using tmux = await ownedApi();
  const { client: server } = tmux;
  await server.createSession({ name: "screen", command: ["sh", "-c", "PS1='$ ' exec bash --norc --noprofile"] });
  const pane = server.pane("screen");
  await pane.wait({ pattern: { literal: "$ " }, from: "tail:5" });
  const send = (text: string) => ({ parts: [{ kind: "text" as const, text }, { kind: "enter" as const }] });
  const pattern = { regex: "^\\$$" };
  const short = { pattern, timeoutMs: 500 };
  await expect(pane.wait({ ...short, send: send("echo hello") })).rejects.toMatchObject({ code: "TIMEOUT" });
  const found = await pane.wait({ pattern, on: "screen", send: send("echo hello") });
  expect(found.matched).toEqual([{ predicate: "pattern", text: "$", on: "screen" }]);
  // Nothing is printed: the prompt that stands there is no answer, and nobody looks.
  await expect(pane.wait({ ...short, on: "screen" })).rejects.toMatchObject({ code: "TIMEOUT" });
  const echoed = { pattern: { literal: "needle" }, on: "screen" as const, timeoutMs: 500, send: send(": needle") };
  await expect(pane.wait(echoed)).rejects.toMatchObject({ code: "TIMEOUT", details: { matchedEcho: true } });
  await expect(pane.wait({ stableSec: 0.1, on: "screen" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});
