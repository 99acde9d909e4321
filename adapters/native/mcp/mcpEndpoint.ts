/**
 * `/mcp`: streamable HTTP for clients of both generations of the protocol, and a WebSocket for `tmuxwire mcp`. Requests of
 * revision 2026-07-28 are stateless. Older clients have sessions, whose number is bounded: the least recently used one is
 * evicted, and its client begins another, as the protocol specifies. This module is loaded with the first client.
 */
import { randomUUID } from "node:crypto";
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { WebSocket } from "ws";
import { parse } from "../../../protocol/api/parse.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import { requestAbort } from "../../kit/guard/requestAbort.ts";
import type { NativeContext, NativeHandlerContext } from "../nativeContext.ts";
import { queryInput } from "../../operations/queryInput.ts";
import { createMcpServer } from "./mcpServer.ts";
import { McpSocket } from "./mcpSocket.ts";
import { McpTier, tierSchema } from "./mcpTier.ts";
import { ScreenFollower } from "./screenResources.ts";
import { serveSubscriptions, cancelledRequest, followAll, followSeen, listenedScreens } from "./subscriptions.ts";

const MAX_SESSIONS = 64;
const MAX_SOCKETS = 256;
const MAX_SUBSCRIPTIONS = 256;
const SESSION_HEADER = "mcp-session-id";

type McpQuery = Readonly<Record<string, string>>;

export interface McpEndpoint {
  /** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
  handle(c: NativeHandlerContext): Promise<Response>;
  /** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT: before the upgrade */
  admit(query: McpQuery): (socket: WebSocket) => McpSocket;
}

interface Session {
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
}

export function createMcpEndpoint(context: NativeContext, version: string): McpEndpoint {
  const serverFor = (tier: McpTier): McpServer => createMcpServer({ context, tier, version });
  /** Notifies that client about the screens it subscribes to, by either method. */
  const followerFor = (server: () => McpServer | undefined): ScreenFollower =>
    new ScreenFollower(context.clock, (uri) => {
      // A disconnected client is not an error.
      server()
        ?.server.sendResourceUpdated({ uri })
        .catch(() => undefined);
    });
  const onerror = (error: Error): void => context.log.debug("mcp.refused", { error });
  const modern = createMcpHandler(
    ({ requestInfo }) => serverFor(tierOf(Object.fromEntries(new URL(requestInfo?.url ?? "http://-/").searchParams))),
    { legacy: "reject", maxSubscriptions: MAX_SUBSCRIPTIONS, onerror },
  );
  const listened = new ScreenFollower(context.clock, (uri) => modern.notify.resourceUpdated(uri));
  /** Least recently used first. */
  const sessions = new Map<string, Session>();
  const sockets = new Set<McpSocket>();
  context.open.add(() => {
    void modern.close();
    for (const { server } of sessions.values()) void server.close();
    for (const socket of sockets) void socket.close();
  });

  const newSession = async (tier: McpTier): Promise<Session> => {
    const server = serverFor(tier);
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        for (const [oldest, { server: old }] of sessions) {
          if (sessions.size < MAX_SESSIONS) break;
          sessions.delete(oldest);
          void old.close();
        }
        sessions.set(id, { server, transport });
      },
      onsessionclosed: (id) => void sessions.delete(id),
    });
    Object.assign(transport, { onerror });
    const follower = followerFor(() => server);
    serveSubscriptions(server, { context, tier }, follower);
    await server.connect(transport);
    const { onclose } = transport;
    Object.assign(transport, {
      onclose: () => {
        follower.close();
        onclose?.();
      },
    });
    return { server, transport };
  };

  const sessionOf = (id: string): Session => {
    const session = sessions.get(id);
    if (session === undefined) throw new AppError("NOT_FOUND", "unknown session; send initialize again");
    sessions.delete(id);
    sessions.set(id, session);
    return session;
  };

  return {
    handle: async (c) => {
      const tier = tierOf(c.req.query());
      const { method, url } = c.req;
      const body: unknown = method === "POST" ? c.get("json") : undefined;
      const { signal } = requestAbort(c);
      const request = new Request(url, { method, headers: c.req.raw.headers, signal });
      const options = { parsedBody: body };
      if (!(await isLegacyRequest(request, body))) {
        const release = followAll(listened, { context, tier }, listenedScreens(body)?.uris ?? []);
        c.env?.outgoing?.once("close", release);
        if (signal.aborted) release();
        return modern.fetch(request, options);
      }
      const id = c.req.header(SESSION_HEADER);
      if (id !== undefined) return sessionOf(id).transport.handleRequest(request, options);
      if (!isInitializeRequest(body))
        throw invalidArgument("missing session; send initialize first, then its Mcp-Session-Id with every request");
      return (await newSession(tier)).transport.handleRequest(request, options);
    },
    admit: (query) => {
      const tier = tierOf(query);
      if (sockets.size >= MAX_SOCKETS)
        throw new AppError("RESOURCE_LIMIT", `too many MCP clients (${MAX_SOCKETS}); disconnect one of them`);
      return (raw) => {
        const parts = { context, tier };
        let server: McpServer | undefined;
        const follower = followerFor(() => server);
        const listens = new Map<string | number, () => void>();
        const socket = new McpSocket(raw, context, (message) => {
          const asked = listenedScreens(message);
          if (asked !== undefined) listens.set(asked.id, followSeen(follower, parts, asked.uris));
          const gone = cancelledRequest(message);
          if (gone === undefined) return;
          listens.get(gone)?.();
          listens.delete(gone);
        });
        sockets.add(socket);
        raw.once("close", () => {
          sockets.delete(socket);
          follower.close();
        });
        const factory = (): McpServer => {
          server = serverFor(tier);
          serveSubscriptions(server, parts, follower);
          return server;
        };
        serveStdio(factory, { transport: socket, maxSubscriptions: MAX_SUBSCRIPTIONS, onerror });
        return socket;
      };
    },
  };
}

/** @throws AppError INVALID_ARGUMENT */
const tierOf = (query: McpQuery): McpTier => new McpTier(parse(tierSchema, queryInput(tierSchema, query)));
