/**
 * What pi, opencode and Copilot load at their start: one file of ours, which sends their events to the dashboard in the
 * form of Claude Code's hooks; Copilot's names the other agents' script for that. pi and opencode never wait for it: events
 * are queued and posted in order, and failures are ignored. It prints nothing.
 */
import { hookCommand, hookScript, isOurCommand, shellWord } from "./hookScript.ts";

/** Tells our file from anyone else's. */
const FIRST_LINE = "// tmuxwire: tells the dashboard what this agent is doing.";

export interface AgentPlugin {
  readonly title: string;
  /** Below the agent's configuration directory. */
  readonly path: readonly string[];
  /** The variable that names that directory, and its default, below the home directory. */
  readonly directoryVariable: string;
  readonly directory: readonly string[];
  readonly text: (place: PluginPlace) => string;
  /** The script that the file runs, if it does not post events itself. */
  readonly script?: string;
}

interface PluginPlace {
  readonly dashboardUrl: string;
  readonly scriptPath: string;
  /** curl's options with the token; reread at every event, so that a new token takes effect. */
  readonly secretsPath: string;
}

/** Queued events; the agent's newest ones matter, not all of them. */
const MAX_WAITING = 64;
const WITHIN_MS = 2_000;

const post = ({ dashboardUrl, secretsPath }: PluginPlace, name: string): string => `${FIRST_LINE}
// Written by \`tmuxwire hooks install ${name}\`, which replaces it; \`tmuxwire hooks uninstall ${name}\` removes it.
import { readFileSync } from "node:fs";

const DASHBOARD = ${JSON.stringify(dashboardUrl)};
const SECRETS = ${JSON.stringify(secretsPath)};
let last = Promise.resolve();
let waiting = 0;

function headers() {
  const all = { "Content-Type": "application/json" };
  // As tmux sets them: %7, and SOCKET,PID,SESSION. Anything else is no header.
  const { TMUX_PANE: pane = "", TMUX: tmux = "" } = process.env;
  if (/^%\\d+$/.test(pane)) all["X-Tmux-Pane"] = pane;
  if (/^\\/[\\x20-\\x7e]*,\\d+,\\d+$/.test(tmux)) all["X-Tmux"] = tmux;
  try {
    const found = /^header = "(Authorization): ((?:[^"\\\\]|\\\\.)*)"/m.exec(readFileSync(SECRETS, "utf8"));
    if (found) all[found[1]] = found[2].replace(/\\\\(.)/g, "$1");
  } catch {}
  return all;
}

function tell(route, event) {
  if (waiting >= ${MAX_WAITING}) return;
  waiting += 1;
  const once = async () => {
    try {
      const body = JSON.stringify(event);
      const signal = AbortSignal.timeout(${WITHIN_MS});
      const answer = await fetch(\`\${DASHBOARD}/hook/\${route}\`, { method: "POST", headers: headers(), body, signal });
      await answer.arrayBuffer();
    } catch {}
    waiting -= 1;
  };
  last = last.then(once);
}
`;

const PI = `
const textOf = (message) =>
  typeof message?.content === "string"
    ? message.content
    : (message?.content ?? []).map((part) => (part?.type === "text" ? part.text : "")).join("");

export default function (pi) {
  const on = (name, act) =>
    pi.on(name, (event, ctx) => {
      try {
        act(event, { session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd, working_directory: ctx.cwd });
      } catch {}
    });
  on("session_start", (event, base) => {
    // It reads prompts only when all of its extensions have started: it is not said to be starting here.
    tell("session-start", { ...base, source: event.reason === "startup" ? "resume" : event.reason });
  });
  on("before_agent_start", (event, base) => tell("user-prompt-submit", { ...base, prompt: event.prompt }));
  on("agent_end", (event, base) => {
    const answer = (event.messages ?? []).filter((message) => message?.role === "assistant").at(-1);
    tell("stop", { ...base, last_assistant_message: textOf(answer) });
  });
  on("session_shutdown", (event, base) => {
    if (event.reason === undefined || event.reason === "quit") tell("session-end", base);
  });
}
`;

