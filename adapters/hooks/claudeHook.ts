/** Claude Code's hooks: the script they run and the settings that name it. */
import { HOOKS_DIRECTORY, hookScript, scriptName, shellWord } from "./hookScript.ts";
import type { SettingsAgent, SettingsEvent } from "./settingsAgents.ts";

export const CLAUDE_HOOK_SCRIPT = hookScript({ name: "claude", title: "Claude Code" });

export const CLAUDE_HOOK_EVENTS: readonly SettingsEvent[] = [
  { name: "SessionStart", route: "session-start" },
  { name: "SessionEnd", route: "session-end" },
  { name: "UserPromptSubmit", route: "user-prompt-submit" },
  { name: "Stop", route: "stop" },
  { name: "Notification", route: "notification" },
  // Only for tools that ask: every other tool call would wait for the hook in vain.
  { name: "PreToolUse", route: "pre-tool-use", matcher: "AskUserQuestion|ExitPlanMode" },
  { name: "PostToolUse", route: "post-tool-use", matcher: "*" },
  { name: "PermissionRequest", route: "permission-request", matcher: "*" },
];

/** Seconds until Claude Code gives up on it: the script itself takes at most two. */
const TIMEOUT_SEC = 5;

/**
 * The group of hooks for one event, as it stands in the settings.
 * @param script the script's path as a quoted shell word.
 */
export const claudeHookGroup = (event: SettingsEvent, script: string, dashboardUrl: string): object => ({
  ...(event.matcher === undefined ? {} : { matcher: event.matcher }),
  hooks: [
    {
      type: "command",
      // Without the script the hook still succeeds and reads its event, so the agent meets no closed pipe.
      command: `f=${script}; if [ -r "$f" ]; then exec sh "$f" ${shellWord(dashboardUrl)} ${event.route}; fi; cat >/dev/null 2>&1; exit 0`,
      timeout: TIMEOUT_SEC,
    },
  ],
});

export const CLAUDE: SettingsAgent = {
  name: "claude",
  title: "Claude Code",
  directoryVariable: "CLAUDE_CONFIG_DIR",
  directory: ".claude",
  file: "settings.json",
  takesComments: false,
  events: CLAUDE_HOOK_EVENTS,
  group: claudeHookGroup,
  script: CLAUDE_HOOK_SCRIPT,
  notes: [],
};

/** For settings shared between people: each has their own script, or none. */
export const SHARED_SCRIPT_WORD = `"\${XDG_DATA_HOME:-$HOME/.local/share}/${[...HOOKS_DIRECTORY, scriptName("claude")].join("/")}"`;
