/**
 * The user's own tmux under the name `default`, without configuration: opened as a guest when a request names it, and only
 * if the socket and its directory belong to the user and no one else may write there.
 */
import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { defaultTmuxSocket } from "../../daemon/ops/runtimePaths.ts";
import { AppError } from "../../protocol/errors.ts";
import type { OnDemand } from "../operations/operation.ts";
import type { StartContext } from "./startContext.ts";

/** Its name in requests. A configured server of this name takes precedence. */
const NAME = "default";
const OTHERS_MAY_WRITE = 0o022;

/** @param uid the owner it must have; undefined on systems without uids */
export function userServer(
  { offersDefault }: { readonly offersDefault: boolean },
  { env, guests, servers, unconfigured }: Pick<StartContext, "env" | "guests" | "servers" | "unconfigured">,
  uid = process.getuid?.(),
): OnDemand {
  let opening: Promise<void> | undefined;
  const open = async (): Promise<void> => {
    if (!offersDefault || uid === undefined) throw notOffered();
    const socketPath = defaultTmuxSocket(env, uid);
    requireOwn(socketPath, uid);
    servers.set(NAME, await guests.at(socketPath, NAME));
    unconfigured.add(NAME);
  };
  return {
    usersServer: NAME,
    reach: (name) => {
      if (name !== NAME || servers.has(NAME)) return undefined;
      opening ??= open().finally(() => {
        opening = undefined;
      });
      return opening;
    },
  };
}

/** @throws AppError NOT_FOUND if there is none, FORBIDDEN if another user may access it */
function requireOwn(socketPath: string, uid: number): void {
  const socket = lstatSync(socketPath, { throwIfNoEntry: false });
  if (socket === undefined) {
    throw new AppError(
      "NOT_FOUND",
      `no tmux server runs at ${socketPath}; start one with \`tmux\`, or name another server`,
    );
  }
  const directory = lstatSync(dirname(socketPath));
  const isOwn =
    socket.isSocket() &&
    socket.uid === uid &&
    directory.isDirectory() &&
    directory.uid === uid &&
    (directory.mode & OTHERS_MAY_WRITE) === 0;
  if (isOwn) return;
  const message = `${socketPath} is not safe to use: the socket and its directory must be yours, and the directory private (chmod 700)`;
  throw new AppError("FORBIDDEN", message);
}

const notOffered = (): AppError =>
  new AppError(
    "NOT_FOUND",
    "the server `default` is disabled (native.default is off); offer your own tmux with `tmuxwire serve --server NAME=default`",
  );
