/** The kernel's table of sockets, read from files like its own: whose row counts, and whose does not. */
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { endianness } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { PeerTable } from "../../../../../adapters/kit/peers/peerTable.ts";
import { isOwnOrRoot, PeerUsers, peersUnknowable } from "../../../../../adapters/kit/peers/peerUsers.ts";
import type { AllowedUids } from "../../../../../daemon/ops/daemonConfig.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

let directory: string;
beforeEach(() => {
  directory = ownDirectory();
});

const hexPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0");
const word = (text: string): string => (endianness() === "LE" ? (text.match(/../g) ?? []).reverse().join("") : text);
const V4 = word("7F000001");
const MAPPED = ["00000000", "00000000", "0000FFFF", "7F000001"].map(word).join("");
const V6 = ["00000000", "00000000", "00000000", "00000001"].map(word).join("");

const row = (address: string, from: number, to: number, state: string, uid: number): string =>
  `  12: ${address}:${hexPort(from)} ${address}:${hexPort(to)} ${state} 00000000:00000000 00:00000000 00000000 ` +
  `${String(uid).padStart(5)}        0 53689 2 00000000383edf90 20 0 0 10 -1`;

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
function table(tcp: readonly string[], tcp6: readonly string[] = [], overflowUid?: number): PeerTable {
  writeFileSync(join(directory, "tcp"), `${[HEAD, ...tcp].join("\n")}\n`);
  writeFileSync(join(directory, "tcp6"), `${[HEAD, ...tcp6].join("\n")}\n`);
  return new PeerTable({ directory, overflowUid });
}

const ends = (remoteAddress: string, remotePort = 50_000) => ({
  remoteAddress,
  remotePort,
  localAddress: remoteAddress,
  localPort: 3_341,
});

test("the other end's row counts, not ours and not a neighbour's", async () => {
  const peers = table([
    row(V4, 3_341, 50_000, "01", 7),
    row(V4, 50_001, 3_341, "01", 8),
    row(V4, 50_000, 3_342, "01", 9),
    row(V4, 50_000, 3_341, "01", 1_000),
  ]);
  expect(await peers.uidOf(ends("127.0.0.1"))).toBe(1_000);
  expect(await peers.uidOf(ends("127.0.0.1", 50_002))).toBeUndefined();
});

test("an IPv4 connection may be of an IPv6 socket, on either side", async () => {
  const peers = table([row(V4, 50_001, 3_341, "01", 1_001)], [row(MAPPED, 50_000, 3_341, "01", 1_000)]);
  expect(await peers.uidOf(ends("127.0.0.1"))).toBe(1_000);
  expect(await peers.uidOf(ends("::ffff:127.0.0.1", 50_001))).toBe(1_001);
});

test.each([
  ["10.20.30.40", word("0A141E28"), 1_000],
  ["x127.0.0.1", V4, undefined],
  ["127.0.0.1x", V4, undefined],
  ["::2", V6, undefined],
  // The last four bytes of `::1` are no IPv4 address.
  ["::1", word("00000001"), undefined],
])("%s with a row of %s", async (address, words, expected) => {
  expect(await table([row(words, 50_000, 3_341, "01", 1_000)]).uidOf(ends(address))).toBe(expected);
});

test.each(["remoteAddress", "remotePort", "localAddress", "localPort"])("without %s nobody is known", async (end) => {
  const peers = table([row(V4, 50_000, 3_341, "01", 1_000)]);
  expect(await peers.uidOf({ ...ends("127.0.0.1"), [end]: undefined })).toBeUndefined();
});

test("an IPv4 and an IPv6 end are not one connection", async () => {
  const [from, to] = [`${word("00000001")}:C350`, `${V4}:0D0D`];
  const peers = table([row(V4, 50_000, 3_341, "01", 1_000).replace(/ \S+ \S+ 01 /, ` ${from} ${to} 01 `)]);
  expect(await peers.uidOf({ ...ends("127.0.0.1"), remoteAddress: "::1" })).toBeUndefined();
});

test("::1", async () => {
  expect(await table([], [row(V6, 50_000, 3_341, "01", 1_000)]).uidOf(ends("::1"))).toBe(1_000);
});

test.each([
  ["01", 0, 0],
  // A closed socket is nobody's, and is shown as root's.
  ["04", 0, undefined],
  ["05", 0, undefined],
  ["06", 0, undefined],
  ["06", 1_000, undefined],
  // One that has sent its last word and waits for the response.
  ["04", 1_000, 1_000],
  ["05", 1_000, 1_000],
])("in state %s a row of user %i tells %s", async (state, uid, expected) => {
  expect(await table([row(V4, 50_000, 3_341, state, uid)]).uidOf(ends("127.0.0.1"))).toBe(expected);
});

test("a user that our namespace does not have is unknown, and one that it has is not", async () => {
  const rows = [row(V4, 50_000, 3_341, "01", 65_534), row(V4, 50_001, 3_341, "01", 1_000)];
  expect(await table(rows, [], 65_534).uidOf(ends("127.0.0.1"))).toBeUndefined();
  expect(await table(rows, [], 65_534).uidOf(ends("127.0.0.1", 50_001))).toBe(1_000);
  expect(await table(rows, []).uidOf(ends("127.0.0.1"))).toBe(65_534);
});

test("a long table is read to the row, across pieces, and for everybody who asks", async () => {
  const others = Array.from({ length: 20_000 }, (_, at) => row(V4, 10_000 + at, 80, "06", 0));
  const peers = table([...others, row(V4, 50_000, 3_341, "01", 1_000), row(V4, 50_001, 3_341, "01", 1_001)]);
  const same = ends("127.0.0.1");
  const asked = [ends("127.0.0.1"), same, same, ends("127.0.0.1", 50_001)].map((one) => peers.uidOf(one));
  expect(await Promise.all(asked)).toEqual([1_000, 1_000, 1_000, 1_001]);
});

