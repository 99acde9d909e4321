/**
 * `POST /hook/:name`: the agent's program waits for the response, so it is made from memory; only the first hook of an
 * unknown agent waits a moment while tmux, or its pane, has not been listed yet.
 */
import { stat } from "node:fs/promises";
import type { Context } from "hono";
import { isPaneId } from "../../../protocol/ids.ts";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import type { DashboardContext } from "../dashboardContext.ts";
import { correlate, type Correlation, isKnown } from "./correlate.ts";
import { applyHook, isSystemPrompt } from "./hookEffects.ts";
import type { HookName } from "./hookNames.ts";
import { type HookRequest, parseHook } from "./hookRequest.ts";

/** A path on a mount that does not respond counts as a directory. */
const STAT_WITHIN_MS = 200;

/** @throws AppError RESOURCE_LIMIT */
export async function hookRoute(
  context: DashboardContext,
  c: Context<GuardEnv>,
  name: HookName,
  readBody: () => Promise<Uint8Array>,
): Promise<Response> {
  if (!context.settings.hooksEnabled) return c.json({ status: "ignored", reason: "hooks_disabled" });
  const hook = parseHook(c, await readBody());
  if (typeof hook === "string") return c.json({ status: "error", message: hook }, 400);
  if (name === "session-start" && hook.workingDirectory !== undefined) {
    if (!(await isDirectory(hook.workingDirectory, context.clock))) {
      return c.json({ status: "error", message: "working_directory is not a valid directory" }, 400);
    }
  }
  const { panes, hookStats } = context;
  const found = await agentOf(context, hook);
  if (found === undefined) return c.json({ status: "dropped", message: "Session correlation failed" }, 404);
  hookStats.received(name);
  if (found.isNew) context.desk.reportCreated(found.agent);
  found.agent.hasHooks = true;
  panes.reported(found.agent, hook);
  tellRunning(context, name, hook, found);
  const reply = applyHook(context, name, hook, found);
  return c.json({ status: "ok", agent_id: found.agent.record.id, ...reply });
}

/** What the program in the pane has said of itself. */
function tellRunning({ running, server }: DashboardContext, name: HookName, hook: HookRequest, { agent }: Correlation) {
  const pane = agent.record.tmuxPaneId;
  if (pane === undefined || !isPaneId(pane)) return;
  const { sessionId, transcriptPath, prompt, lastMessage } = hook;
  running?.reported(server, pane, {
    sessionId,
    transcriptPath,
    starts: name === "session-start",
    ...(name === "user-prompt-submit" && prompt !== undefined && !isSystemPrompt(prompt) ? { prompt } : {}),
    ...(name === "stop" ? { lastMessage } : {}),
  });
}

/** Only its pane identifies the agent of an unknown session, once that pane has been listed. */
async function agentOf(context: DashboardContext, hook: HookRequest): Promise<Correlation | undefined> {
  const { book, panes, paneListing } = context;
  if (hook.pane !== undefined && !panes.first.isOver && !isKnown(hook, book)) await panes.first.wait();
  return correlate(hook, context) ?? ((await paneListing.comes(hook)) ? correlate(hook, context) : undefined);
}

/** A timeout counts as yes. */
const isDirectory = (path: string, clock: Clock): Promise<boolean> =>
  within(clock, STAT_WITHIN_MS, true, (end) => {
    stat(path).then(
      (stats) => end(stats.isDirectory()),
      () => end(false),
    );
  });
