/** An agent's live pane, for its page: its output, and control of it. */
import type { Context } from "hono";
import { isKeyName } from "../../daemon/panes/input/keys.ts";
import type { InputPart } from "../../daemon/tmux/io.ts";
import { agentOkSchema } from "../../protocol/api/dashboard.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { parsePosition } from "../../protocol/position.ts";
import type { GuardEnv } from "../kit/guard/requestGuard.ts";
import type { Route } from "../kit/guard/routes.ts";
import { paneEventResponse } from "../kit/streams/paneEvents.ts";
import { MAX_KEYS, SMALL_MAX_BODY_BYTES } from "./dashboardLimits.ts";
import type { DashboardParts } from "./dashboardParts.ts";
import { agentIdOf, bodyFields, GET, POST, REFUSED } from "./dashboardRoutes.ts";
import {
  agentNotFound,
  type Failure,
  failure,
  failureOf,
  noPane,
  respondWith,
  usablePane,
} from "./respond/failures.ts";

export function paneRoutes(parts: DashboardParts): readonly Route[] {
  return [
    {
      ...GET,
      path: "/api/agents/:id{[0-9]+}/pane/stream",
      response: { ...REFUSED, 200: "text/event-stream" },
      errors: ["NOT_FOUND", "INVALID_ARGUMENT", "CONNECTION_LOST"],
      handle: (c) => paneStream(parts, c, agentIdOf(c)),
    },
    {
      ...POST,
      path: "/api/agents/:id{[0-9]+}/input",
      maxRawBytes: SMALL_MAX_BODY_BYTES,
      response: { ...REFUSED, 200: agentOkSchema },
      errors: ["NOT_FOUND"],
      handle: (c) => paneInput(parts, c, agentIdOf(c)),
    },
  ];
}

/** The native pane stream for this agent's pane. It never resizes anything. */
async function paneStream(parts: DashboardParts, c: Context<GuardEnv>, id: number): Promise<Response> {
  const pane = await livePane(parts, id);
  if (typeof pane !== "string") return respondWith(c, pane);
  const last = c.req.header("last-event-id");
  return paneEventResponse(c, {
    feeds: parts.feeds,
    serverName: "user",
    pane,
    start: last === undefined ? { kind: "snapshot" } : { kind: "position", position: parsePosition(last) },
    ...parts.streams,
  });
}

/** Keystrokes of a person who has taken control: `{text}` byte for byte, escape sequences included, or `{keys}`. */
async function paneInput(parts: DashboardParts, c: Context<GuardEnv>, id: number): Promise<Response> {
  const part = inputPart(c.get("raw"));
  if (part === undefined) {
    const message = `Give text, or keys: a list of 1 to ${MAX_KEYS} key names such as Enter, C-c or Up.`;
    return respondWith(c, failure(400, "invalid_input", message));
  }
  const pane = await livePane(parts, id);
  if (typeof pane !== "string") return respondWith(c, pane);
  try {
    await parts.server.input(pane, [part]);
  } catch (error) {
    return respondWith(c, failureOf(error));
  }
  return c.json({ status: "ok", agent_id: id });
}

function inputPart(bytes: Uint8Array): InputPart | undefined {
  const { text, keys } = bodyFields(bytes) ?? {};
  if (typeof text === "string" && text !== "") return { kind: "text", bytes: new TextEncoder().encode(text) };
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS) return undefined;
  const names = (keys as readonly unknown[]).filter((key) => typeof key === "string" && isKeyName(key));
  return names.length === keys.length ? { kind: "keys", keys: names as readonly string[] } : undefined;
}

async function livePane(parts: DashboardParts, id: number): Promise<PaneId | Failure> {
  const agent = parts.book.find(id);
  if (agent === undefined) return agentNotFound(id);
  const { tmuxPaneId } = agent.record;
  return tmuxPaneId === undefined ? noPane("show or use its pane") : usablePane(parts, agent, tmuxPaneId);
}
