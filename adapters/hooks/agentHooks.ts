/** Agents whose settings, in Claude Code's form, name a command for each event: which events, where and how. */
import { hookCommand, HOOKS_DIRECTORY, scriptName, shellWord } from "./hookScript.ts";

interface SettingsEvent {
  /** The agent's name for it. */
  readonly name: string;
  /** Its name in the dashboard's route. */
  readonly route: string;
  /** Matches the tools or kinds it is about. */
  readonly matcher?: string | undefined;
}

export interface SettingsAgent {
  readonly name: string;
  readonly title: string;
  /** The variable that names its directory, and the default, below the home directory. */
  readonly directoryVariable: string;
  readonly directory: string;
  /** Whether the variable replaces the home directory instead. */
  readonly isHomeVariable?: boolean;
  readonly file: string;
  /** Whether its JSON may hold comments. */
  readonly takesComments?: boolean;
  readonly events: readonly SettingsEvent[];
  readonly group: (event: SettingsEvent, script: string, dashboardUrl: string) => object;
  /** What the script checks before it posts anything. */
  readonly guard?: readonly string[];
  /** Printed after an installation. */
  readonly notes?: readonly string[];
}

/** The group of hooks for one event, as it stands in the settings. */
const groupWith =
  (timeout: number, commandOf = hookCommand) =>
  ({ matcher, route }: SettingsEvent, script: string, dashboardUrl: string): object => ({
    ...(matcher === undefined ? {} : { matcher }),
    hooks: [{ type: "command", command: commandOf(script, dashboardUrl, route), timeout }],
  });

/** As it has been from the beginning: another command would make every installation an outdated one. */
const claudeCommand: typeof hookCommand = (script, dashboardUrl, route) =>
  `f=${script}; if [ -r "$f" ]; then exec sh "$f" ${shellWord(dashboardUrl)} ${route}; fi; cat >/dev/null 2>&1; exit 0`;

export const CLAUDE: SettingsAgent = {
  name: "claude",
  title: "Claude Code",
  directoryVariable: "CLAUDE_CONFIG_DIR",
  directory: ".claude",
  file: "settings.json",
  events: [
    { name: "SessionStart", route: "session-start" },
    { name: "SessionEnd", route: "session-end" },
    { name: "UserPromptSubmit", route: "user-prompt-submit" },
    { name: "Stop", route: "stop" },
    { name: "Notification", route: "notification" },
    // Only for tools that ask: every other tool call would wait for the hook in vain.
    { name: "PreToolUse", route: "pre-tool-use", matcher: "AskUserQuestion|ExitPlanMode" },
    { name: "PostToolUse", route: "post-tool-use", matcher: "*" },
    { name: "PermissionRequest", route: "permission-request", matcher: "*" },
  ],
  // Seconds; the script itself takes at most two.
  group: groupWith(5, claudeCommand),
};

/** For settings shared between people: each has their own script, or none. */
export const SHARED_SCRIPT_WORD = `"\${XDG_DATA_HOME:-$HOME/.local/share}/${[...HOOKS_DIRECTORY, scriptName("claude")].join("/")}"`;

const GEMINI: SettingsAgent = {
  name: "gemini",
  title: "Gemini CLI",
  directoryVariable: "GEMINI_CLI_HOME",
  isHomeVariable: true,
  directory: ".gemini",
  file: "settings.json",
  takesComments: true,
  // Not SessionEnd: Gemini would print three lines about the hook into the user's shell. Its process's exit tells us.
  events: [
    { name: "SessionStart", route: "session-start" },
    { name: "BeforeAgent", route: "user-prompt-submit" },
    { name: "AfterAgent", route: "stop" },
    { name: "AfterTool", route: "post-tool-use", matcher: "*" },
    // The only kind there is: it comes when a tool's dialog does.
    { name: "Notification", route: "permission-request", matcher: "ToolPermission" },
  ],
  // Milliseconds.
  group: groupWith(5_000),
};

const CODEX: SettingsAgent = {
  name: "codex",
  title: "Codex",
  directoryVariable: "CODEX_HOME",
  directory: ".codex",
  file: "hooks.json",
  events: [
    { name: "SessionStart", route: "session-start" },
    { name: "SessionEnd", route: "session-end" },
    { name: "UserPromptSubmit", route: "user-prompt-submit" },
    { name: "Stop", route: "stop" },
    { name: "Interrupt", route: "stop" },
    { name: "PostToolUse", route: "post-tool-use" },
    { name: "PermissionRequest", route: "permission-request" },
  ],
  // Seconds; of the last and of an interrupt it takes no more, and says so on its screen.
  group: groupWith(3),
  guard: [
    "# Codex's shared server runs the hooks of all panes with the environment of the pane that it was started in, and no",
    "# terminal: whose event this is nobody knows then, and nothing is better than another pane's.",
    'case $(ps -o tty= -p "$PPID") in',
    "  '' | *'?'* | *-*)",
    "    cat",
    "    exit 0",
    "    ;;",
    "esac",
  ],
  notes: [
    "Codex asks at its next start whether you trust these hooks: they run once you have said so",
    "they are silent in Codex's shared background server, which does not know the pane: have `daemon_auto_start = false` " +
      "below [features] in its config.toml, or start codex with --no-daemon",
  ],
};

export const SETTINGS_AGENTS: Readonly<Record<string, SettingsAgent>> = {
  claude: CLAUDE,
  gemini: GEMINI,
  codex: CODEX,
};
