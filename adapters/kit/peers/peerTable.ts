/**
 * Looks up the uid of a connection's peer on this machine. The kernel's table of TCP sockets has a row for each end, and the
 * other end's row names its user. Linux only; elsewhere, and if no row is found, the result is "unknown", which never grants
 * access. Concurrent lookups share one read.
 */
import { accessSync, constants, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { endianness } from "node:os";
import { PEER_TABLE_MAX_BYTES, PEER_TABLE_READS } from "./httpLimits.ts";

/** Both ends of an accepted connection, as a `Socket` has them. */
interface ConnectionEnds {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

interface PeerTableOptions {
  /** The directory of `tcp` and `tcp6`. */
  readonly directory?: string | undefined;
  /** The uid that stands for users outside our user namespace; undefined if the namespace maps all users. */
  readonly overflowUid?: number | undefined;
}

type Settle = (uid: number | undefined) => void;

interface Lookup {
  readonly keys: readonly string[];
  /** The callers that wait for this row: under TLS, two objects stand for one connection. */
  readonly settles: Settle[];
}

export class PeerTable {
  readonly #files: readonly string[];
  readonly #overflowUid: number | undefined;
  #asked = new Map<string, Lookup>();
  #isReading = false;

  constructor(options: PeerTableOptions = {}) {
    const { directory = "/proc/net" } = options;
    this.#files = ["tcp", "tcp6"].map((name) => `${directory}/${name}`);
    this.#overflowUid = "overflowUid" in options ? options.overflowUid : overflowUid();
  }

  /** Whether the table can be read; if not, every peer is unknown. */
  get isReadable(): boolean {
    return this.#files.some((path) => {
      try {
        accessSync(path, constants.R_OK);
        return true;
      } catch {
        return false;
      }
    });
  }

  /** Undefined if unknown. Never rejects. */
  uidOf(ends: ConnectionEnds): Promise<number | undefined> {
    const keys = rowKeys(ends);
    const [first] = keys;
    if (first === undefined) return Promise.resolve(undefined);
    return new Promise((settle) => {
      const asked = this.#asked.get(first);
      if (asked === undefined) this.#asked.set(first, { keys, settles: [settle] });
      else asked.settles.push(settle);
      if (!this.#isReading) void this.#readAll();
    });
  }

  /** Reads several times, because a read can skip an existing row while others come and go. */
  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#asked.size > 0) {
      const lookups = [...this.#asked.values()];
      const wanted = new Map(lookups.flatMap((lookup) => lookup.keys.map((key) => [key, lookup] as const)));
      this.#asked = new Map();
      for (let reading = 1; reading <= PEER_TABLE_READS && wanted.size > 0; reading++) {
        for (const path of this.#files) if (wanted.size > 0) await this.#read(path, wanted);
      }
      for (const lookup of new Set(wanted.values())) settleAll(lookup, undefined);
    }
    this.#isReading = false;
  }

  async #read(path: string, wanted: Map<string, Lookup>): Promise<void> {
    const file = await open(path).catch(() => undefined);
    if (file === undefined) return;
    try {
      const buffer = Buffer.allocUnsafe(READ_BYTES);
      let rest = "";
      for (let total = 0; total < PEER_TABLE_MAX_BYTES && wanted.size > 0;) {
        const { bytesRead } = await file.read(buffer, 0, READ_BYTES, null);
        if (bytesRead === 0) return;
        total += bytesRead;
        const lines = (rest + buffer.toString("latin1", 0, bytesRead)).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) this.#take(line, wanted);
      }
    } catch {
      // Rows that were not read stay unknown.
    } finally {
      await file.close().catch(() => undefined);
    }
  }

  #take(line: string, wanted: Map<string, Lookup>): void {
    const row = ROW.exec(line);
    const lookup = wanted.get(row?.[1] ?? "");
    const uid = Number(row?.[3]);
    if (lookup === undefined || !tellsUser(row?.[2], uid)) return;
    for (const key of lookup.keys) wanted.delete(key);
    settleAll(lookup, uid === this.#overflowUid ? undefined : uid);
  }
}

const settleAll = ({ settles }: Lookup, uid: number | undefined): void => {
  for (const settle of settles) settle(uid);
};

/** The kernel returns at most a page per read. */
const READ_BYTES = 65_536;
/** Columns: number, both ends, state, queues, timer, retransmits, user. */
const ROW = /^\s*\d+: ([0-9A-F]+:[0-9A-F]{4} [0-9A-F]+:[0-9A-F]{4}) ([0-9A-F]{2}) \S+ \S+ \S+\s+(\d+) /;

/**
 * A socket that its process has closed stays in the table, and many kernels show it as root's, so only an open socket's uid
 * counts. After its FIN (FIN_WAIT1, FIN_WAIT2) a socket may be open or closed, so there root counts as unknown.
 */
function tellsUser(state: string | undefined, uid: number): boolean {
  if (state === "01") return true;
  return (state === "04" || state === "05") && uid !== 0;
}

/** Keys of the other end's row: its local end is our remote end. An IPv4 connection may be in either file. */
function rowKeys({ remoteAddress, remotePort, localAddress, localPort }: ConnectionEnds): string[] {
  const [remote, local] = [wordsOf(remoteAddress), wordsOf(localAddress)];
  if (remote === undefined || local === undefined || remotePort === undefined || localPort === undefined) return [];
  const key = (from: number): string =>
    `${hexOf(remote.subarray(from))}:${hexPort(remotePort)} ${hexOf(local.subarray(from))}:${hexPort(localPort)}`;
  const isIpv4 = (bytes: Uint8Array): boolean => MAPPED.every((byte, at) => bytes[at] === byte);
  return isIpv4(remote) && isIpv4(local) ? [key(12), key(0)] : [key(0)];
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** An address as the 16 bytes of IPv6. */
function wordsOf(address: string | undefined): Uint8Array | undefined {
  const ipv4 = /^(?:::ffff:)?(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/i.exec(address ?? "");
  if (ipv4 !== null) return Uint8Array.from([...MAPPED, ...ipv4.slice(1).map(Number)]);
  // IPv6 has only one loopback address.
  return address === "::1" ? Uint8Array.from([...Array<number>(15).fill(0), 1]) : undefined;
}

/** As the kernel prints them: words of four bytes in the machine's byte order. */
function hexOf(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4) {
    const word = [...bytes.subarray(at, at + 4)];
    if (endianness() === "LE") word.reverse();
    text += word.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join("");
  }
  return text;
}

const hexPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0");

/** In a user namespace that does not map all users (most containers), the others share one uid, which identifies nobody. */
function overflowUid(): number | undefined {
  try {
    const isWhole = /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync("/proc/self/uid_map", "utf8"));
    return isWhole ? undefined : Number(readFileSync("/proc/sys/kernel/overflowuid", "utf8"));
  } catch {
    return undefined;
  }
}
