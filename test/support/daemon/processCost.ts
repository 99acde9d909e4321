/** What a process costs, as the kernel counts it (proc(5)): it is not asked, so that asking costs it nothing. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

interface ProcessCost {
  readonly rssMiB: number;
  readonly cpuMs: number;
  readonly children: number;
}

const TICK_MS = 1_000 / Number(spawnSync("getconf", ["CLK_TCK"], { encoding: "utf8" }).stdout);

/** User and system time, its threads included; in steps of a clock tick, usually 10 ms. */
export function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

export function costOf(pid: number): ProcessCost {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const rssKiB = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return {
    rssMiB: Math.round((rssKiB / 1_024) * 10) / 10,
    cpuMs: cpuMsOf(pid),
    children: children === "" ? 0 : children.split(" ").length,
  };
}
