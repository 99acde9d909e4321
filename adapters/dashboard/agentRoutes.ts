/** What is known of agents: all cards, the history, what is on their screens, and whether one can be answered. */
import {
  agentsSchema,
  availabilitySchema,
  type DashboardScreens,
  refusalSchema,
  screensSchema,
  turnsSchema,
} from "../../protocol/api/dashboard.ts";
import { type NativeAgents, SCREEN_TEXT_CHARS } from "../../protocol/api/native/nativeAgents.ts";
import type { Context } from "hono";
import { AppError } from "../../protocol/errors.ts";
import { requestAbort } from "../kit/guard/requestAbort.ts";
import type { GuardEnv } from "../kit/guard/requestGuard.ts";
import type { Route } from "../kit/guard/routes.ts";
import { cardOf } from "./agents/card.ts";
import type { DashboardParts } from "./dashboardParts.ts";
import { agentIdOf, GET } from "./dashboardRoutes.ts";
import { agentNotFound, respondWith } from "./respond/failures.ts";
import type { TurnRecord } from "./store/records.ts";
import { waitingFields } from "./agents/agentDesk.ts";

const MAX_TURNS = 200;

export function agentRoutes(parts: DashboardParts): readonly Route[] {
  const { server, book, store, events, panes, nowUnixMs, operations } = parts;
  return [
    {
      ...GET,
      path: "/api/agents",
      head: true,
      response: { 200: agentsSchema },
      errors: [],
      handle: (c) => {
        const agents = book.all().map((agent) => cardOf(agent, "list", nowUnixMs()));
        const waiting = waitingFields(server.status().waiting);
        const gone = panes.presence.goneSinceUnixMs;
        return c.json({
          agents,
          // The event stream after this id has all later changes.
          last_event_id: events.lastId,
          server: [...operations.servers.keys()][0]!,
          ...(waiting === undefined ? {} : { waiting }),
          ...(gone === undefined ? {} : { gone_since_unix_ms: gone }),
        });
      },
    },
    {
      ...GET,
      path: "/api/screens",
      response: { 200: screensSchema },
      errors: ["INVALID_ARGUMENT", "RESOURCE_LIMIT"],
      handle: async (c) => c.json(await onScreens(parts, searchedIn(c), requestAbort(c).signal)),
    },
    {
      ...GET,
      path: "/api/agents/:id{[0-9]+}/turns",
      response: { 200: turnsSchema, 404: refusalSchema },
      errors: ["NOT_FOUND"],
      handle: (c) => {
        const id = agentIdOf(c);
        if (book.find(id) === undefined) return respondWith(c, agentNotFound(id));
        const asked = Number(c.req.query("limit") ?? 50);
        const limit = Number.isInteger(asked) ? Math.min(Math.max(asked, 1), MAX_TURNS) : 50;
        return c.json({ turns: store.turns(id, limit).map(turnFields) });
      },
    },
    {
      ...GET,
      path: "/api/respond/:id{[0-9]+}/availability",
      response: { 200: availabilitySchema, 404: refusalSchema },
      errors: ["NOT_FOUND"],
      handle: (c) => {
        const id = agentIdOf(c);
        const agent = book.find(id);
        if (agent === undefined) return respondWith(c, agentNotFound(id));
        return c.json({ status: "ok", agent_id: id, commander_available: agent.isAvailable });
      },
    },
  ];
}

/** Here by the panes of the cards; the daemons of other machines look at their own. @throws AppError RESOURCE_LIMIT */
async function onScreens(
  { server, book, panes, running, machines }: DashboardParts,
  text: string,
  signal: AbortSignal,
): Promise<DashboardScreens> {
  const screens = book.all().flatMap((agent) => {
    const pane = panes.places.livePane(agent);
    return pane === undefined ? [] : [{ owner: agent.record.id, server, pane }];
  });
  const theirs = machines()?.withTheirs("listAgents", { names: {}, input: { text }, signal }, { agents: [] });
  const [here, there] = await Promise.all([running.screens.find(text, screens, signal), theirs]);
  const { agents = [], unread = 0, unreachable = [] } = (there ?? {}) as Partial<NativeAgents>;
  return {
    found: [...here.rows].map(([agentId, row]) => ({ agent_id: agentId, row })),
    elsewhere: agents.flatMap(({ id, onScreen }) => (onScreen === undefined ? [] : [{ agent: id, row: onScreen }])),
    unread: here.unread + unread,
    unreachable,
  };
}

/** @throws AppError INVALID_ARGUMENT */
function searchedIn(c: Context<GuardEnv>): string {
  const text = c.req.query("text")?.trim() ?? "";
  const { min, max } = SCREEN_TEXT_CHARS;
  if (text.length >= min && text.length <= max) return text;
  const bounds = `${min} to ${max} characters`;
  throw new AppError("INVALID_ARGUMENT", `text is what to look for on the screens: ${bounds}`);
}

const turnFields = (turn: TurnRecord) => ({
  turn_id: turn.id,
  task_id: turn.taskId,
  actor: turn.actor,
  intent: turn.intent,
  text: turn.text,
  tool_input: turn.toolInput ?? null,
  answers_turn_id: turn.answersTurnId ?? null,
  timestamp: new Date(turn.createdUnixMs).toISOString(),
});
