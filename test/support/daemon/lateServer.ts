/** A stub of a user's server that is not connected to until the test says so. */
import { StubServer } from "../../../daemon/servers/stub/stubServer.ts";
import type { PaneInfo, ServerEvent, ServerState, ServerStatus, SessionInfo } from "../../../daemon/tmux/inventory.ts";
import type { PaneDetails } from "../../../daemon/tmux/io.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";

/** Its process, and when that began. */
export const LATE_PID = 4_242;
const IDENTITY = `${LATE_PID}.1700000000`;

export class LateServer extends StubServer {
  readonly #reported = new Set<(event: ServerEvent) => void>();
  #state: ServerState = "connecting";
  #identity: string | undefined;
  #list: () => void = () => undefined;
  /** As a guest's: resolves when it is listed. */
  listed = Promise.resolve();

  constructor() {
    super({
      nowUnixMs: Date.now,
      onListenerError: (error) => {
        throw error;
      },
    });
    this.leave();
  }

  /** As it is to a daemon that has just been started. */
  leave(): void {
    this.#state = "connecting";
    this.#identity = undefined;
    this.listed = new Promise((resolve) => {
      this.#list = resolve;
    });
  }

  /** It has been listed. */
  arrive(): void {
    this.#state = "ready";
    this.#identity = IDENTITY;
    for (const listener of this.#reported) listener({ kind: "state", state: "ready" });
    this.#list();
  }

  override status(): ServerStatus {
    return { ...super.status(), state: this.#state, identity: this.#identity };
  }

  override sessions(): readonly SessionInfo[] {
    return this.#state === "ready" ? super.sessions() : [];
  }

  override findPane(pane: PaneId): PaneInfo | undefined {
    return this.#state === "ready" ? super.findPane(pane) : undefined;
  }

  override async describePane(pane: PaneId): Promise<PaneDetails> {
    if (this.#state === "ready") return super.describePane(pane);
    throw new AppError("CONNECTION_LOST", "tmux is not connected; reconnecting, try again shortly");
  }

  override subscribe(listener: (event: ServerEvent) => void): () => void {
    const unsubscribe = super.subscribe(listener);
    this.#reported.add(listener);
    return () => {
      this.#reported.delete(listener);
      unsubscribe();
    };
  }
}
