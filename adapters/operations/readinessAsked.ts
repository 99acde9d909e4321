/** What a program is doing, for those routes that tell it: a look for one answer, a predicate for waits, a stream. */
import type { ReadinessState, ReadinessWatcher, PaneReadiness, Readiness } from "../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../daemon/server/tmuxServer.ts";
import type { ExternalPredicate } from "../../daemon/waits/waitTypes.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";

/** What a surface has of it; undefined where the daemon tells no readiness. */
export interface WithReadiness {
  readonly readiness: ReadinessWatcher | undefined;
}

/** @throws AppError INVALID_ARGUMENT */
export function requireReadiness({ readiness }: WithReadiness): ReadinessWatcher {
  if (readiness === undefined) throw new AppError("INVALID_ARGUMENT", "this daemon does not tell readiness");
  return readiness;
}

/** As it is now: a look at the screen when nobody watches the pane. @throws AppError NOT_FOUND, CONNECTION_LOST */
export async function readinessNow(
  { readiness }: WithReadiness,
  server: TmuxServer,
  pane: PaneId,
): Promise<Readiness | undefined> {
  const known = readiness?.known(server, pane);
  if (known !== undefined || readiness === undefined) return known;
  using watched = readiness.watch(server, pane);
  return await watched.look();
}

/** What was typed takes effect from then on: a state that held before it does not count. */
export class TypedGate {
  readonly #listeners = new Set<() => void>();
  #isOpen: boolean;

  /** @param isOpen nothing will be typed */
  constructor(isOpen: boolean) {
    this.#isOpen = isOpen;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  whenOpen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** The pane is in this state; after typing, in it again or for the first time. A level: it must hold when the wait ends. */
export function readyPredicate(
  readiness: ReadinessWatcher,
  server: TmuxServer,
  pane: PaneId,
  state: ReadinessState,
  typed: TypedGate,
): ExternalPredicate {
  return {
    name: "ready",
    latching: false,
    observe: (report) => {
      const watched: PaneReadiness = readiness.watch(server, pane);
      let before: Readiness | undefined;
      const check = (): void => {
        const { current } = watched;
        report(typed.isOpen && current.state === state && (before === undefined || isAnother(before, current)));
      };
      const forget = typed.isOpen
        ? undefined
        : typed.whenOpen(() => {
            before = watched.current;
            check();
          });
      watched.subscribe(check);
      check();
      return () => {
        forget?.();
        watched[Symbol.dispose]();
      };
    },
  };
}

/** Not the same stay in the same state. */
const isAnother = (before: Readiness, now: Readiness): boolean =>
  before.state !== now.state ||
  before.sinceUnixMs !== now.sinceUnixMs ||
  before.position?.outputSeq !== now.position?.outputSeq;

export interface ReadinessSink {
  /** Bytes that may be written now; nothing is while it is 0 or less. */
  room(): number;
  send(readiness: Readiness): void;
}

/** Tells a reader the state at the beginning and every change; a reader that is slow gets the latest when it has drained. */
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
