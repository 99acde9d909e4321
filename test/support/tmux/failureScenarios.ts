/** What tmux can do to us while calls are under way: die, stop, throw us out. */
import type { OutputSource } from "../../../daemon/tmux/outputSource.ts";
import type { ServerEvent, ServerState } from "../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { PrivateSocket } from "./ownedFixture.ts";
import { text } from "./panePrograms.ts";
import { DEAF } from "./output.ts";

interface Settled {
  readonly call: string;
  /** Undefined when it succeeded. */
  readonly error: AppError | undefined;
  readonly afterMs: number;
}

/** One call of each kind, settled; `afterMs` counts from now. An error that is no AppError is thrown. */
export function callEverything(server: TmuxServer, pane: PaneId, mark: string): Promise<readonly Settled[]> {
  const startMs = performance.now();
  const calls: Record<string, () => Promise<unknown>> = {
    input: () => server.input(pane, [text(`${mark};`)]),
    paste: () => server.input(pane, [{ kind: "paste", bytes: Buffer.from(`${mark}+${"p".repeat(40_000)};`) }]),
    capture: () => server.capture(pane),
    create: () => server.createSession({ name: `made-${mark}`, command: ["cat"] }),
  };
  return Promise.all(
    Object.entries(calls).map(async ([call, run]) => {
      let error: unknown;
      try {
        await run();
      } catch (thrown) {
        error = thrown;
      }
      if (error !== undefined && !(error instanceof AppError)) throw error as Error;
      return { call, error, afterMs: performance.now() - startMs };
    }),
  );
}

/** Resolves with the milliseconds until the server reaches `state` the next time. */
export function nextState(server: TmuxServer, state: ServerState): Promise<number> {
  const startMs = performance.now();
  return new Promise((resolve) => {
    const unsubscribe = server.subscribe((event: ServerEvent) => {
      if (event.kind !== "state" || event.state !== state) return;
      unsubscribe();
      resolve(performance.now() - startMs);
    });
  });
}

/** Resolves with the error that closes the source. */
export const closing = (source: OutputSource): Promise<AppError> =>
  new Promise((resolve) => {
    source.subscribe({ ...DEAF, closed: resolve });
  });

/** The tmux server's own process, not the control client's. */
export const tmuxPid = (socket: PrivateSocket): number => Number(socket.tmux("display-message", "-p", "#{pid}").trim());

/** The name of our control client and of our hub. */
export function ownHub(socket: PrivateSocket): { readonly client: string; readonly hub: string } {
  const clients = socket.tmux("list-clients", "-F", "#{client_name} #{session_name}").trim().split("\n");
  const [client = "", hub = ""] = clients.find((line) => line.includes(" __tmuxwire-"))?.split(" ") ?? [];
  return { client, hub };
}
