/**
 * Subscriptions to screens, in both generations of the protocol: by `resources/subscribe` for a session, or by a
 * `subscriptions/listen` that lasts until it is cancelled. The SDK writes the notifications; this keeps the followers.
 */
import type { McpServer } from "@modelcontextprotocol/server";
import * as v from "valibot";
import { matches } from "../../../protocol/api/parse.ts";
import type { OperationContext } from "../../operations/operation.ts";
import type { McpTier } from "./mcpTier.ts";
import { refusal, type ScreenFollower } from "./screenResources.ts";

interface Parts {
  readonly context: OperationContext;
  readonly tier: McpTier;
}

/** Serves a session's subscriptions until the session is closed. */
export function serveSubscriptions(mcp: McpServer, parts: Parts, follower: ScreenFollower): void {
  const held = new Map<string, () => void>();
  mcp.server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    try {
      if (!held.has(uri)) held.set(uri, follower.follow(parts, uri));
    } catch (error) {
      throw refusal(error);
    }
    return {};
  });
  mcp.server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    held.get(uri)?.();
    held.delete(uri);
    return {};
  });
}

const id = v.union([v.string(), v.number()]);
const listenSchema = v.object({
  id,
  method: v.literal("subscriptions/listen"),
  params: v.object({ notifications: v.object({ resourceSubscriptions: v.array(v.string()) }) }),
});
const cancelSchema = v.object({
  method: v.literal("notifications/cancelled"),
  params: v.object({ requestId: id }),
});

/** The screens that a message subscribes to. */
export function listenedScreens(
  message: unknown,
): { readonly id: string | number; readonly uris: readonly string[] } | undefined {
  if (!matches(listenSchema, message)) return undefined;
  return { id: message.id, uris: message.params.notifications.resourceSubscriptions };
}

/** The request that a message cancels. */
export const cancelledRequest = (message: unknown): string | number | undefined =>
  matches(cancelSchema, message) ? message.params.requestId : undefined;

/** Follows all of the screens or none. @throws AppError */
export function followAll(follower: ScreenFollower, parts: Parts, uris: readonly string[]): () => void {
  const held: (() => void)[] = [];
  const release = (): void => held.forEach((each) => each());
  try {
    for (const uri of uris) held.push(follower.follow(parts, uri));
  } catch (error) {
    release();
    throw error;
  }
  return release;
}

/** Follows the screens that exist and are allowed; skips the others. */
export function followSeen(follower: ScreenFollower, parts: Parts, uris: readonly string[]): () => void {
  const held = uris.flatMap((uri) => {
    try {
      return [follower.follow(parts, uri)];
    } catch {
      return [];
    }
  });
  return () => held.forEach((release) => release());
}
