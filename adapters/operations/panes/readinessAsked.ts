/** What a program is doing, for routes that report it: once, or as a stream. */
import type { ReadinessWatcher, PaneReadiness, Readiness } from "../../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { type OperationContext, requirePart } from "../operation.ts";

type WithReadiness = Pick<OperationContext, "readiness">;

/** @throws AppError INVALID_ARGUMENT */
export const requireReadiness = ({ readiness }: WithReadiness): ReadinessWatcher =>
  requirePart(readiness, "does not report readiness");

/** The current readiness; captures the screen if nobody follows the pane. @throws AppError NOT_FOUND, CONNECTION_LOST */
export async function readinessNow(
  { readiness }: WithReadiness,
  server: TmuxServer,
  pane: PaneId,
): Promise<Readiness | undefined> {
  const known = readiness?.known(server, pane, true);
  if (known !== undefined || readiness === undefined) return known;
  using watched = readiness.watch(server, pane, { unfollowed: true });
  return await watched.probe();
}

interface ReadinessSink {
  /** Bytes that may be written now; 0 or less: none. */
  room(): number;
  send(readiness: Readiness): void;
}

/** Sends a reader the current state and every change; a slow reader gets the latest state once it has drained. */
export class ReadinessStream implements Disposable {
  readonly #watched: PaneReadiness;
  readonly #sink: ReadinessSink;
  #sent: Readiness | undefined;

  /** @throws AppError INVALID_ARGUMENT, NOT_FOUND, CONNECTION_LOST. Nothing is written before `pump`. */
  constructor(context: WithReadiness, server: TmuxServer, pane: PaneId, sink: ReadinessSink) {
    this.#watched = requireReadiness(context).watch(server, pane);
    this.#sink = sink;
    this.#watched.subscribe(() => this.pump());
  }

  pump(): void {
    const { current } = this.#watched;
    if (current === this.#sent || this.#sink.room() <= 0) return;
    this.#sent = current;
    this.#sink.send(current);
  }

  [Symbol.dispose](): void {
    this.#watched[Symbol.dispose]();
  }
}
