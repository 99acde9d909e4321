/** Which process is a pane's program, by `/proc`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { linuxHost } from "../../../../daemon/host/linux/linuxHost.ts";
import { programBehind, withGracePeriod } from "../../../../daemon/servers/gracePeriod.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

const [TMUX, PANE, PROGRAM] = [6, 7, 8];
const stat = (pid: number, parent: number): string => `${pid} (sh) S ${parent} 7 7 0 7 0${" 0".repeat(12)} ${pid}00 0`;
const line = (words: readonly string[]): string => words.map((word) => `${word}\0`).join("");
const SHELL = line(withGracePeriod(["vim"]));

test.each<[what: string, line: string, child: string, program: number | undefined]>([
  ["the one that the shell waits for", SHELL, `${PROGRAM} `, PROGRAM],
  ["none yet: the shell has not started it", SHELL, "", undefined],
  ["the pane's own", line(["vim"]), "", PANE],
  ["none yet: tmux's own fork", line(["tmux", "attach"]), "", undefined],
  ["none yet: in the middle of execve(2)", "", "", undefined],
])("%s", async (_what, words, children, program) => {
  const proc = ownDirectory();
  for (const [pid, parent, its] of [
    [TMUX, 1, line(["tmux", "attach"])],
    [PANE, TMUX, words],
    [PROGRAM, PANE, line(["vim"])],
  ] as const) {
    mkdirSync(join(proc, `${pid}`, "task", `${pid}`), { recursive: true });
    writeFileSync(join(proc, `${pid}`, "stat"), stat(pid, parent));
    writeFileSync(join(proc, `${pid}`, "cmdline"), its);
    writeFileSync(join(proc, `${pid}`, "task", `${pid}`, "children"), pid === PANE ? children : "");
  }
  const { processes } = linuxHost({ proc });
  expect((await programBehind(PANE, processes))?.pid).toBe(program);
});
