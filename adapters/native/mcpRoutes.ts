/** MCP's routes on the native listener. Its code is loaded at the first request. */
import { NATIVE_MAX_BODY_BYTES } from "../../protocol/api/nativeRequests.ts";
import type { Route, RouteHandler } from "../http/routes.ts";
import { upgradeSocket } from "../http/websocket.ts";
import type { McpEndpoint } from "./mcp/mcpEndpoint.ts";
import type { NativeContext } from "./nativeContext.ts";

const PATH = "/mcp";

export function mcpRoutes(context: NativeContext, version: string): readonly Route[] {
  let loading: Promise<McpEndpoint> | undefined;
  const endpoint = (): Promise<McpEndpoint> =>
    (loading ??= import("./mcp/mcpEndpoint.ts").then(({ createMcpEndpoint }) => createMcpEndpoint(context, version)));
  const handle: RouteHandler = async (c) => (await endpoint()).handle(c);
  const connect: RouteHandler = async (c) => {
    const open = (await endpoint()).admit(c.req.query());
    const onError = (error: unknown): void => context.log.error("mcp.socket.failed", { error });
    const upgrade = upgradeSocket(open, onError);
    return (await upgrade(c, async () => undefined)) ?? handle(c, {});
  };
  const rule = { path: PATH, auth: true } as const;
  return [
    { ...rule, method: "POST", maxJsonBytes: NATIVE_MAX_BODY_BYTES, handle },
    {
      ...rule,
      method: "GET",
      handle: (c, values) =>
        c.req.header("upgrade")?.toLowerCase() === "websocket" ? connect(c, values) : handle(c, values),
    },
    { ...rule, method: "DELETE", handle },
  ];
}
