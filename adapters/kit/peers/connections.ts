/**
 * The connections of one listener, and which of them to close when there are too many: unauthenticated ones, silent ones
 * first. A connection becomes known with its first request that carries the token or comes from an allowed user; a known one
 * is never closed to make room. So idle sockets cannot cost another client its response.
 */
import type { Socket } from "node:net";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { CROWDED_CONNECTIONS, FIRST_BYTE_WITHIN_MS, OTHER_USERS_CONNECTIONS } from "./httpLimits.ts";
import { isOwnOrRoot, machineTable } from "./peerUsers.ts";

interface ConnectionsOptions {
  readonly clock: Clock;
  /** Above this number, connections that are not known are closed. */
  readonly crowded?: number | undefined;
  readonly uidOf?: ((socket: Socket) => Promise<number | undefined>) | undefined;
}

interface Connection {
  readonly socket: Socket;
  readonly sinceMs: number;
  isKnown: boolean;
  /** Looked up only when there are too many connections. */
  uid: number | undefined | "not asked";
  readonly owner: Connections;
}

/** Keyed by the socket that requests name: the connection's own, or the TLS socket on it. */
const connectionOf = new WeakMap<object, Connection>();

/** The peer is authorised. */
export function markKnown(socket: Socket | undefined): void {
  const connection = socket === undefined ? undefined : connectionOf.get(socket);
  if (connection === undefined || connection.isKnown) return;
  connection.isKnown = true;
  connection.owner.becameKnown(connection);
}

export class Connections {
  readonly #clock: Clock;
  readonly #crowded: number;
  readonly #uidOf: (socket: Socket) => Promise<number | undefined>;
  /** All connections, including those that Node does not count: before their TLS handshake, or upgraded. */
  readonly #all = new Set<Socket>();
  /** Not known yet, oldest first. */
  readonly #newcomers = new Set<Connection>();
  /** Connections that have sent nothing yet, by deadline. */
  readonly #silent = new Set<Connection>();
  /** Accepted since the next trim was scheduled. */
  readonly #fresh = new Set<Connection>();
  #timer: Timer | undefined;
  #isTrimming = false;

  constructor(options: ConnectionsOptions) {
    this.#clock = options.clock;
    this.#crowded = options.crowded ?? CROWDED_CONNECTIONS;
    this.#uidOf = options.uidOf ?? ((socket) => machineTable.uidOf(socket));
  }

  /** Called again when a request is put back in front of its connection (`ignoreOtherUpgrades`); it is counted once. */
  add(socket: Socket): void {
    if (connectionOf.has(socket)) return;
    const connection: Connection = {
      socket,
      sinceMs: this.#clock.nowMs(),
      isKnown: false,
      uid: "not asked",
      owner: this,
    };
    connectionOf.set(socket, connection);
    this.#all.add(socket);
    this.#newcomers.add(connection);
    this.#silent.add(connection);
    this.#timer ??= this.#nextSilence();
    socket.once("close", () => this.#gone(connection));
    if (this.#isTrimming) this.#fresh.add(connection);
    else if (this.#all.size > this.#crowded / 2) this.#trimSoon();
  }

  /** Requests on a TLS connection name the TLS socket. */
  secured(tlsSocket: Socket): void {
    const isSame = ({ socket }: Connection): boolean =>
      socket.remotePort === tlsSocket.remotePort &&
      socket.remoteAddress === tlsSocket.remoteAddress &&
      socket.localAddress === tlsSocket.localAddress;
    for (const connection of this.#newcomers) if (isSame(connection)) connectionOf.set(tlsSocket, connection);
  }

  becameKnown(connection: Connection): void {
    this.#newcomers.delete(connection);
    this.#silent.delete(connection);
  }

  destroyAll(): void {
    for (const socket of this.#all) socket.destroy();
  }

  #gone(connection: Connection): void {
    this.#all.delete(connection.socket);
    this.#newcomers.delete(connection);
    this.#silent.delete(connection);
    this.#fresh.delete(connection);
    if (this.#silent.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #nextSilence(): Timer | undefined {
    for (const { sinceMs } of this.#silent) {
      return this.#clock.callAt(sinceMs + FIRST_BYTE_WITHIN_MS, () => {
        // First read what is in the kernel's buffers, because this process may be the one that is late.
        setImmediate(() => {
          this.#endSilence();
          this.#timer = this.#nextSilence();
        });
      });
    }
    return undefined;
  }

  #endSilence(): void {
    const dueMs = this.#clock.nowMs() - FIRST_BYTE_WITHIN_MS;
    for (const connection of this.#silent) {
      if (connection.sinceMs > dueMs) return;
      this.#silent.delete(connection);
      if (isSilent(connection)) connection.socket.destroy();
    }
  }

  /**
   * Trims in a later turn: a connection is accepted in one turn and read in the next, so none is closed before its first
   * bytes could be read. Those accepted meanwhile are considered the next time.
   */
  #trimSoon(): void {
    if (this.#isTrimming) return;
    this.#isTrimming = true;
    setImmediate(() =>
      setImmediate(() => {
        this.#isTrimming = false;
        this.#trim();
        if (this.#fresh.size > 0) this.#trimSoon();
        this.#fresh.clear();
      }),
    );
  }

  #trim(): void {
    for (const connection of this.#newcomers) if (connection.uid === "not asked") void this.#lookUp(connection);
    const nowMs = this.#clock.nowMs();
    const ranked = [...this.#newcomers]
      .filter((connection) => !this.#fresh.has(connection))
      .map((connection) => ({ connection, rank: rankOf(connection, nowMs) }))
      .toSorted((one, other) => one.rank - other.rank);
    const counts = new Map<number, number>();
    for (const { uid } of this.#newcomers) {
      if (isOthers(uid)) counts.set(uid, (counts.get(uid) ?? 0) + 1);
    }
    let excess = this.#all.size - this.#crowded;
    for (const { connection } of ranked) {
      const { socket, uid } = connection;
      const ofUser = isOthers(uid) ? (counts.get(uid) ?? 0) : 0;
      if (excess <= 0 && ofUser <= OTHER_USERS_CONNECTIONS) continue;
      excess -= 1;
      if (isOthers(uid)) counts.set(uid, ofUser - 1);
      socket.destroy();
    }
  }

  async #lookUp(connection: Connection): Promise<void> {
    connection.uid = undefined;
    connection.uid = await this.#uidOf(connection.socket);
    if (isOthers(connection.uid)) this.#trimSoon();
  }
}

const isSilent = ({ socket }: Connection): boolean => socket.bytesRead === 0;
/** An unknown user counts as ours, because the peers of a unix socket are. */
const isOthers = (uid: Connection["uid"]): uid is number => typeof uid === "number" && !isOwnOrRoot(uid);

/**
 * The lowest rank is closed first: other users' before ours, then the oldest. A connection that has sent something, or is
 * too new to have sent anything, counts as younger.
 */
function rankOf(connection: Connection, nowMs: number): number {
  const { sinceMs, uid } = connection;
  const isExcused = !isSilent(connection) || nowMs - sinceMs < HARDLY_MS;
  return sinceMs + (isExcused ? SPOKEN_COUNTS_MS : 0) - (isOthers(uid) ? OTHERS_COUNT_MS : 0);
}

/** Time from a connection to its first byte, on a busy machine. */
const HARDLY_MS = 10;
const SPOKEN_COUNTS_MS = 500;
/** Longer than anyone may stay silent or take to send headers. */
const OTHERS_COUNT_MS = 60_000;
