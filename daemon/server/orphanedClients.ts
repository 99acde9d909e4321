/**
 * Control clients of ours whose daemon has gone. The kernel ends them, unless somebody else has their terminal as well
 * (docs/tmuxFacts.md 38) or they ignore it (3a), and a daemon that starts must not take them for another daemon. A client
 * is ours by how it was started, and an orphan when nobody who may have started it reads its terminal: what cannot be seen
 * is left alone. It is ended by its process, and by SIGKILL: one that leaves in an orderly way makes a terminal blocking
 * that the server reads from (client.c), and one that tmux has told to leave may never do so.
 */
import { listClients } from "../../protocol/command/build.ts";
import { lines } from "../../protocol/command/formats.ts";
import { isSessionId, type SessionId } from "../../protocol/ids.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import { argumentsOf, holdsTerminal, nameOf, openOn, parentOf, userOf } from "../host/processTable.ts";

const CLIENTS_FORMAT = "#{client_pid} #{client_control_mode} #{session_id} #{client_tty}";
/** A client, its guard (`launcher.ts`), the daemon. */
const MAX_GENERATIONS = 2;

export interface OurClient {
  readonly pid: number;
  readonly session: SessionId;
  /** The daemon that reads its terminal. */
  readonly daemon: number | "none" | "unknown";
}

/** Those that any daemon of ours has on this server, as far as can be seen. @throws AppError CONNECTION_LOST */
export async function ourClients(connection: ControlConnection): Promise<readonly OurClient[]> {
  const { body } = await connection.command(listClients(CLIENTS_FORMAT));
  return lines(body).flatMap((line) => {
    const [pidText, isControl, session = "", tty = ""] = line.split(" ");
    const pid = Number(pidText);
    if (isControl !== "1" || !isSessionId(session) || pid === connection.pid || !isOurs(pid, tty)) return [];
    return [{ pid, session, daemon: readerOf(pid, tty) }];
  });
}

export const isOrphan = ({ daemon }: OurClient): boolean => daemon === "none";

export function endClient({ pid }: OurClient): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has gone by itself.
  }
}

/** @throws AppError CONNECTION_LOST */
export async function endOrphans(connection: ControlConnection): Promise<void> {
  for (const client of await ourClients(connection)) if (isOrphan(client)) endClient(client);
}

/** On this terminal, in control mode, with the flags that only we attach with. */
function isOurs(pid: number, tty: string): boolean {
  const words = argumentsOf(pid) ?? [];
  return (
    openOn(pid, 0) === tty && words.includes("-CC") && words.some((word) => /^ignore-size,pause-after=\d+/.test(word))
  );
}

function readerOf(client: number, tty: string): OurClient["daemon"] {
  const terminal = /^\/dev\/pts\/(\d{1,9})$/.exec(tty)?.[1];
  if (terminal === undefined) return "unknown";
  let pid: number | undefined = client;
  for (let generation = 0; generation < MAX_GENERATIONS; generation += 1) {
    pid = parentOf(pid);
    if (pid === undefined) return generation === 0 ? "unknown" : "none";
    const holds = holdsTerminal(pid, Number(terminal));
    if (holds === true) return pid;
    if (holds === undefined && mayBeDaemon(pid)) return "unknown";
  }
  return "none";
}

/** Of a process whose descriptors are not shown: those of other users, and the one that systemd gives orphans to, are none. */
const mayBeDaemon = (pid: number): boolean => userOf(pid) === process.getuid?.() && nameOf(pid) !== "systemd";
