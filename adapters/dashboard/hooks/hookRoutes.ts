/**
 * `POST /hook/:name`: the agent's program waits for the response, so it is made from memory; only the first hook of an
 * unknown agent waits a moment while tmux, or its pane, has not been listed yet.
 */
import { stat } from "node:fs/promises";
import type { Context } from "hono";
import { hookDroppedSchema, hookErrorSchema, hookSchema, hookStatusSchema } from "../../../protocol/api/dashboard.ts";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import type { Route } from "../../kit/guard/routes.ts";
import type { AgentReport } from "../../agents/running/agentDirectory.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import { HOOK_MAX_BODY_BYTES } from "../dashboardLimits.ts";
import type { DashboardParts } from "../dashboardParts.ts";
import { GET, POST } from "../dashboardRoutes.ts";
import { correlate, type Correlation, isKnown } from "./correlate.ts";
import { applyHook, isSystemPrompt } from "./hookEffects.ts";
import { type HookName, HOOKS } from "./hookNames.ts";
import { type HookRequest, parseHook } from "./hookRequest.ts";

/** A path on a mount that does not respond counts as a directory. */
const STAT_WITHIN_MS = 200;

export function hookRoutes(parts: DashboardParts): readonly Route[] {
  const { hooksEnabled } = parts.settings;
  const stats = hookStats(parts.nowUnixMs, hooksEnabled);
  return [
    {
      ...GET,
      path: "/hook/status",
      response: { 200: hookStatusSchema },
      errors: [],
      handle: (c) => c.json(stats.report()),
    },
    {
      ...POST,
      path: `/hook/:hook{${HOOKS.join("|")}}`,
      maxRawBytes: hooksEnabled ? HOOK_MAX_BODY_BYTES : undefined,
      response: { 200: hookSchema, 400: hookErrorSchema, 404: hookDroppedSchema },
      errors: ["RESOURCE_LIMIT"],
      handle: (c) => {
        if (!hooksEnabled) return c.json({ status: "ignored", reason: "hooks_disabled" });
        // The path has no other.
        return hookRoute(parts, stats, c, c.req.param("hook") as HookName);
      },
    },
  ];
}

/** @throws AppError RESOURCE_LIMIT */
async function hookRoute(
  parts: DashboardParts,
  stats: ReturnType<typeof hookStats>,
  c: Context<GuardEnv>,
  name: HookName,
): Promise<Response> {
  const { desk, panes, clock } = parts;
  const hook = parseHook(c, c.get("raw"));
  if (typeof hook === "string") return c.json({ status: "error", message: hook }, 400);
  if (name === "session-start" && hook.workingDirectory !== undefined) {
    if (!(await isDirectory(hook.workingDirectory, clock))) {
      return c.json({ status: "error", message: "working_directory is not a valid directory" }, 400);
    }
  }
  const found = await agentOf(parts, hook);
  if (found === undefined) return c.json({ status: "dropped", message: "Session correlation failed" }, 404);
  stats.received(name);
  const { agent, isNew, method } = found;
  if (isNew) desk.reportCreated(agent);
  panes.reported(agent, hook);
  panes.tellRunning(agent, hook, saidBy(name, hook));
  const how = name === "session-start" ? { is_new_agent: isNew, correlation_method: method } : {};
  return c.json({ status: "ok", agent_id: agent.record.id, ...how, ...applyHook(parts, name, hook, agent) });
}

/** What the program in the pane has said of itself. */
const saidBy = (name: HookName, { sessionId, transcriptPath, prompt, lastMessage }: HookRequest): AgentReport => ({
  sessionId,
  transcriptPath,
  starts: name === "session-start",
  ...(name === "user-prompt-submit" && prompt !== undefined && !isSystemPrompt(prompt) ? { prompt } : {}),
  ...(name === "stop" ? { lastMessage } : {}),
});

/** Only its pane identifies the agent of an unknown session, once that pane has been listed. */
async function agentOf(parts: DashboardParts, hook: HookRequest): Promise<Correlation | undefined> {
  const { book, panes } = parts;
  if (hook.pane !== undefined && !panes.presence.isListed && !isKnown(hook, book)) await panes.presence.settled();
  return correlate(hook, parts) ?? ((await panes.places.comes(hook)) ? correlate(hook, parts) : undefined);
}

/** A timeout counts as yes. */
const isDirectory = (path: string, clock: Clock): Promise<boolean> =>
  within(clock, STAT_WITHIN_MS, true, (end) => {
    stat(path).then(
      (stats) => end(stats.isDirectory()),
      () => end(false),
    );
  });

/** Without a hook for this long, the contract calls it the fallback mode. */
const FALLBACK_SEC = 300;

/** The data of `GET /hook/status`. Nothing is polled, with hooks or without: the intervals are 0. */
function hookStats(nowUnixMs: () => number, enabled: boolean) {
  let last: { readonly name: HookName; readonly atUnixMs: number } | undefined;
  let count = 0;
  return {
    received: (name: HookName): void => {
      last = { name, atUnixMs: nowUnixMs() };
      count += 1;
    },
    report: () => {
      const agoSec = last && (nowUnixMs() - last.atUnixMs) / 1_000;
      return {
        enabled,
        mode: agoSec !== undefined && agoSec <= FALLBACK_SEC ? "hooks_active" : "polling_fallback",
        last_event_at: last === undefined ? null : new Date(last.atUnixMs).toISOString(),
        last_event_ago: agoSec === undefined ? null : agoText(agoSec),
        last_event_type: last?.name.replaceAll("-", "_") ?? null,
        events_received: count,
        polling_interval: 0,
        config: { polling_interval_with_hooks: 0, polling_interval_fallback: 0, fallback_timeout: FALLBACK_SEC },
      };
    },
  };
}

function agoText(sec: number): string {
  if (sec < 60) return `${Math.floor(sec)}s ago`;
  return sec < 3_600 ? `${Math.floor(sec / 60)}m ago` : `${Math.floor(sec / 3_600)}h ago`;
}
