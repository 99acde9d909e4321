/**
 * The add-in's everyday requests, each against the one tmux process that does the same, in one run: HTTP, JSON and all on
 * our side, on theirs nothing but the process. Both have a screen and a history of the same lines.
 */
import type { BridgeResponse } from "./addinDaemon.ts";
import { captureLines, tmuxProcess } from "./baseline.ts";
import { check, compare, type Contender, type Emit, timed } from "./figures.ts";
import { SESSION } from "./privateServer.ts";

/** Ours responds some hundred times in the time of a dozen processes: the caches are each side's own while it is its turn. */
const TURNS = { rounds: 8, perRound: 40, warmUp: 100 };

export async function againstOneProcess(
  post: (body: object) => Promise<BridgeResponse>,
  socketPath: string,
  nextToken: () => string,
  emit: Emit,
): Promise<void> {
  const versus = async (
    figure: string,
    ours: () => Promise<unknown>,
    process: () => Promise<unknown>,
  ): Promise<void> => {
    const contenders: [Contender, Contender] = [
      { name: "ours", sample: () => timed(ours) },
      { name: "one subprocess", sample: () => timed(process) },
    ];
    await compare({ bench: "http", figure, unit: "ms" }, contenders, TURNS, emit);
  };
  for (const lines of [200, 5_000]) {
    const isWhole = (output: string): boolean => output.split("\n").length >= lines;
    await versus(
      `capture_pane, ${lines} lines, against one process`,
      async () => check(isWhole((await post({ action: "capture_pane", session: SESSION, lines })).output ?? ""), "cut"),
      async () => check(isWhole(await captureLines(socketPath, lines)), "cut"),
    );
  }
  await versus(
    "list_sessions, against one process",
    async () => check((await post({ action: "list_sessions" })).ok, "no list"),
    async () => check((await tmuxProcess(socketPath, ["list-sessions", "-F", "#{session_name}"])) !== "", "no list"),
  );
  await versus(
    "send_keys, text, against one process",
    async () => check((await post({ action: "send_keys", session: SESSION, text: nextToken() })).ok, "not sent"),
    () => tmuxProcess(socketPath, ["send-keys", "-t", SESSION, "-l", "--", nextToken()]),
  );
}
