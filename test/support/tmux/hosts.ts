/** Every kind of host on this machine: the ones that are made for another machine get a file system and a `ps` of the test's own. */
import { readdirSync } from "node:fs";
import { tmpdir, uptime } from "node:os";
import { join } from "node:path";
import { darwinHost } from "../../../daemon/host/darwin/darwinHost.ts";
import type { Host } from "../../../daemon/host/host.ts";
import { linuxHost } from "../../../daemon/host/linux/linuxHost.ts";
import { localClients } from "../../../daemon/host/clients/localClients.ts";
import { procfs } from "../../../daemon/host/procfs.ts";
import type { RunProgram } from "../../../daemon/host/runProgram.ts";
import { unknownHost } from "../../../daemon/host/unknownHost.ts";

/** What macOS has in the place of `/proc` and `/dev/pts`; a folder would stay, because workers of the test runner are killed. */
const empty = join(tmpdir(), "tmuxwire-is-not-there");

export interface FakePs {
  readonly run: RunProgram;
  /** How often it was started, and how many were at work at once. */
  readonly counts: { started: number; atOnce: number };
}

/** Prints what the `ps` of macOS would, of this machine's processes; fails while `fails` says so. */
export function fakePs(fails: () => boolean = () => false): FakePs {
  const counts = { started: 0, atOnce: 0 };
  let atWork = 0;
  const run: RunProgram = async (file, args, env, limits) => {
    if (file !== "/bin/ps") return localClients.run(file, args, env, limits);
    counts.started += 1;
    atWork += 1;
    counts.atOnce = Math.max(counts.atOnce, atWork);
    try {
      if (fails()) return { failure: { code: 1, message: "ps: no" }, stdout: "" };
      const rows: string[] = [];
      for (const name of readdirSync("/proc")) if (/^\d+$/.test(name)) rows.push(...(await rowOf(Number(name))));
      return { stdout: `${rows.join("\n")}\n` };
    } finally {
      atWork -= 1;
    }
  };
  return { run, counts };
}

async function rowOf(pid: number): Promise<readonly string[]> {
  const [stat, words] = await Promise.all([procfs().stat(pid), procfs().words(pid)]);
  if (stat === undefined) return [];
  const { parent, group, foregroundGroup, terminal, state, start, name } = stat;
  const startedMs = Date.now() - uptime() * 1_000 + Number(start) * 10;
  const [day, month, date, year, time] = new Date(Math.round(startedMs / 10_000) * 10_000).toString().split(" ");
  const owner = (await linuxHost().processes.owner(pid)) ?? 0;
  const tty = terminal === 0 ? "??" : `ttys${String(terminal).padStart(3, "0")}`;
  const command = words === undefined || words.join("") === "" ? `(${name})` : words.join(" ").replaceAll("\n", " ");
  const numbers = [pid, parent, owner, group, terminal === 0 ? 0 : foregroundGroup].map((n) => String(n).padStart(5));
  return [`${numbers.join(" ")} ${tty.padEnd(8)} ${state}+   ${day} ${month} ${date} ${time} ${year}     ${command}`];
}

export const macos = (ps = fakePs()): Host => darwinHost({ ...localClients, run: ps.run });

/** By name; what each is asked must be right or unknown. */
export const HOSTS: Readonly<Record<string, () => Host>> = {
  linux: () => linuxHost(),
  "linux without /proc and /dev/pts": () => linuxHost({ proc: join(empty, "proc"), terminals: join(empty, "pts") }),
  macOS: () => macos(),
  "macOS whose ps fails": () => macos(fakePs(() => true)),
  "one that knows nothing": () => unknownHost(),
};
