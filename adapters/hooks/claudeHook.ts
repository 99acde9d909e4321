/**
 * What Claude Code runs at each event: a script of plain POSIX sh that hands the event to the dashboard as it came, and
 * the settings that name it. The agent waits for it, so it is quick, silent and always a success, whether or not there is
 * a dashboard, a tmux or even curl. What it prints would reach the agent; it prints nothing.
 */

/** Beside the script: curl options with the dashboard's token, when it has one. Never on a command line. */
export const SECRETS_FILE = "claude.curl";

const SCRIPT_LINES = [
  "#!/bin/sh",
  "# tmuxwire: tells the dashboard what Claude Code is doing. Usage: claude.sh DASHBOARD_URL EVENT, the event on stdin.",
  "# Written by `tmuxwire hooks install claude`, which replaces it.",
  "LC_ALL=C",
  "export LC_ALL",
  "exec >/dev/null 2>&1",
  "if ! command -v curl; then",
  "  # Whoever writes the event must not meet a closed pipe.",
  "  cat",
  "  exit 0",
  "fi",
  "url=$1/hook/$2",
  `secrets=\${0%/*}/${SECRETS_FILE}`,
  "pane=${TMUX_PANE-}",
  "tmux=${TMUX-}",
  "# -q: nobody's .curlrc; -g: [::1] is an address. Without Expect a long event waits for no permission.",
  "set -- -q -s -g --noproxy '*' --connect-timeout 1 --max-time 2 -H 'Content-Type: application/json' -H 'Expect:'",
  'if [ -r "$secrets" ]; then set -- "$@" -K "$secrets"; fi',
  "# As tmux sets them: %7, and SOCKET,PID,SESSION. Anything else is no header.",
  'case "${pane#?}" in',
  "  '' | *[!0-9]*) ;;",
  '  *) case "$pane" in %*) set -- "$@" -H "X-Tmux-Pane: $pane" ;; esac ;;',
  "esac",
  'case "$tmux" in',
  "  '' | *[![:print:]]*) ;;",
  '  /*,*,*) set -- "$@" -H "X-Tmux: $tmux" ;;',
  "esac",
  'curl "$@" --data-binary @- "$url"',
  "exit 0",
];

export const CLAUDE_HOOK_SCRIPT = `${SCRIPT_LINES.join("\n")}\n`;

export interface ClaudeHookEvent {
  /** As Claude Code calls it. */
  readonly name: string;
  /** As the dashboard's route does. */
  readonly route: string;
  /** Of the tools it is about, where it is about one. */
  readonly matcher?: string | undefined;
}

export const CLAUDE_HOOK_EVENTS: readonly ClaudeHookEvent[] = [
  { name: "SessionStart", route: "session-start" },
  { name: "SessionEnd", route: "session-end" },
  { name: "UserPromptSubmit", route: "user-prompt-submit" },
  { name: "Stop", route: "stop" },
  { name: "Notification", route: "notification" },
  // Of the tools that ask only: every other use of a tool would wait for nothing.
  { name: "PreToolUse", route: "pre-tool-use", matcher: "AskUserQuestion|ExitPlanMode" },
  { name: "PostToolUse", route: "post-tool-use", matcher: "*" },
  { name: "PermissionRequest", route: "permission-request", matcher: "*" },
];

/** Seconds until Claude Code gives up on it: the script itself takes at most two. */
const TIMEOUT_SEC = 5;

/**
 * The group of hooks for one event, as it stands in the settings.
 * @param script how a shell finds the script: a quoted word.
 */
export const claudeHookGroup = (event: ClaudeHookEvent, script: string, dashboardUrl: string): object => ({
  ...(event.matcher === undefined ? {} : { matcher: event.matcher }),
  hooks: [
    {
      type: "command",
      // A script that is gone is no error of the agent's, and its event still meets no closed pipe.
      command: `f=${script}; if [ -r "$f" ]; then exec sh "$f" ${shellWord(dashboardUrl)} ${event.route}; fi; cat >/dev/null 2>&1; exit 0`,
      timeout: TIMEOUT_SEC,
    },
  ],
});

/** Where the script is, under the data directory. */
export const SCRIPT_PATH = ["tmuxwire", "hooks", "claude.sh"] as const;

/** For settings that others share: each has a script of their own, or none. */
export const SHARED_SCRIPT_WORD = `"\${XDG_DATA_HOME:-$HOME/.local/share}/${SCRIPT_PATH.join("/")}"`;

/** Whether a command of the settings is one of ours, of any version. */
export const isOurCommand = (command: unknown): boolean =>
  typeof command === "string" && /\/tmuxwire\/hooks\/claude\.sh["']/.test(command);

/** One word for a POSIX shell, whatever it holds. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
