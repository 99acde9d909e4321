/** Terminals on Linux: names that appear in `/dev/pts` and disappear, and who has either end open (proc(5), fdinfo). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HostTerminals } from "../host.ts";
import { attempt } from "../attempt.ts";
import { descriptorsOf, openOn } from "./linuxSockets.ts";
import { watchNames } from "../nodeSystem.ts";

export const linuxTerminals = (proc: string, directory: string): HostTerminals => ({
  watch: (listener) =>
    watchNames(directory, (kind, name) => {
      // "change" means that a program wrote; "rename" that a terminal appeared or disappeared.
      if (kind !== "rename") return;
      listener(name !== null && existsSync(join(directory, name)) ? "came" : "gone");
    }),
  isInputOf: (terminal, pid) => {
    const input = openOn(proc, pid, 0);
    return input === undefined ? undefined : input === terminal;
  },
  isHeldBy: (terminal, pid) => {
    const [, number] = /^\/dev\/pts\/(\d{1,9})$/.exec(terminal) ?? [];
    if (number === undefined) return undefined;
    const info = new RegExp(`^tty-index:\\s*${number}$`, "m");
    return descriptorsOf(proc, pid)?.some(
      (fd) =>
        openOn(proc, pid, fd)?.endsWith("/ptmx") === true &&
        info.test(attempt(() => readFileSync(`${proc}/${pid}/fdinfo/${fd}`, "latin1")) ?? ""),
    );
  },
});
