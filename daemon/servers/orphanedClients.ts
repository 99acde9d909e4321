/**
 * Control clients of ours whose daemon has gone. The kernel ends them, unless they are on pipes (docs/tmuxFacts.md 3),
 * somebody else has their terminal as well (38) or they ignore it (3a), and a daemon that starts must not take them for
 * another daemon. A client is ours by how it was started. It is an orphan when nobody who may have started it reads its
 * terminal, or, where it has none or the host reports none, when the daemon that its flags name is not its ancestor: what
 * cannot be seen is left alone. Its process is ended, by SIGKILL: one that leaves in an orderly way makes a terminal
 * blocking that the server reads from (client.c), and one that tmux has told to leave may never do so.
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
/** A client, its guard (`launcher.ts`), the daemon. */
const MAX_GENERATIONS = 2;

/** What each of our lasting clients is attached with. tmux ignores a flag that it does not know, but `ps` shows it. */
export const ourFlags = (): string => `ignore-size,pause-after=${PAUSE_AFTER_SEC},daemon=${process.pid}`;

const OUR_FLAGS = /^ignore-size,pause-after=\d+(?:,daemon=(\d{1,9}))?/;

/** The name that `directTransport.ts` gives itself, where others have a terminal. */
const DIRECT_CLIENT = /^tmuxwire-\d+-[0-9a-f]{8}$/;

export interface OurClient {
  readonly pid: number;
  readonly session: SessionId;
  /** The daemon that reads what it prints. */
  readonly daemon: number | "none" | "unknown";
}

/** Clients of any daemon of ours on this server, as far as can be seen; where nothing can, all control clients. @throws AppError CONNECTION_LOST */
export async function ourClients(connection: ControlConnection, host: Host): Promise<readonly OurClient[]> {
  const clients = await connection.rows(OUR_CLIENTS, listClients);
  const rows = clients.filter(({ pid, isControl }) => isControl && pid !== connection.pid);
  if (rows.length === 0) return [];
  const processes = await host.processes.probe();
  // All that is known of them: what they are attached to.
  if (!(await processes.isThere())) return rows.map(({ pid, session }) => ({ pid, session, daemon: "unknown" }));
  const found: OurClient[] = [];
  for (const { pid, session, tty } of rows) {
    if (DIRECT_CLIENT.test(tty)) {
      // The kernel ends it with the daemon, whose process it is.
      found.push({ pid, session, daemon: pid });
      continue;
    }
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

/** It may have gone by itself meanwhile. */
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

/** A process that has lost its parent gets another one, which is no daemon of ours. */
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

/** Of a process whose descriptors are not shown: those of other users, and the one that systemd gives orphans to, are none. */
const mayBeDaemon = async (processes: HostProcesses, pid: number): Promise<boolean> =>
  (await processes.owner(pid)) === process.getuid?.() && (await processes.stat(pid))?.name !== "systemd";
