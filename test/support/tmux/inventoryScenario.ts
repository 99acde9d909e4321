/** Another tmux client does as it likes; what we believe must be what tmux lists, without our asking for it. */
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { eventually } from "../clock/eventually.ts";
import type { PrivateSocket } from "./ownedFixture.ts";

/** The whole inventory as text, one line per fact, for comparing. */
export function believed(server: TmuxServer): readonly string[] {
  const names = new Map(server.windows().map((window) => [window.id, window.name]));
  const windowsOf = server.sessions().map((session) => `${session.id} ${session.name} ${session.windows.join(",")}`);
  const active = server.sessions().map((session) => `${session.id} active ${session.activePane ?? ""}`);
  const panes = server.panes().map((pane) => {
    // tmux 3.8 forgets the process of a dead pane.
    const pid = pane.exit === undefined ? pane.pid : "";
    const exit = pane.exit === undefined ? "" : `${pane.exit.exitCode ?? ""}/${pane.exit.signal ?? ""}`;
    return (
      `${pane.id} ${pane.window} ${pane.cols}x${pane.rows} ${pane.active ? 1 : 0} ${pid}` +
      ` ${pane.exit === undefined ? 0 : 1} ${exit} ${names.get(pane.window) ?? ""} ${pane.title}`
    );
  });
  return [...windowsOf, ...active, ...panes].sort();
}

/** The same lines from a listing by another client. */
export function listed(socket: PrivateSocket): readonly string[] {
  const rows = (...args: string[]): string[][] =>
    socket
      .tmux(...args)
      .split("\n")
      .filter((line) => line !== "" && !line.includes("__tmuxwire-"))
      .map((line) => line.split("\t"));
  const windows = rows("list-windows", "-a", "-F", "#{session_name}\t#{session_id}\t#{window_id}\t#{window_active}");
  const sessions = rows("list-sessions", "-F", "#{session_id}\t#{session_name}").map(([id, name]) => {
    const own = windows.filter((row) => row[1] === id).map((row) => row[2]);
    return `${id} ${name} ${own.join(",")}`;
  });
  const format =
    "#{session_name}\t#{session_id}\t#{window_active}\t#{pane_active}\t#{pane_id}\t#{pane_id} #{window_id} #{pane_width}x" +
    "#{pane_height} #{pane_active} #{?pane_dead,,#{pane_pid}} #{pane_dead} #{?pane_dead,#{pane_dead_status}/#{pane_dead_signal},}" +
    " #{window_name} #{pane_title}";
  const panes = rows("list-panes", "-a", "-F", format);
  const active = panes.filter((row) => row[2] === "1" && row[3] === "1").map((row) => `${row[1]} active ${row[4]}`);
  return [...new Set([...sessions, ...active, ...panes.map((row) => row[5] ?? "")])].sort();
}

