/** A WebSocket to the daemon's `/mcp`, through its unix socket or its URL. */
import { createConnection } from "node:net";
import { WebSocket } from "ws";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import { connectError } from "../../serving/socketFetch.ts";
import type { DaemonAddress } from "./clientConnection.ts";

/** @throws AppError DAEMON_UNREACHABLE, FORBIDDEN, UNAUTHORIZED, INVALID_ARGUMENT */
export function openMcp({ url, socketPath, token }: DaemonAddress, query: URLSearchParams): Promise<WebSocket> {
  const at = new URL("mcp", url ?? "http://localhost/");
  at.search = query.toString();
  at.protocol = at.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(at, {
    perMessageDeflate: false,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    ...(url === undefined ? { createConnection: () => createConnection(socketPath) } : {}),
  });
  const where = url ?? socketPath;
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(socket));
    socket.once("unexpected-response", (_request, response) => {
      reject(refusal(where, response.statusCode ?? 0));
      response.destroy();
      socket.terminate();
    });
    socket.on("error", (error) => {
      const known = url === undefined ? connectError(socketPath, error) : error;
      const message = `no daemon listens on ${where}: start one with \`tmuxwire serve\``;
      reject(known instanceof AppError ? known : new AppError("DAEMON_UNREACHABLE", message, { cause: error }));
    });
  });
}

function refusal(where: string, status: number): AppError {
  if (status === 401) {
    return new AppError(
      "UNAUTHORIZED",
      `the daemon on ${where} refused the token: give the right one with --token-file`,
    );
  }
  if (status === 404) {
    return new AppError("PROTOCOL_ERROR", `the daemon on ${where} is too old for MCP: restart it`);
  }
  if (status === 400) return invalidArgument("the daemon refused --server or --panes; see `tmuxwire mcp --help`");
  return new AppError(
    "RESOURCE_LIMIT",
    `the daemon on ${where} accepts no more MCP clients (status ${status}); try again later`,
  );
}
