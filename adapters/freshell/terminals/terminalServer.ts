/**
 * The terminals as a server of panes, for the engine's feeds: a terminal keeps one id there when its pane changes.
 * Resizes are not reported to feeds: pages redraw their own screens.
 */
import type { FeedServer } from "../../../daemon/panes/paneFeed.ts";
import type { ServerEvent } from "../../../daemon/tmux/inventory.ts";
import type { Snapshot } from "../../../daemon/tmux/io.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { SNAPSHOT_HISTORY_LINES } from "../freshellLimits.ts";
import { retainedBytes } from "./terminalUse.ts";
import { type Terminal, unknownTerminal } from "./terminal.ts";

export function terminalServer(server: TmuxServer, find: (key: PaneId) => Terminal | undefined): FeedServer {
  const require = (key: PaneId): Terminal => {
    const terminal = find(key);
    if (terminal === undefined) throw unknownTerminal();
    return terminal;
  };
  return {
    // A terminal outlives a connection: its stream continues after a gap.
    status: () => ({ state: server.status().state === "closed" ? "closed" : "ready" }),
    output: (key) => require(key).source,
    findPane: (key) => {
      const terminal = find(key);
      return terminal === undefined ? undefined : { ...terminal.size, exit: terminal.source.exit };
    },
    snapshot: async (key) => snapshotOf(server, require(key)),
    subscribe: (listener) =>
      server.subscribe((event: ServerEvent) => {
        if (event.kind === "state") listener(event);
      }),
  };
}

/** History and screen. @throws AppError NOT_FOUND, INCONSISTENT_STATE, CONNECTION_LOST */
async function snapshotOf(server: TmuxServer, terminal: Terminal): Promise<Snapshot> {
  const { pane, source } = terminal;
  if (pane === undefined) return lastOutput(terminal);
  const snapshot = await server.snapshot(pane, { historyLines: SNAPSHOT_HISTORY_LINES });
  const outputSeq = source.seqOf(snapshot.position.epoch, snapshot.position.outputSeq);
  if (outputSeq === undefined) {
    throw new AppError("INCONSISTENT_STATE", "the terminal's program was another one meanwhile; try again");
  }
  return { ...snapshot, position: { epoch: source.epoch, outputSeq } };
}

/** For a terminal without a pane: its retained output, from which its screen was made. */
function lastOutput({ source, size }: Terminal): Snapshot {
  return {
    position: { epoch: source.epoch, outputSeq: source.outputSeq },
    exact: true,
    ...size,
    alternateScreen: false,
    data: Buffer.concat([Buffer.from("\u001bc"), ...retainedBytes(source)]),
  };
}
