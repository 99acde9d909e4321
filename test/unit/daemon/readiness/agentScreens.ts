/** Screens for the dialog parser and for rules that no recorded screen tries (`test/golden/agents` has those). */
const RULE = "─".repeat(80);

export interface AgentScreen {
  readonly profile: string;
  readonly name: string;
  readonly lines: readonly string[];
  /** Default: the end of the last row. */
  readonly cursor?: { readonly col: number; readonly row: number };
  readonly state: "idle" | "busy" | "asking" | "none";
  readonly dialog?: {
    readonly text: string;
    readonly labels: readonly string[];
    readonly keys: readonly (readonly string[])[];
    readonly marked?: number;
    readonly otherIndex?: number;
    readonly multi?: boolean;
    readonly checked?: readonly boolean[];
  };
}

const framed = (rows: readonly string[]): string[] => [
  `╭${"─".repeat(78)}╮`,
  ...rows.map((row) => `│ ${row.padEnd(77)}│`),
  `╰${"─".repeat(78)}╯`,
];

const CLAUDE_HEAD = ["▐▛███▜▌   Claude Code v2.1.197", "▝▜█████▛▘  ~/project", ""];
const CLAUDE_BOX = (text: string): string[] => [RULE, `❯\u00a0${text}`, RULE, "  ? for shortcuts"];
const BASH_DIALOG = [
  RULE,
  " Bash command",
  "",
  "   touch /tmp/approved",
  "   Create an empty file",
  "",
  " Do you want to proceed?",
  " ❯ 1. Yes",
  "   2. Yes, and don't ask again for touch commands in /tmp",
  "   3. No, and tell Claude what to do differently (esc)",
  "",
  " Esc to cancel · Tab to amend",
];
const BASH_DIALOG_PARSED = {
  text: "Bash command\n\ntouch /tmp/approved\nCreate an empty file\n\nDo you want to proceed?",
  labels: [
    "Yes",
    "Yes, and don't ask again for touch commands in /tmp",
    "No, and tell Claude what to do differently (esc)",
  ],
  keys: [["1"], ["2"], ["3"]],
  marked: 0,
  otherIndex: 2,
};