test("a row that a read has skipped is found by the next", async () => {
  const peers = table([]);
  const [path, pipe] = [join(directory, "tcp"), join(directory, "tcp6")];
  rmSync(pipe);
  execFileSync("mkfifo", [pipe]);
  const uid = peers.uidOf(ends("127.0.0.1"));
  // The first file has been read when somebody waits for a writer of the second.
  const writer = await open(pipe, "w");
  writeFileSync(path, `${HEAD}\n${row(V4, 50_000, 3_341, "01", 1_000)}\n`);
  await writer.close();
  expect(await uid).toBe(1_000);
});

test("what is beyond 16 MiB of a table is unknown", async () => {
  const own = row(V4, 50_000, 3_341, "01", 1_000);
  const filler = "x".repeat(10_000);
  const tableOf = (bytes: number): PeerTable => table([...Array<string>(Math.ceil(bytes / 10_001)).fill(filler), own]);
  expect(await tableOf(16_700_000).uidOf(ends("127.0.0.1"))).toBe(1_000);
  expect(await tableOf(16_900_000).uidOf(ends("127.0.0.1"))).toBeUndefined();
});

test("without a table nobody is known, and a listener without a token says so before it starts", async () => {
  const none = new PeerTable({ directory: join(directory, "none") });
  expect([none.isReadable, table([]).isReadable]).toEqual([false, true]);
  rmSync(join(directory, "tcp6"));
  expect(new PeerTable({ directory }).isReadable).toBe(true);
  expect(await none.uidOf(ends("127.0.0.1"))).toBeUndefined();
  expect(await none.uidOf({})).toBeUndefined();
  const tokenSetting = "SOME_TOKEN";
  const problem = (allowUids: ReadonlySet<number> | "any", token?: string) =>
    peersUnknowable({ allowUids, token, tokenSetting }, none);
  expect(problem(new Set())).toMatch(/set a token with SOME_TOKEN, or .* --allow-uids any/);
  expect(problem("any")).toBeUndefined();
  expect(problem(new Set(), "t")).toBeUndefined();
  const users = new PeerUsers({ allowUids: new Set(), tokenSetting, log: silentLog, table: none });
  await expect(users.require(ends("127.0.0.1") as never)).rejects.toMatchObject({
    code: "FORBIDDEN",
    details: { reason: "peer_unknown", setting: "SOME_TOKEN" },
  });
});

const OWN = process.getuid?.() ?? 0;
const OTHER = OWN + 1_000;

function usersOf(allowUids: AllowedUids, uidOf: () => number | undefined) {
  const warn = vi.fn<(event: string, fields?: object) => void>();
  const asked = vi.fn<() => Promise<number | undefined>>(() => Promise.resolve(uidOf()));
  const listener = new PeerUsers({
    allowUids,
    tokenSetting: "SOME_TOKEN",
    log: { ...silentLog, warn },
    table: { uidOf: asked } as never,
  });
  return { listener, warn, asked };
}
const connection = () => ({}) as Parameters<PeerUsers["require"]>[0];

test.each<[string, number | undefined, readonly number[], string | undefined]>([
  ["ours", OWN, [], undefined],
  ["root", 0, [], undefined],
  ["another that is allowed", OTHER, [OTHER], undefined],
  ["another", OTHER, [OTHER + 1], "peer_not_allowed"],
  ["one that is not known", undefined, [OTHER], "peer_unknown"],
])("the user of a connection is looked up once: %s", async (_who, uid, allowed, reason) => {
  const { listener, asked, warn } = usersOf(new Set(allowed), () => uid);
  const socket = connection();
  const both = await Promise.allSettled([listener.require(socket), listener.require(socket)]);
  const expected = { code: "FORBIDDEN", details: { reason, close: true } };
  for (const one of both) {
    expect(one).toMatchObject(reason === undefined ? { status: "fulfilled" } : { reason: expected });
  }
  // From then on nobody is waited for.
  if (reason === undefined) expect(listener.require(socket)).toBeUndefined();
  else expect(() => listener.require(socket)).toThrow(expect.objectContaining({ code: "FORBIDDEN" }));
  expect(asked).toHaveBeenCalledOnce();
  const logged = [["http.peer.refused", { uid: uid ?? "unknown" }]];
  expect(warn.mock.calls).toEqual(reason === undefined ? [] : logged);
});

test("a connection that was reset during the look-up is nobody's: its ends may be another's by now", async () => {
  const socket = { destroyed: false };
  const { listener } = usersOf(new Set(), () => {
    socket.destroyed = true;
    return OWN;
  });
  await expect(listener.require(socket as never)).rejects.toMatchObject({ details: { reason: "peer_unknown" } });
});

test("every user is let in without a look-up if any may; a connection that is none is refused otherwise", () => {
  const any = usersOf("any", () => OTHER);
  expect([any.listener.require(undefined), any.asked.mock.calls]).toEqual([undefined, []]);
  expect(() => usersOf(new Set(), () => OWN).listener.require(undefined)).toThrow(/cannot determine the user/);
  expect([isOwnOrRoot(OWN), isOwnOrRoot(0), isOwnOrRoot(OTHER)]).toEqual([true, true, false]);
});

test("a refused user is logged once, and of many users sixteen", async () => {
  let uid = OTHER;
  const { listener, warn } = usersOf(new Set(), () => uid);
  for (let count = 0; count < 40; count += 1) {
    uid = OTHER + (count % 20);
    await expect(listener.require(connection())).rejects.toMatchObject({ details: { uid } });
  }
  expect(warn).toHaveBeenCalledTimes(16);
});
