/**
 * A daemon for tests that kill it: the engine on the socket given as argument, driven by messages of its parent.
 * `{id, call, args}` gets back `{id, value}` or `{id, error}`. Built with the programs (`bundlePrograms.mjs`).
 */
import process from "node:process";
import { paneEnvironment } from "../../../daemon/ops/environment.ts";
import { startOwnedServer } from "../../../daemon/servers/owned/ownedServer.ts";
import type { CreateSession } from "../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";

/** What `DaemonProcess` may ask, with its arguments. */
interface Calls {
  state: [];
  create: [request: CreateSession];
  type: [pane: PaneId, text: string];
  capture: [pane: PaneId];
  see: [pane: PaneId, text: string];
}

interface Request<Name extends keyof Calls = keyof Calls> {
  readonly id: number;
  readonly call: Name;
  readonly args: Calls[Name];
}

type Answers = { readonly [Name in keyof Calls]: (server: TmuxServer, ...args: Calls[Name]) => unknown };

const answers: Answers = {
  state: (server) => ({ ...server.status(), sessions: server.sessions(), panes: server.panes() }),
  create: (server, request) => server.createSession(request),
  type: (server, pane, text) => server.input(pane, [{ kind: "text", bytes: Buffer.from(text) }]),
  capture: (server, pane) => server.capture(pane),
  /** Returns when the pane's output, from now on, holds `text`. */
  see: (server, pane, text) =>
    new Promise((resolve) => {
      const source = server.output(pane);
      let at = source.tailSeq;
      let all = "";
      const readOn = (): void => {
        for (;;) {
          const slice = source.read(at);
          if (slice.kind === "end") break;
          at = slice.kind === "gap" ? slice.gap.to : slice.to;
          if (slice.kind === "bytes") all = (all + Buffer.from(slice.bytes).toString("latin1")).slice(-65_536);
        }
        if (all.includes(text)) resolve(true);
      };
      source.subscribe({ advanced: readOn, gap: readOn, exited: () => undefined, closed: () => undefined });
      readOn();
    }),
};

const answer = async <Name extends keyof Calls>(
  server: TmuxServer,
  { id, call, args }: Request<Name>,
): Promise<void> => {
  try {
    process.send?.({ id, value: await answers[call](server, ...args) });
  } catch (error) {
    process.send?.({ id, error: failure(error) });
  }
};

const failure = (error: unknown): { readonly code: string; readonly message: string } => {
  const { code, message } = toAppError(error);
  return { code, message };
};

try {
  const [socketPath = ""] = process.argv.slice(2);
  const server = await startOwnedServer({ socketPath, env: paneEnvironment(process.env), clock: systemClock });
  process.on("message", (request) => void answer(server, request as Request));
  process.on("disconnect", () => process.exit(1));
  process.send?.({ id: 0, value: true });
} catch (error) {
  process.send?.({ id: 0, error: failure(error) }, () => process.exit(1));
}
