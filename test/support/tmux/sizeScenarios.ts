/** Many panes, many lives of panes. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../protocol/errors.ts";
import { DEAF, seen } from "./output.ts";
import type { PrivateSocket } from "./ownedFixture.ts";
import { sinceMs } from "../daemon/loadReport.ts";
import { text } from "./panePrograms.ts";

/** A tmux that may open `descriptors` files at most. */
export function limitedTmux(directory: string, descriptors: number): string {
  const path = join(directory, "limited-tmux");
  writeFileSync(path, `#!/bin/sh\nulimit -n ${descriptors}\nexec tmux "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

interface ManyResult {
  readonly made: number;
  /** What ended the making, if anything did. */
  readonly refusal: string | undefined;
  readonly makingMs: number;
  /** Whether the last pane made echoes, is captured, and all can be ended. */
  readonly worksAfterwards: boolean;
}

export async function manyPanes(server: TmuxServer, count: number): Promise<ManyResult> {
  const startMs = performance.now();
  let made = 0;
  let refusal: AppError | undefined;
  while (made < count && refusal === undefined) {
    try {
      await server.createSession({ name: `many${made}`, command: ["cat"] });
      made += 1;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      refusal = error;
    }
  }
  const makingMs = sinceMs(startMs);
  const pane = server.findSession(`many${made - 1}`)?.activePane;
  if (pane === undefined) throw new Error("no pane at all");
  const source = server.output(pane);
  const from = source.outputSeq;
  await server.input(pane, [text("still here\n")]);
  await seen(source, from, "still here\r\n");
  const { lines } = await server.capture(pane);
  await Promise.all(server.sessions().map((session) => server.killSession(session.id)));
  const worksAfterwards = lines.includes("still here") && server.panes().length === 0;
  return { made, refusal: refusal && `${refusal.code} ${refusal.message}`, makingMs, worksAfterwards };
}

/** Sessions made, written to, and ended. Returns the windows tmux has in the end. */
export async function churn(server: TmuxServer, socket: PrivateSocket, cycles: number): Promise<readonly string[]> {
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const session = await server.createSession({ name: "churn", command: ["cat"] });
    const pane = session.activePane!;
    const source = server.output(pane);
    source.subscribe(DEAF);
    await server.input(pane, [text(`cycle ${cycle}\n`)]);
    await seen(source, 0, `cycle ${cycle}`);
    await server.killSession(session.id);
  }
  return socket.tmux("list-windows", "-a", "-F", "#{session_name} #{window_id}").trim().split("\n");
}
