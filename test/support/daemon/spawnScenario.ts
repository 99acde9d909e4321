/**
 * Mixed add-in operations on a running daemon, with strace attached to it and to whatever it would start. What strace
 * writes is every process start of the daemon's tree; the tmux server is not in it, because tmux detached itself.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { overSocket } from "./addinClient.ts";
import { cliSandbox } from "./cliSandbox.ts";

export const hasStrace = (): boolean => spawnSync("strace", ["-V"]).status === 0;

export interface SpawnCount {
  readonly operations: number;
  /** Responses that were not the expected ones. */
  readonly wrong: readonly string[];
  readonly execve: number;
  /** New processes (threads are none). */
  readonly forks: number;
}

export async function countSpawns(operations: number): Promise<SpawnCount> {
  await using sandbox = cliSandbox();
  const daemon = sandbox.start(["serve", "--only", "addin", "--http", "--addin-port", "0"]);
  const [, url = ""] = await daemon.line(/listening on (http:\S+)/);
  using client = overSocket(url);
  const wrong: string[] = [];
  const expectStatus = async (body: object, status: number): Promise<void> => {
    const answer = await client.tmux(body);
    if (answer.status !== status) wrong.push(`${JSON.stringify(body)}: ${answer.status} ${answer.text.slice(-400)}`);
  };
  // Everything that is loaded on first use is loaded; start-up is over.
  await expectStatus({ action: "create_session", session: "first" }, 200);
  // Not anchored: a shell that lags behind prints its prompt in front of the answer.
  const sum = { action: "send_and_capture", session: "first", text: "echo $((6*7))x", enter: true, wait_for: "42x" };
  await expectStatus(sum, 200);
  const ask = (): Promise<unknown> => client.health();
  const started = await startsOf(daemon.pid, sandbox.path("trace"), ask, async () => {
    const kinds: readonly (readonly [object, number])[] = [
      [{ action: "list_sessions" }, 200],
      [{ action: "send_keys", session: "first", text: "echo one", enter: true }, 200],
      // No C-c: a shell that is interrupted may drop a line that has been typed since.
      [{ action: "send_keys", session: "first", keys: ["x", "Tab", "C-u"] }, 200],
      [{ action: "capture_pane", session: "first", lines: 50, join_wrapped: true }, 200],
      [sum, 200],
      [{ action: "send_and_capture", session: "first", text: "echo two", enter: true }, 200],
      [{ action: "capture_pane", session: "none" }, 404],
      [{ action: "create_session", session: "second" }, 200],
      [{ action: "kill_session", session: "second" }, 200],
      [{ action: "send_and_capture", session: "first", keys: ["Enter"], wait_for: "(never)+", timeout_ms: 100 }, 408],
    ];
    for (let at = 0; at < operations; at += 1) {
      const [body, status] = kinds[at % kinds.length]!;
      await expectStatus(body, status);
    }
  });
  return { operations, wrong, ...started };
}

/** How many processes are started below this one meanwhile. @param ask it for anything */
export async function startsOf(
  pid: number | undefined,
  trace: string,
  ask: () => Promise<unknown>,
  work: () => Promise<void>,
): Promise<Pick<SpawnCount, "execve" | "forks">> {
  const calls = "trace=execve,execveat,fork,vfork,clone,clone3";
  const strace = spawn("strace", ["-f", "-q", "-e", calls, "-o", trace, "-p", String(pid)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    // The daemon stands still while strace attaches: a response after that is from a traced daemon.
    while (!/TracerPid:\t[1-9]/.test(readFileSync(`/proc/${pid}/status`, "utf8"))) await ask();
    await work();
  } finally {
    strace.kill("SIGINT");
    await once(strace, "exit");
  }
  const lines = readFileSync(trace, "utf8").split("\n");
  return {
    execve: lines.filter((line) => / execve/.test(line)).length,
    forks: lines.filter((line) => / (?:v?fork|clone3?)\(/.test(line) && !/CLONE_THREAD/.test(line)).length,
  };
}