/** Random but repeatable: a linear congruential generator. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** One random operation by another client; one that tmux refuses is no operation. */
function operate(socket: PrivateSocket, random: (below: number) => number, step: number): string {
  const pick = (command: readonly string[]): string => {
    const ids = socket
      .tmux(...command)
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("__tmuxwire-"))
      .map((line) => line.split(" ")[1] ?? "");
    return ids[random(ids.length)] ?? "";
  };
  const pane = (): string => pick(["list-panes", "-a", "-F", "#{session_name} #{pane_id}"]);
  const window = (): string => pick(["list-windows", "-a", "-F", "#{session_name} #{window_id}"]);
  const session = (): string => pick(["list-sessions", "-F", "#{session_name} #{session_id}"]);
  // tmux 3.3a dies when a session ends that holds a window twice and a control client is attached.
  const linkOnce = (from: string, to: string): string[] =>
    socket.tmux("list-windows", "-t", to, "-F", "#{window_id}").split("\n").includes(from)
      ? ["select-window", "-t", from]
      : ["link-window", "-d", "-s", from, "-t", `${to}:`];
  // tmux 3.2 dies when a program ends whose pane is kept while what it wrote (here the echo) waits for a control client.
  const interrupt = (of: string): string[] =>
    socket.tmux("display-message", "-p", "#{version}").startsWith("3.2")
      ? ["run-shell", "-t", of, "kill -INT #{pane_pid}"]
      : ["send-keys", "-t", of, "C-c"];
  const operations: readonly (() => string[])[] = [
    () => ["new-session", "-d", "-s", `s${step}`, "-x", "100", "-y", "30", "cat"],
    () => ["new-window", "-d", "-t", `${session()}:`, "cat"],
    () => ["new-window", "-t", `${session()}:`, "-n", `n${step}`, "cat"],
    () => ["split-window", "-t", pane(), "cat"],
    () => ["split-window", "-d", "-h", "-t", pane(), "cat"],
    () => ["kill-pane", "-t", pane()],
    () => ["break-pane", "-d", "-s", pane(), "-t", `${session()}:`],
    () => ["join-pane", "-d", "-s", pane(), "-t", pane()],
    () => ["swap-pane", "-d", "-s", pane(), "-t", pane()],
    () => ["rename-window", "-t", window(), `w${step}`],
    () => ["rename-session", "-t", session(), `r${step}`],
    () => linkOnce(window(), session()),
    () => ["unlink-window", "-t", `${session()}:`],
    () => ["move-window", "-d", "-s", `${session()}:`, "-t", `${session()}:`],
    () => ["select-window", "-t", `${session()}:+`],
    () => ["select-pane", "-t", pane()],
    () => ["select-pane", "-t", pane(), "-T", `t${step}`],
    () => ["resize-pane", "-t", pane(), "-x", String(10 + random(60))],
    () => ["resize-window", "-t", window(), "-x", String(40 + random(100)), "-y", String(20 + random(30))],
    () => ["rotate-window", "-t", window()],
    () => ["kill-window", "-t", window()],
    () => ["kill-session", "-t", session()],
    () => ["set-option", "-w", "-t", window(), "remain-on-exit", random(2) === 0 ? "on" : "off"],
    () => ["send-keys", "-t", pane(), "C-d"],
    () => interrupt(pane()),
  ];
  if (session() === "") return `new ${socket.tmux("new-session", "-d", "-s", `first${step}`, "cat")}`;
  const args = operations[random(operations.length)]?.() ?? [];
  try {
    socket.tmux(...args);
    return args.join(" ");
  } catch {
    return `refused: ${args.join(" ")}`;
  }
}

/**
 * `count` random operations; after every ten of them the inventory must become what tmux lists.
 * Returns how long that took at most, in milliseconds.
 * @throws Error with the last operations when it does not within `withinMs`.
 */
export async function drift(
  server: TmuxServer,
  socket: PrivateSocket,
  seed: number,
  count: number,
  withinMs = 60_000,
): Promise<number> {
  const random = randomFrom(seed);
  const operations: string[] = [];
  let slowestMs = 0;
  for (let step = 1; step <= count; step += 1) {
    operations.push(operate(socket, random, step));
    // Each operation waits for processes of its own; what tmux says meanwhile is read here.
    await new Promise((resolve) => void setImmediate(resolve));
    if (step % 10 !== 0 && step !== count) continue;
    const startMs = performance.now();
    const deadlineMs = startMs + withinMs;
    await eventually(() => {
      const [ours, theirs] = [believed(server), listed(socket)];
      if (ours.join("\n") === theirs.join("\n")) return true;
      if (performance.now() < deadlineMs) return false;
      const differing = [
        ...ours.filter((line) => !theirs.includes(line)).map((line) => `ours   ${line}`),
        ...theirs.filter((line) => !ours.includes(line)).map((line) => `theirs ${line}`),
      ];
      throw new Error(`seed ${seed}, step ${step}\n${differing.join("\n")}\n${operations.slice(-10).join("\n")}`);
    });
    const tookMs = performance.now() - startMs;
    if (process.env["DRIFT_TRACE"] !== undefined) console.log(Math.round(tookMs), operations.join("\n"));
    slowestMs = Math.max(slowestMs, tookMs);
    operations.length = 0;
  }
  return slowestMs;
}
