import { describe, expect, test } from "vitest";
import type { StubServerOptions } from "../../../../../daemon/servers/stub/stubServer.ts";
import { StubServer } from "../../../../../daemon/servers/stub/stubServer.ts";
import type { ServerEvent, SessionInfo } from "../../../../../daemon/tmux/inventory.ts";
import type { InputPart } from "../../../../../daemon/tmux/io.ts";
import type { PaneId } from "../../../../../protocol/ids.ts";
import { MAX_CAPTURE_LINES } from "../../../../../protocol/limits.ts";
import { closing } from "../../../../support/tmux/failureScenarios.ts";
import { DEAF } from "../../../../support/tmux/output.ts";

const stub = (options: Partial<StubServerOptions> = {}): StubServer =>
  new StubServer({ nowUnixMs: () => 5_000, onListenerError: () => undefined, ...options });

const text = (value: string): InputPart => ({ kind: "text", bytes: new TextEncoder().encode(value) });
const keys = (...names: string[]): InputPart => ({ kind: "keys", keys: names });

function paneOf(session: SessionInfo): PaneId {
  if (session.activePane === undefined) throw new Error("a stub session always has a pane");
  return session.activePane;
}

test("a session is listed, found exactly, and has one window with one pane", async () => {
  await using server = stub();
  const session = await server.createSession({ name: "work-2" });
  await server.createSession({ name: "a.b:c" });
  expect(server.sessions().map(({ name }) => name)).toEqual(["a.b:c", "work-2"]);
  expect(server.findSession("work")).toBeUndefined();
  expect(server.findSession("a.b:c")?.name).toBe("a.b:c");
  expect(session.createdSec).toBe(5);
  expect(server.findPane(paneOf(session))).toMatchObject({ window: session.windows[0], active: true });
  expect(server.windows().map(({ panes }) => panes)).toEqual(server.panes().map(({ id }) => [id]));
});

test("the stream carries each line and its end, at the positions receipts and captures give", async () => {
  await using server = stub();
  const pane = paneOf(await server.createSession({ name: "s" }));
  const source = server.output(pane);
  const advances: number[][] = [];
  source.subscribe({ ...DEAF, advanced: (from, to) => void advances.push([from, to]) });
  const first = await server.input(pane, [text("hé"), keys("C-c", "Enter")]);
  const second = await server.input(pane, [keys("Up")]);
  expect([first.position.outputSeq, second.position.outputSeq]).toEqual([0, 18]);
  expect(advances).toEqual([
    [0, 18],
    [18, 23],
  ]);
  const slice = source.read(0);
  expect(slice.kind === "bytes" && new TextDecoder().decode(slice.bytes)).toBe("hé <C-c> <Enter>\n<Up>\n");
  const capture = await server.capture(pane, { lines: 1 });
  expect(capture).toMatchObject({ lines: ["<Up>"], exact: true, position: { outputSeq: 23, epoch: source.epoch } });
});

test("beforeWrite comes before the output", async () => {
  await using server = stub();
  const pane = paneOf(await server.createSession({ name: "s" }));
  let seqThen = -1;
  await server.input(pane, [text("x")], { beforeWrite: () => (seqThen = server.output(pane).outputSeq) });
  expect([seqThen, server.output(pane).outputSeq]).toEqual([0, 2]);
});

