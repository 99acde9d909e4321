/**
 * Inside a tmux pane a command defaults to that server and pane. The server is the daemon's own, the user's own tmux
 * (`default`), or the one listed with that socket.
 */
import { OWN_SERVER_NAME } from "../../../daemon/ops/daemonConfig.ts";
import { defaultTmuxSocket } from "../../../daemon/ops/runtimePaths.ts";
import { isPaneId } from "../../../protocol/ids.ts";
import type { NativeServer } from "../../client/client.ts";
import type { Io } from "./cliIo.ts";

interface Here {
  /** The daemon's name for the server we are inside of. */
  readonly server: string;
  readonly pane: string | undefined;
}

interface Whereabouts {
  readonly env: Io["env"];
  /** The socket of the daemon's own server. */
  readonly ownSocketPath: string;
  readonly uid: number | undefined;
  /** The daemon's servers: called only when needed. */
  readonly list: () => Promise<readonly NativeServer[]>;
}

/** Undefined: not inside tmux, or on a server unknown to the daemon. */
export async function hereIn({ env, ownSocketPath, uid, list }: Whereabouts): Promise<Here | undefined> {
  const socketPath = /^(.+),\d+,\d+$/.exec(env["TMUX"] ?? "")?.[1];
  if (socketPath === undefined) return undefined;
  const given = env["TMUX_PANE"] ?? "";
  const pane = isPaneId(given) ? given : undefined;
  if (socketPath === ownSocketPath) return { server: OWN_SERVER_NAME, pane };
  const listed = (await list()).find((server) => server.socketPath === socketPath);
  if (listed !== undefined) return { server: listed.name, pane };
  // The daemon opens it at the first request.
  return uid !== undefined && socketPath === defaultTmuxSocket(env, uid) ? { server: "default", pane } : undefined;
}