export const AGENT_SCREENS: readonly AgentScreen[] = [
  {
    profile: "claude",
    name: "a list being typed into the box",
    lines: [
      ...CLAUDE_HEAD,
      RULE,
      "❯ 1. first this",
      "  2. then that",
      "  3. Do you want to proceed?",
      RULE,
      "  ? for shortcuts",
    ],
    state: "idle",
  },
  {
    profile: "claude",
    name: "a permission",
    lines: ["> touch it", "", ...BASH_DIALOG],
    state: "asking",
    dialog: BASH_DIALOG_PARSED,
  },
  {
    profile: "claude",
    name: "a permission in a frame, the mark on the second option",
    lines: framed(BASH_DIALOG.slice(1, 10).map((row) => row.replace("❯", " ").replace("   2.", " ❯ 2."))),
    state: "asking",
    dialog: { ...BASH_DIALOG_PARSED, marked: 1 },
  },
  {
    profile: "claude",
    name: "a permission that went by, above the box",
    lines: ["● The file says:", ...BASH_DIALOG, "", "● Done.", "", ...CLAUDE_BOX("")],
    state: "idle",
  },
  {
    profile: "claude",
    name: "a question with descriptions and a way for free text",
    lines: [
      RULE,
      " ☐ Library",
      "",
      "Which library should be used?",
      "",
      "❯ 1. React",
      "     The usual one",
      "  2. Preact",
      "     Smaller",
      "  3. Type something.",
      RULE,
      "  4. Chat about this",
      "",
      "Enter to select · ↑/↓ to navigate · Esc to cancel",
    ],
    state: "asking",
    dialog: {
      text: "☐ Library\n\nWhich library should be used?",
      labels: ["React", "Preact", "Type something.", "Chat about this"],
      keys: [["1"], ["2"], ["3"], ["4"]],
      marked: 0,
      otherIndex: 2,
    },
  },
  {
    profile: "claude",
    name: "several may be chosen",
    lines: [
      RULE,
      "Which features are wanted?",
      "",
      "  1. [ ] Login",
      "❯ 2. [✔] Search",
      "  3. [ ] Export",
      "",
      "Space to toggle · Enter to select · ↑/↓ to navigate · Esc to cancel",
    ],
    state: "asking",
    dialog: {
      text: "Which features are wanted?",
      labels: ["Login", "Search", "Export"],
      keys: [["Up", "Space"], ["Space"], ["Down", "Space"]],
      marked: 1,
      multi: true,
      checked: [false, true, false],
    },
  },
  {
    profile: "claude",
    name: "a list without numbers",
    lines: [
      RULE,
      " Which library should be used?",
      "",
      "   React",
      " ❯ Preact",
      "   Other",
      "",
      " Enter to select · ↑/↓ to navigate · Esc to cancel",
    ],
    state: "asking",
    dialog: {
      text: "Which library should be used?",
      labels: ["React", "Preact", "Other"],
      keys: [["Up", "Enter"], ["Enter"], ["Down", "Enter"]],
      marked: 1,
      otherIndex: 2,
    },
  },
  { profile: "claude", name: "another program's screen", lines: ["  Settings", "", "  Theme  dark"], state: "none" },
  {
    profile: "codex",
    name: "a permission whose label goes on in the next row",
    lines: [
      "› touch it",
      "",
      "  Would you like to run the following command?",
      "",
      "  Reason: an empty file is needed",
      "",
      "  $ touch /tmp/approved",
      "",
      "› 1. Yes, proceed (y)",
      "  2. Yes, and don't ask again for commands that start with `touch /tmp/appr`",
      "     (p)",
      "  3. No, and tell Codex what to do differently (esc)",
      "",
      "  Press enter to confirm or esc to cancel",
    ],
    state: "asking",
    dialog: {
      text: "Would you like to run the following command?\n\nReason: an empty file is needed\n\n$ touch /tmp/approved",
      labels: [
        "Yes, proceed (y)",
        "Yes, and don't ask again for commands that start with `touch /tmp/appr` (p)",
        "No, and tell Codex what to do differently (esc)",
      ],
      keys: [["Enter"], ["Down", "Enter"], ["Down", "Down", "Enter"]],
      marked: 0,
      otherIndex: 2,
    },
  },
  {
    profile: "gemini",
    name: "a permission",
    lines: framed([
      "?  Shell touch /tmp/approved",
      "",
      "touch /tmp/approved",
      "",
      "Allow execution of: 'touch'?",
      "",
      "● 1. Allow once",
      "  2. Allow for this session",
      "  3. No, suggest changes (esc)",
      "",
    ]),
    state: "asking",
    dialog: {
      text: "?  Shell touch /tmp/approved\n\ntouch /tmp/approved\n\nAllow execution of: 'touch'?",
      labels: ["Allow once", "Allow for this session", "No, suggest changes (esc)"],
      keys: [["1"], ["2"], ["3"]],
      marked: 0,
      otherIndex: 2,
    },
  },
  {
    profile: "opencode",
    name: "a permission, the second button in reverse",
    lines: [
      "┃ △ Permission required",
      "┃",
      "┃   # Create an empty file",
      "┃   $ touch /tmp/approved",
      "┃",
      "┃   Allow once   \u001b[7m Allow always \u001b[0m   Reject ",
      "┃",
      "┃ ⇆ select  enter confirm",
    ],
    state: "asking",
    dialog: {
      text: "△ Permission required\n\n# Create an empty file\n$ touch /tmp/approved",
      labels: ["Allow once", "Allow always", "Reject"],
      keys: [["Left", "Enter"], ["Enter"], ["Right", "Enter"]],
      marked: 1,
    },
  },
  {
    profile: "opencode",
    name: "a permission of which nothing shows the chosen button",
    lines: ["┃ △ Permission required", "┃  Allow once   Allow always   Reject ", "┃ ⇆ select  enter confirm"],
    state: "asking",
    dialog: { text: "△ Permission required", labels: ["Allow once", "Allow always", "Reject"], keys: [[], [], []] },
  },
  { profile: "shell", name: "bash", lines: ["$ ls", "a b", "user@host:~/project$ "], state: "idle" },
  { profile: "shell", name: "root with a version in its name", lines: ["bash-5.2# "], state: "idle" },
  { profile: "shell", name: "progress is no prompt", lines: ["downloading 50% "], state: "none" },
  {
    profile: "shell",
    name: "yes or no",
    lines: ["$ apt install x", "Do you want to continue? [Y/n] "],
    state: "asking",
    dialog: {
      text: "Do you want to continue? [Y/n]",
      labels: ["Y", "n"],
      keys: [
        ["y", "Enter"],
        ["n", "Enter"],
      ],
    },
  },
  {
    profile: "shell",
    name: "a password",
    lines: ["[sudo] password for ann: "],
    state: "asking",
    dialog: { text: "[sudo] password for ann:", labels: [], keys: [] },
  },
  { profile: "generic", name: "python", lines: ["Python 3.11", ">>> "], state: "idle" },
  { profile: "generic", name: "pdb", lines: ["(Pdb) "], state: "idle" },
  {
    profile: "generic",
    name: "a list of clack",
    lines: ["◆  Pick one", "│  ○ npm", "│  ● pnpm", "│  ○ yarn", "└"],
    state: "asking",
    dialog: {
      text: "◆  Pick one",
      labels: ["npm", "pnpm", "yarn"],
      keys: [["Up", "Enter"], ["Enter"], ["Down", "Enter"]],
      marked: 1,
    },
  },
];
