/**
 * bash in a pane of a server of ours, with OSC 133 marks or without (test/fixtures/agents/bashMarks.sh), which says on
 * its own when it runs a command and when it waits for one. `hold` in it runs until `release` ends it with a status.
 */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, watch, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { AGENT_DIRECTORY, type AgentEntry } from "./agentPrograms.ts";
import { ownedFixture } from "../tmux/ownedFixture.ts";

interface ShellProgram extends AsyncDisposable {
  readonly server: TmuxServer;
  readonly pane: PaneId;
  readonly log: readonly AgentEntry[];
  /** The next change to this state after the last one returned. */
  next(state: "idle" | "busy"): Promise<AgentEntry>;
  /** Ends `hold`. */
  release(status?: number): void;
}

export async function shellProgram(marks: "marks" | "plain"): Promise<ShellProgram> {
  const fixture = await ownedFixture();
  const { server, socket } = fixture;
  const logFile = join(socket.directory, "shell.jsonl");
  const fifo = join(socket.directory, "shell.fifo");
  writeFileSync(logFile, "");
  if (spawnSync("mkfifo", [fifo]).status !== 0) throw new Error("mkfifo failed");
  // Open for both, so that neither side waits for the other to open it.
  const fd = openSync(fifo, "r+");
  const log: AgentEntry[] = [];
  const waiting = new Set<() => void>();
  const readOn = (): void => {
    const lines = readFileSync(logFile, "utf8").split("\n").slice(0, -1);
    for (const line of lines.slice(log.length)) log.push(JSON.parse(line) as AgentEntry);
    for (const probe of waiting) probe();
  };
  const watcher = watch(logFile, readOn);
  let at = 0;
  const next = (state: "idle" | "busy"): Promise<AgentEntry> =>
    new Promise((resolve) => {
      const probe = (): void => {
        while (at < log.length && log[at]!.state !== state) at += 1;
        const found = log[at];
        if (found === undefined) return;
        at += 1;
        waiting.delete(probe);
        resolve(found);
      };
      waiting.add(probe);
      readOn();
    });
  const session = await server.createSession({
    name: "shell",
    command: [join(AGENT_DIRECTORY, "bashMarks.sh"), logFile, fifo, marks],
  });
  if (session.activePane === undefined) throw new Error("no pane");
  await next("idle");
  return {
    server,
    pane: session.activePane,
    log,
    next,
    release: (status = 0) => void writeSync(fd, `${status}\n`),
    [Symbol.asyncDispose]: async () => {
      watcher.close();
      await fixture[Symbol.asyncDispose]();
      closeSync(fd);
    },
  };
}
