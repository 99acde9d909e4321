/** Agents whose settings, in Claude Code's form, name a command for each event: which events, where and how. */
import { CLAUDE } from "./claudeHook.ts";
import { hookCommand, hookScript } from "./hookScript.ts";

export interface SettingsEvent {
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
  readonly takesComments: boolean;
  readonly events: readonly SettingsEvent[];
  readonly group: (event: SettingsEvent, script: string, dashboardUrl: string) => object;
  readonly script: string;
  /** Notes for whoever installs these. */
  readonly notes: readonly string[];
}

const groupWith =
  (timeout: number) =>
  ({ matcher, route }: SettingsEvent, script: string, dashboardUrl: string): object => ({
    ...(matcher === undefined ? {} : { matcher }),
    hooks: [{ type: "command", command: hookCommand(script, dashboardUrl, route), timeout }],
  });

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
  script: hookScript({ name: "gemini", title: "Gemini CLI" }),
  notes: [],
};

const CODEX: SettingsAgent = {
  name: "codex",
  title: "Codex",
  directoryVariable: "CODEX_HOME",
  directory: ".codex",
  file: "hooks.json",
  takesComments: false,
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
  script: hookScript({
    name: "codex",
    title: "Codex",
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
  }),
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
