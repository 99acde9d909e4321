/** The `TmuxServer` interface on a user's own tmux: every method, and what a guest refuses. */
import { expect, test } from "vitest";
import { isPaneId } from "../../protocol/ids.ts";
import { eventually } from "../support/clock/eventually.ts";
import {
  ECHOING_LINES,
  ECHOING,
  guestFixture,
  ours,
  paneOf,
  userSession,
  userState,
} from "../support/tmux/guestFixture.ts";
import { closing } from "../support/tmux/failureScenarios.ts";
import { collectUntil, seen } from "../support/tmux/output.ts";
import { keys, text } from "../support/tmux/panePrograms.ts";
import { asTmuxSizes, asTmuxWrites } from "../support/tmux/tmuxWords.ts";

test("what exists is listed, and names are resolved exactly", async () => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "worker-1");
    userSession(socket, "worker-10");
    socket.tmux("split-window", "-d", "-t", "=worker-10:", "cat");
  });
  const { server, socket } = fixture;
  expect(server.status()).toMatchObject({ kind: "guest", state: "ready", socketPath: socket.socketPath });
  expect(server.sessions().map((session) => session.name)).toEqual(["worker-1", "worker-10"]);
  expect(server.windows()).toHaveLength(2);
  expect(server.panes()).toHaveLength(3);
  expect(server.findSession("worker-10")?.activePane).toSatisfy(isPaneId);
  expect(server.findSession("worker")).toBeUndefined();
  socket.tmux("kill-session", "-t", "=worker-1");
  await eventually(() => server.findSession("worker-1") === undefined);
  expect(server.findSession("worker-10")?.name).toBe("worker-10");
  socket.tmux("rename-session", "-t", "=worker-10", "other");
  await eventually(() => server.findSession("other") !== undefined);
  expect(server.findSession("worker-10")).toBeUndefined();
});

test("input arrives, its output follows, and a capture has its position", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "main", ECHOING_LINES));
  const { server } = fixture;
  const pane = paneOf(server, "main");
  const source = server.output(pane);
  const { position } = await server.input(pane, [text("hello"), keys("Enter")]);
  expect(position.epoch).toBe(source.epoch);
  const answer = await seen(source, position.outputSeq, "<hello>");
  expect(answer.toString()).toContain("<hello>");
  const capture = await server.capture(pane);
  expect(capture).toMatchObject({ exact: true, cols: 100, rows: 30, alternateScreen: false });
  expect(capture.lines).toContain("<hello>");
  expect(capture.position).toEqual({ epoch: source.epoch, outputSeq: source.outputSeq });
  const snapshot = await server.snapshot(pane);
  expect(Buffer.from(snapshot.data).toString()).toContain("<hello>");
  expect(snapshot.position).toEqual(capture.position);
  expect(await server.describePane(pane)).toMatchObject({ command: "sh", inMode: false, alternateScreen: false });
  expect(server.counters().outputBytes).toBe(source.outputSeq);
});

test("every byte value, long pastes and keys arrive as on an owned server", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "main", ECHOING));
  const { server, socket } = fixture;
  const pane = paneOf(server, "main");
  await eventually(async () => (await server.capture(pane)).lines.join("").includes("ready;"));
  const source = server.output(pane);
  const bytes = Buffer.concat([
    Buffer.from(Array.from({ length: 256 }, (_unused, value) => value)),
    Buffer.alloc(40_000, "long paste "),
    Buffer.from("\x1b[A"),
  ]);
  const start = source.outputSeq;
  await server.input(pane, [text(bytes.subarray(0, 256)), text(bytes.subarray(256, -3)), keys("Up")]);
  const echo = await collectUntil(source, start, (all) => all.length >= bytes.length);
  expect(echo.equals(bytes)).toBe(true);
  expect(socket.tmux("list-buffers")).toBe("");
});

