/** Ways in which a pane dies, and how long after it has somebody is told who listens to the server's events. */
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { join } from "node:path";
import type { ServerEvent } from "../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { eventually } from "../clock/eventually.ts";
import { tmuxPid } from "./failureScenarios.ts";
import type { PrivateSocket } from "./ownedFixture.ts";
import { type UserControl, userControl } from "./userControl.ts";

export interface DyingServer {
  readonly server: TmuxServer;
  readonly socket: PrivateSocket;
  /** Has sessions `a` and `b` made, in which programs wait, and resolves when the server knows them. */
  populate(): Promise<void>;
}

interface Mortal {
  readonly pane: PaneId;
  readonly pid: number;
  /** Ends the program of itself, now. */
  finish(): void;
}

type Die = (user: UserControl, mortal: Mortal, session: string) => void;

interface Kind {
  readonly kind: ServerEvent["kind"];
  readonly keep?: boolean;
  readonly isWatched?: boolean;
  /** What the program is given: another pane of a session that goes on, or a session of its own. */
  readonly place: "pane" | "session";
  readonly die: Die;
}

const finish: Die = (_user, mortal) => mortal.finish();
const send =
  (command: (mortal: Mortal, session: string) => string): Die =>
  (user, mortal, session) =>
    void user.command(command(mortal, session)).catch(() => undefined);

/** Deaths after which the server goes on. */
export const DEATHS = {
  "program ends": { kind: "pane-closed", place: "pane", die: finish },
  "program ends, remain-on-exit": { kind: "pane-exited", keep: true, place: "pane", die: finish },
  "program ends, its output watched": { kind: "pane-closed", isWatched: true, place: "pane", die: finish },
  "program is killed": {
    kind: "pane-closed",
    place: "pane",
    die: (_user, { pid }) => void process.kill(pid, "SIGKILL"),
  },
  "kill-pane": { kind: "pane-closed", place: "pane", die: send(({ pane }) => `kill-pane -t ${pane}`) },
  "program ends, and its session": { kind: "pane-closed", place: "session", die: finish },
  "kill-session": { kind: "pane-closed", place: "session", die: send((_, session) => `kill-session -t "=${session}"`) },
} as const satisfies Record<string, Kind>;

export type DeathName = keyof typeof DEATHS;

/** Milliseconds from each death to its event; half of them where the daemon happens to be attached, half elsewhere. */
export async function deaths(scene: DyingServer, name: DeathName, count: number): Promise<readonly number[]> {
  const death: Kind = DEATHS[name];
  await using user = await userControl(scene.socket, "a");
  await user.command(`set-option -g remain-on-exit ${death.keep === true ? "on" : "off"}`);
  const reportedMs: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const session = death.place === "session" ? `mortal-${index}` : index % 2 === 0 ? "a" : "b";
    const mortal = await mortalPane(scene, user, session, death.place);
    if (death.isWatched === true) await watch(scene.server, mortal.pane);
    const startMs = performance.now();
    const told = untilReported(scene.server, death.kind, mortal.pane);
    death.die(user, mortal, session);
    reportedMs.push((await told) - startMs);
    if (death.keep === true) await user.command(`kill-pane -t ${mortal.pane}`);
  }
  return reportedMs;
}

/** The same when the whole server goes, which takes every pane along; `how` the server is ended. */
export async function serverDeaths(
  scene: DyingServer,
  how: "kill-server" | "SIGKILL",
  count: number,
): Promise<readonly number[]> {
  const reportedMs: number[] = [];
  for (let index = 0; index < count; index += 1) {
    await scene.populate();
    const panes = scene.server.panes().map(({ id }) => id);
    await using user = await userControl(scene.socket, "a");
    const pid = tmuxPid(scene.socket);
    const startMs = performance.now();
    const told = Promise.all(panes.map((pane) => untilReported(scene.server, "pane-closed", pane)));
    if (how === "SIGKILL") process.kill(pid, how);
    else void user.command("kill-server").catch(() => undefined);
    reportedMs.push(Math.max(...(await told)) - startMs);
  }
  return reportedMs;
}

let fifos = 0;

/** A pane whose program waits until it is told to end. */
async function mortalPane(
  scene: DyingServer,
  user: UserControl,
  session: string,
  place: Kind["place"],
): Promise<Mortal> {
  const fifo = join(scene.socket.directory, `fifo-${(fifos += 1)}`);
  execFileSync("mkfifo", [fifo]);
  const make = place === "pane" ? `split-window -d -t "=${session}:"` : `new-session -d -s ${session}`;
  const row = await user.command(`${make} -P -F "#{pane_id} #{pane_pid}" "exec cat ${fifo}"`);
  const [pane, pid] = row.split(" ") as [PaneId, string];
  await eventually(() => scene.server.findPane(pane) !== undefined);
  // The program has it open for reading.
  let fd: number | undefined;
  await eventually(() => {
    try {
      fd = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
      return true;
    } catch {
      return false;
    }
  });
  const close = (): void => closeSync(fd!);
  return { pane, pid: Number(pid), finish: close };
}

async function watch(server: TmuxServer, pane: PaneId): Promise<void> {
  const ignore = (): void => undefined;
  server.output(pane).subscribe({ advanced: ignore, gap: ignore, exited: ignore, closed: ignore });
  await server.capture(pane);
}

const untilReported = (server: TmuxServer, kind: ServerEvent["kind"], pane: PaneId): Promise<number> =>
  new Promise((resolve) => {
    const unsubscribe = server.subscribe((event) => {
      if (event.kind !== kind || !("pane" in event) || event.pane !== pane) return;
      unsubscribe();
      resolve(performance.now());
    });
  });
