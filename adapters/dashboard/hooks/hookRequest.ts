/**
 * Parses a hook's request (docs/contracts/dashboard.md §3). Agents' own field names are accepted beside the contract's; a
 * field of the wrong type counts as absent, and unknown fields are dropped.
 */
import type { Context } from "hono";
import { isPaneId } from "../../../protocol/ids.ts";
import { isJsonContentType } from "../../kit/guard/body.ts";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import { MAX_NAME_CHARS } from "../dashboardLimits.ts";
import { bodyValue } from "../dashboardRoutes.ts";
import { fieldsOf, textOf } from "../../../protocol/text/jsonObject.ts";

/** The request, or the contract's error message. */
export function parseHook(c: Context<GuardEnv>, bytes: Uint8Array) {
  const type = c.req.header("content-type") ?? "";
  // A page of another site cannot send this type without a preflight.
  if (type.trim() === "" || !isJsonContentType(type)) return "Content-Type must be application/json";
  const payload = bodyValue(bytes);
  if (payload === undefined || payload === null) return "Invalid JSON payload";
  const fields = fieldsOf(payload) ?? {};
  const text = (name: string): string | undefined => {
    const value = textOf(fields[name]);
    return value === "" ? undefined : value;
  };
  const short = (name: string): string | undefined => {
    const value = text(name);
    return value === undefined || value.length > MAX_NAME_CHARS ? undefined : value;
  };
  const sessionId = short("session_id") ?? short("sessionId");
  if (sessionId === undefined) return "Missing required fields: session_id";
  const pane = short("tmux_pane") ?? c.req.header("x-tmux-pane")?.trim();
  const tmux = short("tmux") ?? c.req.header("x-tmux")?.trim() ?? "";
  const tmuxPid = /,(\d{1,10}),\d{1,10}$/.exec(tmux)?.[1];
  return {
    sessionId,
    workingDirectory: short("working_directory"),
    /** The same under the agents' name; ignored if it is not a directory. */
    cwd: short("cwd"),
    headspaceSessionId: short("headspace_session_id"),
    pane: pane !== undefined && isPaneId(pane) ? pane : undefined,
    tmuxSession: short("tmux_session") ?? headerText(c, "x-tmux-session"),
    /** The pid of the pane's tmux server, from the agent's `$TMUX`. */
    tmuxPid: tmuxPid === undefined ? undefined : Number(tmuxPid),
    prompt: text("prompt"),
    transcriptPath: short("transcript_path"),
    message: text("message"),
    title: text("title"),
    notificationType: short("notification_type"),
    toolName: short("tool_name"),
    toolInput: fields["tool_input"] ?? fields["details"],
    /** The agent's last message, when it stops. */
    lastMessage: text("last_assistant_message") ?? text("prompt_response"),
    /** Why a session starts: `startup`, `resume`, `clear`, `compact`. */
    source: short("source"),
  };
}

export type HookRequest = Exclude<ReturnType<typeof parseHook>, string>;

const headerText = (c: Context<GuardEnv>, name: string): string | undefined => {
  const value = c.req.header(name)?.trim();
  if (value === undefined || value === "" || value.length > MAX_NAME_CHARS) return undefined;
  // Percent-encoded where it is not ASCII.
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
};