const OPENCODE = `
export const TmuxwirePlugin = async ({ directory }) => {
  // What a session starts for itself is its own business.
  const children = new Set();
  const base = (session_id) => ({ session_id, cwd: directory, working_directory: directory });
  const known = new Set();
  const begin = (id) => {
    if (known.has(id)) return;
    known.add(id);
    tell("session-start", { ...base(id), source: "resume" });
  };
  const texts = new Map();
  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      try {
        if (children.has(sessionID)) return;
        begin(sessionID);
        const prompt = parts.filter(({ type, synthetic }) => type === "text" && !synthetic).map(({ text }) => text);
        tell("user-prompt-submit", { ...base(sessionID), prompt: prompt.join("\\n") });
      } catch {}
    },
    event: async ({ event }) => {
      try {
        const { type, properties = {} } = event;
        const { info, part } = properties;
        if (type === "session.created") {
          if (info.parentID) children.add(info.id);
          return;
        }
        const id = properties.sessionID ?? part?.sessionID;
        if (typeof id !== "string" || children.has(id)) return;
        if (type === "message.part.updated" && part.type === "text") texts.set(id, part.text);
        if (type === "session.idle") {
          tell("stop", { ...base(id), last_assistant_message: texts.get(id) ?? "" });
          texts.delete(id);
        }
        if (type === "permission.asked") {
          const { permission, metadata } = properties;
          tell("permission-request", { ...base(id), tool_name: permission, tool_input: metadata });
        }
        if (type === "permission.replied") tell("post-tool-use", base(id));
      } catch {}
    },
  };
};
`;

/** In capitals, as here, its events have the words of Claude Code's; of two it keeps to its own. */
const COPILOT_EVENTS: readonly (readonly [name: string, route: string, matcher?: string])[] = [
  ["SessionStart", "session-start"],
  ["SessionEnd", "session-end"],
  ["UserPromptSubmit", "user-prompt-submit"],
  ["Stop", "stop"],
  ["PostToolUse", "post-tool-use"],
  // Not PermissionRequest, which comes before its rules have been asked: of what they permit as well.
  ["Notification", "permission-request", "permission_prompt"],
];

function copilotHooks({ dashboardUrl, scriptPath }: PluginPlace): string {
  const hooks = COPILOT_EVENTS.map(([name, route, matcher]) => {
    const bash = hookCommand(shellWord(scriptPath), dashboardUrl, route);
    return [name, [{ type: "command", ...(matcher === undefined ? {} : { matcher }), bash, timeoutSec: 5 }]];
  });
  return `${JSON.stringify({ version: 1, hooks: Object.fromEntries(hooks) as object }, undefined, 2)}\n`;
}

export const AGENT_PLUGINS = {
  pi: {
    title: "pi",
    path: ["extensions", "tmuxwire.ts"],
    directoryVariable: "PI_CODING_AGENT_DIR",
    directory: [".pi", "agent"],
    text: (place) => post(place, "pi").replace(FIRST_LINE, `${FIRST_LINE}\n// @ts-nocheck`) + PI,
  },
  opencode: {
    title: "opencode",
    path: ["plugin", "tmuxwire.js"],
    directoryVariable: "OPENCODE_CONFIG_DIR",
    directory: [".config", "opencode"],
    text: (place) => post(place, "opencode") + OPENCODE,
  },
  copilot: {
    title: "Copilot CLI",
    path: ["hooks", "tmuxwire.json"],
    directoryVariable: "COPILOT_HOME",
    directory: [".copilot"],
    text: copilotHooks,
    script: hookScript({ name: "copilot", title: "Copilot CLI" }),
  },
} as const satisfies Readonly<Record<string, AgentPlugin>>;

export const isOurPlugin = (text: string): boolean => text.startsWith(`${FIRST_LINE}\n`) || isOurHooks(text);

/** JSON has no comment to recognise it by: it is ours when every command in it is. */
function isOurHooks(text: string): boolean {
  if (!text.startsWith("{")) return false;
  try {
    const { hooks } = JSON.parse(text) as { readonly hooks: Record<string, readonly { readonly bash?: unknown }[]> };
    const all = Object.values(hooks).flat();
    return all.length > 0 && all.every(({ bash }) => isOurCommand(bash));
  } catch {
    return false;
  }
}