test("sessions are made and ended only when asked, as tmux itself would", async () => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "main");
    socket.tmux("set-option", "-g", "default-size", "123x45");
    socket.tmux("set-environment", "-g", "DISPLAY", ":7");
  });
  const { server, socket, events } = fixture;
  const before = userState(socket);
  const made = await server.createSession({ name: "made.here", cwd: "/tmp", command: ["cat"] });
  expect(made.name).toBe(await asTmuxWrites("made.here"));
  expect(server.findSession("made.here")?.id).toBe(made.id);
  // tmux 3.2 asks the client that makes it, ours or the user's, and not `default-size`.
  const { cols, rows } = server.findPane(made.activePane!)!;
  const asUsers = await asTmuxSizes();
  if (asUsers === "123x45") expect(`${cols}x${rows}`).toBe(asUsers);
  else expect([`${cols}x${rows}`, asUsers]).toEqual(["80x24", "80x23"]);
  expect(socket.tmux("show-environment", "-t", made.id)).toBe("");
  // A shell becomes the program.
  await eventually(async () => (await server.describePane(made.activePane!)).command === "cat");
  expect(await server.describePane(made.activePane!)).toMatchObject({ cwd: "/tmp" });
  await expect(server.createSession({ name: "main" })).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
  const source = server.output(made.activePane!);
  await server.input(made.activePane!, [text("x"), keys("Enter")]);
  await seen(source, 0, "x");
  await server.killSession(made.id);
  expect(server.findSession("made.here")).toBeUndefined();
  expect(server.findPane(made.activePane!)).toBeUndefined();
  expect(events.filter((event) => event.kind.startsWith("session"))).toEqual([
    { kind: "session-created", session: made.id },
    { kind: "session-closed", session: made.id },
  ]);
  await expect(server.killSession(made.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await eventually(() => ours(socket).length === 1);
  expect(userState(socket)).toBe(before);
});

test("the session that the base connection is on can be ended, and the last one", async () => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "a");
    userSession(socket, "b");
  });
  const { server, socket } = fixture;
  for (const name of [...ours(socket), "the other"]) {
    const session = server.findSession(name) ?? server.sessions()[0]!;
    await server.killSession(session.id);
    expect(server.sessions().map(({ id }) => id)).not.toContain(session.id);
  }
  expect(server.panes()).toEqual([]);
  await eventually(() => server.status().state === "connecting");
  await expect(server.createSession({ name: "c" })).rejects.toMatchObject({ code: "CONNECTION_LOST" });
});

test.each(["kill-window", "kill-pane"] as const)(
  "grouped sessions end by %s of what they share, and no connection",
  async (kind) => {
    await using fixture = await guestFixture((socket) => {
      userSession(socket, "a");
      socket.tmux("new-session", "-d", "-t", "=a", "-s", "b");
      userSession(socket, "c");
    });
    const { server, socket } = fixture;
    expect(ours(socket)).toEqual(["a"]);
    const { epoch } = server.status();
    const { activePane: pane, windows } = server.findSession("a")!;
    await server.layout.run(kind === "kill-pane" ? { kind, pane: pane! } : { kind, window: windows[0]! });
    expect(server.sessions().map(({ name }) => name)).toEqual(["c"]);
    expect([ours(socket), server.status().epoch]).toEqual([["c"], epoch]);
  },
);

test("unknown targets and operations that a guest does not support are refused", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "main"));
  const { server } = fixture;
  const pane = paneOf(server, "main");
  const absent = "%999" as typeof pane;
  const notFound = { code: "NOT_FOUND" };
  expect(() => server.output(absent)).toThrow(expect.objectContaining(notFound) as Error);
  await expect(server.input(absent, [text("x")])).rejects.toMatchObject(notFound);
  await expect(server.capture(absent)).rejects.toMatchObject(notFound);
  await expect(server.snapshot(absent)).rejects.toMatchObject(notFound);
  await expect(server.describePane(absent)).rejects.toMatchObject(notFound);
  await expect(server.resize(absent, 80, 24)).rejects.toMatchObject(notFound);
  await expect(server.resize(pane, 80, 24)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  await expect(server.input(pane, [keys("NoSuchKey")])).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  await expect(server.capture(pane, { lines: 0 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  await expect(server.createSession({ name: "" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  const aborted = AbortSignal.abort(new Error("enough"));
  await expect(server.capture(pane, { signal: aborted })).rejects.toThrow("enough");
});

test("closing settles every waiting call with an error", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "main"));
  const { server, socket, events } = fixture;
  const pane = paneOf(server, "main");
  const closed = closing(server.output(pane));
  const capture = server.capture(pane);
  await server.close();
  await server.close();
  await expect(capture).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  expect(await closed).toMatchObject({ code: "SHUTTING_DOWN" });
  expect(events.at(-1)).toEqual({ kind: "state", state: "closed" });
  await eventually(() => ours(socket).length === 0);
});
