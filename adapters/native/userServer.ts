/**
 * The user's own tmux under the name `default`, without configuration: opened as a guest when a request names it, and only
 * when the socket and its directory belong to the user and nobody else may write there.
 */
import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { defaultTmuxSocket } from "../../daemon/ops/runtimePaths.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../protocol/errors.ts";
import type { OnDemand } from "../operations/operation.ts";
import type { StartContext } from "../serving/startContext.ts";
import type { NativeConfig } from "./nativeConfig.ts";

/** Its name in requests. A configured server of this name takes precedence. */
const NAME = "default";
const OTHERS_MAY_WRITE = 0o022;

/** @param uid whose it must be; undefined where there are no users */
export function userServer(
  { offersDefault }: Pick<NativeConfig, "offersDefault">,
  { env, guests }: Pick<StartContext, "env" | "guests">,
  servers: Map<string, TmuxServer>,
  uid = process.getuid?.(),
): OnDemand {
  const opened = new Set<string>();
  let opening: Promise<void> | undefined;
  const open = async (): Promise<void> => {
    if (!offersDefault || uid === undefined) throw notOffered();
    const socketPath = defaultTmuxSocket(env, uid);
    requireOwn(socketPath, uid);
    servers.set(NAME, await guests.at(socketPath, NAME));
    opened.add(NAME);
  };
  return {
    opened,
    reach: (name) => {
      if (name !== NAME || servers.has(NAME)) return undefined;
      opening ??= open().finally(() => {
        opening = undefined;
      });
      return opening;
    },
  };
}

/** @throws AppError NOT_FOUND when there is none, FORBIDDEN when it is not the user's alone */
function requireOwn(socketPath: string, uid: number): void {
  const socket = lstatSync(socketPath, { throwIfNoEntry: false });
  if (socket === undefined) {
    throw new AppError(
      "NOT_FOUND",
      `no tmux of yours runs at ${socketPath}; start one with \`tmux\`, or name a server`,
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
  const message = `${socketPath} is not used, because it is not yours alone: it must be your socket, in a directory of yours (chmod 700)`;
  throw new AppError("FORBIDDEN", message);
}

const notOffered = (): AppError =>
  new AppError(
    "NOT_FOUND",
    "the daemon does not reach your own tmux by itself (native.default is off); offer it: `serve --server NAME=default`",
  );
