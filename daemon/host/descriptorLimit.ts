/**
 * The soft limit on open files of this process; undefined if the system does not report it (Linux does, in `/proc`).
 */
import { readFileSync } from "node:fs";
import { attempt } from "./attempt.ts";

export function descriptorLimit(): number | undefined {
  const limits = attempt(() => readFileSync("/proc/self/limits", "utf8")) ?? "";
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? undefined : Number(soft);
}
