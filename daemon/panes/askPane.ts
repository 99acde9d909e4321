/**
 * One question about a pane whose reply holds foreign text. How far the output had come is taken in the turn of the reply:
 * that is exact when nothing of this pane arrived while tmux was asked, or nothing of any other pane did
 * (docs/tmuxFacts.md 36).
 */
import type { RowFormat } from "../../protocol/command/rowFormat.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import type { CaptureFiles } from "./captureFiles.ts";
import { paneGone, targetError } from "./paneGone.ts";
import type { PaneStream } from "./paneStream.ts";

export interface CaptureContext {
  readonly pane: PaneId;
  readonly connection: ControlConnection;
  readonly stream: PaneStream;
  /** Output bytes of all panes on this connection so far. */
  readonly totalOutputBytes: () => number;
  /** For long captures. Absent: they are replies, as all others. */
  readonly files?: CaptureFiles | undefined;
}

interface PaneReply {
  readonly body: Uint8Array;
  readonly trailer: string;
  readonly outputSeq: number;
  readonly exact: boolean;
}

/**
 * @param format what tmux prints of the pane in the same step, as the trailer
 * @throws AppError NOT_FOUND, RESOURCE_LIMIT, CONNECTION_LOST
 */
export function askPane(context: CaptureContext, command: string, format?: string): Promise<PaneReply> {
  const { pane, connection, stream, totalOutputBytes } = context;
  const own = stream.outputSeq;
  const total = totalOutputBytes();
  return new Promise((resolve, reject) => {
    connection.sendForeign(
      () => command,
      format === undefined ? undefined : { format, target: pane },
      (outcome) => {
        if ("error" in outcome) {
          reject(targetError(pane, outcome.error));
          return;
        }
        const { outputSeq } = stream;
        const ownBytes = outputSeq - own;
        const exact = ownBytes === 0 || totalOutputBytes() - total === ownBytes;
        resolve({ ...outcome.replies[0]!, outputSeq, exact });
      },
    );
  });
}

/** An unknown target is no error to tmux: the trailer's fields are then empty, or another pane's. @throws AppError NOT_FOUND */
export function requireRow<Row extends { readonly pane: PaneId }>(
  pane: PaneId,
  rows: Pick<RowFormat<Row, never>, "decodeLine">,
  trailer: string,
): Row {
  const row = rows.decodeLine(trailer);
  if (row?.pane !== pane) throw paneGone(pane);
  return row;
}
