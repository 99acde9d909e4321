/** A server of ours behind the native API: of one test, or of a whole file whose tests have a session each. */
import { createClient, type PaneClient, type ServerClient } from "../../../adapters/client/client.ts";
import type { OwnedServerOptions } from "../../../daemon/servers/owned/ownedServer.ts";
import type { CreateSession, SessionInfo } from "../../../daemon/tmux/inventory.ts";
import { AppError } from "../../../protocol/errors.ts";
import { type OwnedFixture, ownedFixture } from "../tmux/ownedFixture.ts";
import { type NativeFixture, nativeFixture } from "./nativeServer.ts";

export interface SessionOfApi extends AsyncDisposable {
  readonly session: SessionInfo;
  readonly pane: PaneClient;
}

export interface OwnedApi extends AsyncDisposable {
  readonly owned: OwnedFixture;
  readonly api: NativeFixture;
  readonly client: ServerClient;
  /** Ends with the scope; 80 × 24 and with a name of its own unless the request says otherwise. */
  session(request: Partial<CreateSession>): Promise<SessionOfApi>;
}

/** Tests of a whole file share the server: the one that meets its loss says what the server logged of it. */
function withLog(error: unknown, log: OwnedFixture["log"]): never {
  if (!(error instanceof AppError) || error.code !== "CONNECTION_LOST") throw error;
  throw new Error(`${error.message}; logged: ${JSON.stringify(log.slice(-10))}`, { cause: error });
}

export async function ownedApi(options: Partial<OwnedServerOptions> = {}): Promise<OwnedApi> {
  const owned = await ownedFixture(options);
  const api = await nativeFixture(owned.server);
  const client = createClient({ url: api.url }).server("main");
  let made = 0;
  return {
    owned,
    api,
    client,
    session: async (request) => {
      const name = `s-${(made += 1)}`;
      const session = await owned.server
        .createSession({ name, cols: 80, rows: 24, ...request })
        .catch((error: unknown) => withLog(error, owned.log));
      return {
        session,
        pane: client.pane(session.activePane!),
        [Symbol.asyncDispose]: () =>
          owned.server.killSession(session.id).catch((error: unknown) => {
            // It may have ended by itself.
            if (!(error instanceof AppError) || error.code !== "NOT_FOUND") throw error;
          }),
      };
    },
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]();
      await owned[Symbol.asyncDispose]();
    },
  };
}
