/** Each operation on windows and panes of a real tmux, on a server of our own and on a person's. */
import { describe, expect, test } from "vitest";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { panesOfLayout, parseLayout } from "../../protocol/windowLayout.ts";
import { formatLayout } from "../support/tmux/formatLayout.ts";
import type { PaneId, SessionId, WindowId } from "../../protocol/ids.ts";
import { eventually } from "../support/clock/eventually.ts";
import { ECHOING_LINES, guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { randomFrom } from "../support/tmux/inventoryScenario.ts";
import { treeLines } from "../support/tmux/layoutScenario.ts";
import { ownedFixture, type PrivateSocket } from "../support/tmux/ownedFixture.ts";

interface Fixture extends AsyncDisposable {
  readonly server: TmuxServer;
  readonly socket: PrivateSocket;
  readonly session: SessionId;
  readonly window: WindowId;
  readonly pane: PaneId;
}

async function fixtureOf(kind: "owned" | "guest"): Promise<Fixture> {
  const fixture =
    kind === "owned"
      ? await ownedFixture()
      : await guestFixture((socket) => {
          userSession(socket, "home");
          userSession(socket, "work");
        });
  const { server } = fixture;
  if (kind === "owned") await server.createSession({ name: "home", command: ["cat"] });
  if (kind === "owned") await server.createSession({ name: "work", command: ["cat"], cols: 100, rows: 30 });
  const { id: session, activeWindow: window, activePane: pane } = server.findSession("work")!;
  return {
    server,
    socket: fixture.socket,
    session,
    window: window!,
    pane: pane!,
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

const windowOf = ({ server }: Fixture, id: WindowId) => server.layout.tree().windows.find((window) => window.id === id);
const ask = ({ socket }: Fixture, target: string, format: string): string =>
  socket.tmux("display-message", "-p", "-t", target, format).trim();

describe.each(["owned", "guest"] as const)("%s", (kind) => {
  test("panes are made, moved, sized, zoomed, arranged and ended", async () => {
    await using fixture = await fixtureOf(kind);
    const { server, window, pane, session } = fixture;
    const { layout } = server;
    const beside = await layout.run({
      kind: "split-window",
      pane,
      direction: "horizontal",
      size: "30%",
      command: ["cat"],
    });
    expect(beside).toMatchObject({ session, window });
    expect(server.findPane(beside.pane!)).toMatchObject({ window, cols: 30, active: true });
    const above = await layout.run({ kind: "split-window", pane, before: true, full: true, size: 5, detached: true });
    expect(server.findPane(above.pane!)).toMatchObject({ cols: 100, rows: 5, active: false });
    const [first] = panesOfLayout(windowOf(fixture, window)!.root!);
    expect(first?.pane).toBe(above.pane);

    const kept = windowOf(fixture, window)!.layout;
    await layout.run({ kind: "select-layout", window, layout: "even-vertical" });
    expect(windowOf(fixture, window)?.root?.kind).toBe("column");
    await layout.run({ kind: "select-layout", window, layout: kept });
    expect(windowOf(fixture, window)?.layout).toBe(kept);
    await expect(layout.run({ kind: "select-layout", window, layout: formatLayout(first!) })).rejects.toMatchObject({
      code: "INCONSISTENT_STATE",
    });

    await layout.run({ kind: "resize-pane", pane: above.pane!, zoom: true });
    expect(windowOf(fixture, window)).toMatchObject({ zoomed: true, activePane: above.pane, layout: kept });
    await layout.run({ kind: "resize-pane", pane, zoom: true });
    expect(windowOf(fixture, window)).toMatchObject({ zoomed: true, activePane: pane });
    await layout.run({ kind: "resize-pane", pane, zoom: true });
    await layout.run({ kind: "resize-pane", pane: above.pane!, zoom: false });
    expect(windowOf(fixture, window)?.zoomed).toBe(true);
    await layout.run({ kind: "resize-pane", pane, zoom: false });
    expect(windowOf(fixture, window)?.zoomed).toBe(false);
    const zoom = (isZoomed: boolean) => layout.run({ kind: "resize-pane", pane, zoom: isZoomed });
    await Promise.all([zoom(true), zoom(true)]);
    expect(windowOf(fixture, window)).toMatchObject({ zoomed: true, activePane: pane });
    await Promise.all([zoom(false), zoom(false)]);
    expect(windowOf(fixture, window)?.zoomed).toBe(false);

    await layout.run({ kind: "resize-pane", pane: above.pane!, rows: 9 });
    expect(server.findPane(above.pane!)?.rows).toBe(9);
    await layout.run({ kind: "swap-pane", pane, with: above.pane!, detached: true });
    expect(panesOfLayout(windowOf(fixture, window)!.root!)[0]?.pane).toBe(pane);
    await layout.run({ kind: "select-pane", pane, direction: "down" });
    expect(windowOf(fixture, window)?.activePane).not.toBe(pane);

    const broken = await layout.run({ kind: "break-pane", pane, name: "a #{pid} #(touch x)", detached: true });
    expect(broken.window).not.toBe(window);
    expect(windowOf(fixture, broken.window!)).toMatchObject({ name: "a #{pid} #(touch x)", panes: [pane] });
    expect(server.findSession("work")?.activeWindow).toBe(window);
    await expect(layout.run({ kind: "break-pane", pane })).rejects.toMatchObject({ code: "INCONSISTENT_STATE" });
    await layout.run({ kind: "move-pane", pane, to: above.pane!, direction: "horizontal", detached: true });
    expect(windowOf(fixture, broken.window!)).toBeUndefined();
    expect(server.findPane(pane)?.window).toBe(window);
    await layout.run({ kind: "kill-pane", pane });
    expect(server.findPane(pane)).toBeUndefined();
    expect(windowOf(fixture, window)?.panes).toHaveLength(2);
    await expect(layout.run({ kind: "kill-pane", pane })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("windows are made, named, chosen, sized and ended, the session with its last one", async () => {
    await using fixture = await fixtureOf(kind);
    const { server, window, session } = fixture;
    const { layout } = server;
    const made = await layout.run({
      kind: "new-window",
      session,
      name: "logs;#S",
      after: window,
      detached: true,
      cwd: "/",
      environment: { TW_X: "a b#{pid}" },
      command: ["sh", "-c", 'echo "<$TW_X $PWD>"; exec cat'],
    });
    expect(server.findSession("work")).toMatchObject({ windows: [window, made.window], activeWindow: window });
    expect(windowOf(fixture, made.window!)?.name).toBe("logs;#S");
    await eventually(async () => (await server.capture(made.pane!)).lines[0] === "<a b#{pid} />");
    // Its output flows, as that of any other.
    await server.input(made.pane!, [{ kind: "text", bytes: Buffer.from("hello") }]);
    await eventually(async () => (await server.capture(made.pane!)).lines[1] === "hello");

    await layout.run({ kind: "select-window", window: made.window! });
    expect(server.findSession("work")?.activeWindow).toBe(made.window);
    await layout.run({ kind: "rename-window", window, name: "x%1; {a} ~" });
    expect(ask(fixture, window, "#{window_name}")).toBe("x%1; {a} ~");
    await layout.run({ kind: "rename-session", session, name: "play" });
    expect(server.findSession("play")?.id).toBe(session);
    await expect(layout.run({ kind: "rename-session", session, name: "home" })).rejects.toMatchObject({
      code: "ALREADY_EXISTS",
    });
    await layout.run({ kind: "resize-window", window, cols: 120, rows: 41 });
    expect(windowOf(fixture, window)).toMatchObject({ cols: 120, rows: 41 });
    await layout.run({ kind: "resize-window", window, automatic: true });
    expect(fixture.socket.tmux("show-options", "-w", "-t", window, "window-size")).toBe("");
    await layout.run({ kind: "set-window-option", window, option: "mode-keys", value: "vi" });
    expect(fixture.socket.tmux("show-options", "-wv", "-t", window, "mode-keys").trim()).toBe("vi");
    await layout.run({ kind: "set-window-option", window, option: "mode-keys", value: null });
    expect(fixture.socket.tmux("show-options", "-wv", "-t", window, "mode-keys").trim()).toBe("");

    await layout.run({ kind: "kill-window", window: made.window! });
    expect(server.findSession("play")?.windows).toEqual([window]);
    await layout.run({ kind: "kill-window", window });
    expect(server.findSession("play")).toBeUndefined();
    expect(layout.tree().sessions.map(({ name }) => name)).toEqual(["home"]);
    expect(fixture.socket.tmux("list-windows", "-a", "-F", "#{window_id}")).not.toContain(window);
  });

  test("a respawned pane is a new one in the old one's place, and its output comes", async () => {
    await using fixture = await fixtureOf(kind);
    const { server, window, pane } = fixture;
    const other = await server.layout.run({ kind: "split-window", pane, detached: true, command: ["cat"] });
    const place = panesOfLayout(windowOf(fixture, window)!.root!)[0];
    const windows = server.windows().length;
    const { pane: fresh } = await server.layout.run({ kind: "respawn-pane", pane, command: ECHOING_LINES });
    expect(fresh).not.toBe(pane);
    expect(server.findPane(pane)).toBeUndefined();
    expect(panesOfLayout(windowOf(fixture, window)!.root!)[0]).toEqual({ ...place, pane: fresh });
    expect(windowOf(fixture, window)).toMatchObject({ activePane: fresh, panes: [fresh, other.pane] });
    expect(server.windows()).toHaveLength(windows);
    await eventually(async () => (await server.capture(fresh!)).lines[0] === "ready;");
    await server.input(fresh!, [{ kind: "text", bytes: Buffer.from("x\n") }]);
    await eventually(async () => (await server.capture(fresh!)).lines[1] === "<x>");
    await server.layout.run({ kind: "clear-history", pane: fresh! });
  });

  test("an impossible operation fails with a message and changes nothing", async () => {
    await using fixture = await fixtureOf(kind);
    const { server, window, pane } = fixture;
    const { layout } = server;
    await layout.run({ kind: "resize-window", window, cols: 5, rows: 2 });
    const before = treeLines(layout.tree());
    await expect(layout.run({ kind: "split-window", pane })).rejects.toMatchObject({ code: "INCONSISTENT_STATE" });
    await expect(layout.run({ kind: "split-window", pane, size: "0%" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    await expect(layout.run({ kind: "rename-window", window, name: "a\nkill-server" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    await expect(layout.run({ kind: "rename-session", session: "$99" as SessionId, name: "x" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(
      layout.run({ kind: "set-pane-option", pane, option: "window-style", value: "#(touch x)" }),
    ).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(treeLines(layout.tree())).toEqual(before);
  });

  test("changes of titles and places that tmux does not report are reported within two seconds", async () => {
    await using fixture = await fixtureOf(kind);
    const { server, socket, pane, window, session } = fixture;
    const made = await server.layout.run({ kind: "new-window", session, detached: true });
    const types: string[] = [];
    server.layout.watch((events) => types.push(...events.map(({ type }) => type)));
    socket.tmux("select-pane", "-t", pane, "-T", "⠋ one");
    await eventually(() => server.findPane(pane)?.title === "⠋ one");
    socket.tmux("select-pane", "-t", pane, "-T", "⠙ one");
    await eventually(() => server.findPane(pane)?.title === "⠙ one");
    // `-d` chooses windows, of which tmux tells.
    socket.tmux("swap-window", "-s", window, "-t", made.window!);
    await eventually(() => types.includes("session-windows-changed"));
    expect(server.findSession("work")?.windows[0]).toBe(made.window);
    expect(types.filter((type) => type === "pane-title-changed")).toHaveLength(2);
  });

  test("layouts match list-panes", async () => {
    await using fixture = await fixtureOf(kind);
    const { server, socket, window } = fixture;
    const random = randomFrom(5);
    for (let round = 0; round < 12; round += 1) {
      const { panes } = windowOf(fixture, window)!;
      const pane = panes[random(panes.length)]!;
      const direction = random(2) === 0 ? ("vertical" as const) : ("horizontal" as const);
      const split = { kind: "split-window", pane, direction, full: random(4) === 0, command: ["cat"] } as const;
      await server.layout.run(split).catch(() => undefined);
      const { layout, root } = windowOf(fixture, window)!;
      expect(formatLayout(parseLayout(layout)!)).toBe(layout);
      const format = "#{pane_id} #{pane_left} #{pane_top} #{pane_width} #{pane_height}";
      const listed = socket.tmux("list-panes", "-t", window, "-F", format).trim().split("\n");
      const parsed = panesOfLayout(root!).map(
        (cell) => `${cell.pane} ${cell.left} ${cell.top} ${cell.cols} ${cell.rows}`,
      );
      expect(parsed.toSorted()).toEqual(listed.toSorted());
    }
  });
});
