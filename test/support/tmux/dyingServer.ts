/** A user's server with a guest, or a server of our own, in which panes are to die. */
import { eventually } from "../clock/eventually.ts";
import { guestFixture, userSession } from "./guestFixture.ts";
import { ownedFixture, type PrivateSocket } from "./ownedFixture.ts";
import type { DyingServer } from "./paneDeaths.ts";

const SESSIONS = ["a", "b"];

export async function withDyingServer<T>(
  kind: "guest" | "owned",
  use: (scene: DyingServer) => Promise<T>,
  heartbeatMs?: number,
): Promise<T> {
  if (kind === "guest") {
    await using fixture = await guestFixture(makeSessions, { heartbeatMs });
    const { server, socket } = fixture;
    return await use({
      server,
      socket,
      populate: async () => {
        if (server.sessions().length > 0) return;
        await eventually(() => {
          try {
            makeSessions(socket);
            return true;
          } catch {
            // The old one is not gone yet.
            return false;
          }
        });
        await eventually(() => SESSIONS.every((name) => server.findSession(name)?.activePane !== undefined));
      },
    });
  }
  await using fixture = await ownedFixture({ heartbeatMs });
  const { server, socket } = fixture;
  const populate = async (): Promise<void> => {
    await eventually(() => server.status().state === "ready" && server.sessions().length % 2 === 0);
    if (server.sessions().length > 0) return;
    for (const name of SESSIONS) await server.createSession({ name, command: ["cat"] });
  };
  await populate();
  return await use({ server, socket, populate });
}

function makeSessions(socket: PrivateSocket): void {
  for (const name of SESSIONS) userSession(socket, name);
}