test("a snapshot rebuilds the last rows, a resize changes how many", async () => {
  await using server = stub();
  const events: ServerEvent[] = [];
  const session = await server.createSession({ name: "s", cwd: "/somewhere" });
  const pane = paneOf(session);
  for (const line of ["a", "b", "c"]) await server.input(pane, [text(line)]);
  server.subscribe((event) => void events.push(event));
  await server.resize(pane, 40, 3);
  expect(events).toEqual([{ kind: "pane-resized", pane, cols: 40, rows: 3 }]);
  const { data, ...snapshot } = await server.snapshot(pane);
  expect(new TextDecoder().decode(data)).toBe("\u001bcb\r\nc\r\n");
  expect(snapshot).toMatchObject({ cols: 40, rows: 3, exact: true, position: { outputSeq: 6 } });
  expect((await server.capture(pane)).lines).toEqual(["a", "b", "c"]);
  expect(await server.describePane(pane)).toMatchObject({ cwd: "/somewhere", historyLines: 0, inMode: false });
  expect(server.counters()).toEqual({ outputBytes: 6, pauses: 0 });
  await expect(server.resize(pane, 0, 3)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

test("killing closes the stream and says so", async () => {
  await using server = stub();
  const events: ServerEvent[] = [];
  server.subscribe((event) => void events.push(event));
  const session = await server.createSession({ name: "s" });
  const pane = paneOf(session);
  const closed = closing(server.output(pane));
  await server.killSession(session.id);
  expect(await closed).toMatchObject({ code: "NOT_FOUND" });
  expect(events).toEqual([
    { kind: "session-created", session: session.id },
    { kind: "pane-closed", pane },
    { kind: "session-closed", session: session.id },
  ]);
  await expect(server.killSession(session.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(server.input(pane, [text("x")])).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(() => server.output(pane)).toThrow(/no pane/);
});

describe("bounds", () => {
  test("sessions", async () => {
    await using server = stub({ maxSessions: 2 });
    await server.createSession({ name: "a" });
    const { id } = await server.createSession({ name: "b" });
    await expect(server.createSession({ name: "c" })).rejects.toMatchObject({ code: "RESOURCE_LIMIT" });
    await server.killSession(id);
    await expect(server.createSession({ name: "c" })).resolves.toMatchObject({ name: "c" });
  });
  test("lines", async () => {
    await using server = stub();
    const pane = paneOf(await server.createSession({ name: "s" }));
    for (let line = 0; line < MAX_CAPTURE_LINES + 3; line++) await server.input(pane, [text(`${line}`)]);
    const { lines } = await server.capture(pane, { lines: MAX_CAPTURE_LINES });
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([MAX_CAPTURE_LINES, "3", `${MAX_CAPTURE_LINES + 2}`]);
  });
  test("bytes", async () => {
    await using server = stub({ retainBytes: 100 });
    const pane = paneOf(await server.createSession({ name: "s" }));
    for (let line = 0; line < 50; line++) await server.input(pane, [text(`line-${line}!`.padStart(9))]);
    expect((await server.capture(pane, { lines: 5_000 })).lines).toHaveLength(10);
    expect(server.output(pane).tailSeq).toBeGreaterThan(0);
  });
  test("one input", async () => {
    await using server = stub();
    const pane = paneOf(await server.createSession({ name: "s" }));
    await expect(server.input(pane, [text("x".repeat(1_048_576))])).rejects.toMatchObject({ code: "RESOURCE_LIMIT" });
    expect((await server.capture(pane)).lines).toEqual([]);
  });
});

test("one listener's exception is its own", async () => {
  const reported: unknown[] = [];
  await using server = stub({ onListenerError: (error) => void reported.push(error) });
  const seen: string[] = [];
  server.subscribe(() => {
    throw new Error("mine");
  });
  const unsubscribe = server.subscribe(({ kind }) => void seen.push(kind));
  await server.createSession({ name: "a" });
  unsubscribe();
  await server.createSession({ name: "b" });
  expect(reported).toHaveLength(2);
  expect(seen).toEqual(["session-created"]);
});

test("closing settles everything, twice", async () => {
  const server = stub();
  const pane = paneOf(await server.createSession({ name: "s" }));
  const closed = closing(server.output(pane));
  await server.close();
  await server.close();
  expect(await closed).toMatchObject({ code: "SHUTTING_DOWN" });
  expect(server.status().state).toBe("closed");
  await expect(server.createSession({ name: "t" })).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
});
