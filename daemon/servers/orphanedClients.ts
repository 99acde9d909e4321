/**
 * Control clients of ours whose daemon is gone. The kernel ends them, unless they are on pipes (docs/tmuxFacts.md 3), another
 * process also has their terminal open (38) or they ignore the hang-up (3a), and a starting daemon must not mistake them for
 * another daemon's. A client is ours by how it was started. It is an orphan if no process that may have started it reads its
 * terminal, or, if it has none or the host reports none, if the daemon that its flags name is not its ancestor. Clients about
 * which too little is known are left alone. An orphan is killed with SIGKILL: one that exits normally sets a terminal that
 * the server reads from to blocking (client.c), and one that tmux has told to exit may never do so.
 */
import { listClients } from "../../protocol/command/build.ts";
import { flag, number, rowFormat, sessionId, word } from "../../protocol/command/rowFormat.ts";
import type { SessionId } from "../../protocol/ids.ts";
import { PAUSE_AFTER_SEC } from "../../protocol/limits.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import type { Host } from "../host/host.ts";
import type { HostProcesses } from "../host/hostProcesses.ts";

const OUR_CLIENTS = rowFormat({
  pid: number("#{client_pid}"),
  isControl: flag("#{client_control_mode}"),
  session: sessionId,
  tty: word("#{client_tty}"),
});
/** From a client over its guard (`launcher.ts`) to the daemon. */
const MAX_GENERATIONS = 2;

/** The flags of our lasting clients. tmux ignores a flag that it does not know, but `ps` shows it. */
export const ourFlags = (): string => `ignore-size,pause-after=${PAUSE_AFTER_SEC},daemon=${process.pid}`;

const OUR_FLAGS = /^ignore-size,pause-after=\d+(?:,daemon=(\d{1,9}))?/;

/** The name that `directTransport.ts` gives itself, where others have a terminal. */
const DIRECT_CLIENT = /^tmuxwire-\d+-[0-9a-f]{8}$/;

export interface OurClient {
  readonly pid: number;
  readonly session: SessionId;
  /** The daemon that reads its output. */
  readonly daemon: number | "none" | "unknown";
}

/** Clients of any tmuxwire daemon on this server, as far as known; all control clients if nothing is known. @throws AppError CONNECTION_LOST */
export async function ourClients(connection: ControlConnection, host: Host): Promise<readonly OurClient[]> {
  const clients = await connection.rows(OUR_CLIENTS, listClients);
  const control = clients.filter(({ isControl }) => isControl);
  // A client that is the daemon itself ends with it. It may be the one that asks.
  const direct = control.filter(({ tty }) => DIRECT_CLIENT.test(tty));
  const found: OurClient[] = direct.map(({ pid, session }) => ({ pid, session, daemon: pid }));
  const rows = control.filter((row) => !direct.includes(row) && row.pid !== connection.pid);
  if (rows.length === 0) return found;
  const processes = await host.processes.probe();
  // Only their sessions are known.
  if (!(await processes.isThere()))
    return [...found, ...rows.map(({ pid, session }): OurClient => ({ pid, session, daemon: "unknown" }))];
  for (const { pid, session, tty } of rows) {
    const words = (await processes.words(pid)) ?? [];
    const flags = words.map((given) => OUR_FLAGS.exec(given)).find((match) => match !== null);
    if (flags === undefined) continue;
    const isInput = words.includes("-CC") ? host.terminals.isInputOf(tty, pid) : false;
    // Or the host reports no terminals.
    const isOnPipes = isInput === undefined || (words.includes("-C") && tty === "");
    const daemon = Number(flags[1]);
    if (isInput === true) found.push({ pid, session, daemon: await readerOf(host, processes, pid, tty) });
    else if (isOnPipes && daemon > 0) found.push({ pid, session, daemon: await starterOf(processes, pid, daemon) });
  }
  return found;
}

export const isOrphan = ({ daemon }: OurClient): boolean => daemon === "none";

/** The client may already be gone. */
export const endClient = ({ pid }: OurClient, { processes }: Host): void => void processes.signal(pid, "SIGKILL");

/** @throws AppError CONNECTION_LOST */
export async function endOrphans(connection: ControlConnection, host: Host): Promise<void> {
  for (const client of await ourClients(connection, host)) if (isOrphan(client)) endClient(client, host);
}

async function readerOf(
  { terminals }: Host,
  processes: HostProcesses,
  client: number,
  tty: string,
): Promise<OurClient["daemon"]> {
  let pid = client;
  for (let generation = 0; generation < MAX_GENERATIONS; generation += 1) {
    const parent = (await processes.stat(pid))?.parent;
    if (parent === undefined || parent === 0) return generation === 0 ? "unknown" : "none";
    const holds = terminals.isHeldBy(tty, parent);
    if (holds === true) return parent;
    if (holds === undefined && (await mayBeDaemon(processes, parent))) return "unknown";
    pid = parent;
  }
  return "none";
}

/** A process that has lost its parent gets another one, which is not a daemon of ours. */
async function starterOf(processes: HostProcesses, client: number, daemon: number): Promise<OurClient["daemon"]> {
  let pid = client;
  for (let generation = 0; generation < MAX_GENERATIONS; generation += 1) {
    const parent = (await processes.stat(pid))?.parent;
    if (parent === undefined) return "unknown";
    if (parent === daemon) return daemon;
    pid = parent;
  }
  return "none";
}

/** For a process whose descriptors are not readable: other users' processes, and the one that adopts orphans, are not daemons. */
const mayBeDaemon = async (processes: HostProcesses, pid: number): Promise<boolean> =>
  (await processes.owner(pid)) === process.getuid?.() && (await processes.stat(pid))?.name !== "systemd";
