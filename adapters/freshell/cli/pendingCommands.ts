/**
 * Commands of the contract whose part of the product is not built yet: they are known by name, take what they will take, and
 * say what they wait for. None asks the server for anything.
 */
import { AppError } from "../../../protocol/errors.ts";
import type { CommandSpec, OptionSpec, PositionalSpec } from "../../bin/cli/commandTypes.ts";
import { freshellCommand } from "./freshellCommand.ts";

/** What is not there, in a word and in a sentence. */
const PARTS = {
  devices: "needs devices, which this version does not know",
  layout: "needs the tabs and panes of a device, which this version does not know",
  sessions: "needs agent sessions, which this version does not have",
} as const;

const text = (name: string, value: string, description: string, more: Partial<OptionSpec> = {}): OptionSpec => ({
  name,
  type: "text",
  value,
  description,
  ...more,
});
const DEVICE = text("device", "DEVICE", "the device that has it");
const TAB = text("tab", "TAB", "the tab of pane-index:N");
const TAB_TARGET = text("target", "TAB", "tab:ID, tab-name:NAME or tab-index:N");
const PANE = [text("target", "PANE", "pane:ID or pane-index:N"), TAB, DEVICE];
const SESSION = text("target", "SESSION", "session:PROVIDER:ID");
const REVISION: OptionSpec = {
  name: "expected-revision",
  type: "number",
  value: "N",
  description: "the layout's revision",
};
const KEY = text("idempotency-key", "KEY", "asked again with it, it is done once");
const STALE: OptionSpec = { name: "allow-stale", type: "flag", description: "the last that was known will do" };
const SHELL = text("shell", "SHELL", "the shell to run");
const CWD = text("cwd", "DIR", "the directory to run it in", { complete: "directory" });
const MODEL = text("model", "MODEL", "the model");

const pending = (
  part: keyof typeof PARTS,
  name: string,
  summary: string,
  options: readonly OptionSpec[],
  positionals: readonly PositionalSpec[] = [],
): CommandSpec =>
  freshellCommand({
    name,
    summary: `${summary} (not in this version)`,
    positionals,
    options,
    examples: [],
    perform: () => {
      throw new AppError("INVALID_ARGUMENT", `${name} ${PARTS[part]}; terminals are served`, {
        details: { waitsFor: part },
      });
    },
  });

const word = (name: string, description: string): PositionalSpec => ({ name, description });

export const PENDING_COMMANDS: readonly CommandSpec[] = [
  pending("devices", "list-devices", "list the devices", []),
  pending("devices", "device-status", "tell about a device", [DEVICE]),
  pending("layout", "new-tab", "open a tab", [
    text("name", "NAME", "its title", { short: "n" }),
    SHELL,
    CWD,
    DEVICE,
    REVISION,
    KEY,
  ]),
  pending("layout", "list-tabs", "list the tabs", [DEVICE, STALE]),
  pending("layout", "select-tab", "show a tab", [TAB_TARGET, DEVICE, REVISION]),
  pending("layout", "kill-tab", "close a tab", [TAB_TARGET, DEVICE, REVISION]),
  pending("layout", "rename-tab", "give a tab a title", [TAB_TARGET, DEVICE, REVISION], [word("NAME", "the title")]),
  pending("layout", "split-pane", "split a pane", [
    ...PANE,
    text("direction", "DIRECTION", "side by side, or one above the other", { choices: ["horizontal", "vertical"] }),
    SHELL,
    text("browser", "URL", "show a page"),
    text("editor", "FILE", "edit a file", { complete: "file" }),
    REVISION,
    KEY,
  ]),
  pending("layout", "list-panes", "list the panes", [TAB, DEVICE, STALE]),
  pending("layout", "select-pane", "show a pane", [...PANE, REVISION]),
  pending("layout", "kill-pane", "close a pane", [...PANE, REVISION]),
  pending("layout", "resize-pane", "make a pane larger or smaller", [
    ...PANE,
    { name: "width", short: "x", type: "number", value: "WIDTH", description: "percent of the split" },
    { name: "height", short: "y", type: "number", value: "HEIGHT", description: "percent of the split" },
    REVISION,
  ]),
  pending("layout", "swap-pane", "exchange two panes", [text("source", "PANE", "the other one"), ...PANE, REVISION]),
  pending("layout", "open-browser", "show a page in a pane", [...PANE, REVISION], [word("URL", "the page")]),
  pending("layout", "navigate", "lead a pane's page elsewhere", [...PANE, REVISION], [word("URL", "the page")]),
  pending("layout", "open-editor", "edit a file in a pane", [...PANE, REVISION], [word("FILE", "the file")]),
  pending("layout", "respawn-pane", "start a pane's program anew", [...PANE, REVISION, KEY]),
  pending("layout", "attach-terminal", "show a terminal in a pane", [
    text("target", "TERMINAL", "terminal:ID"),
    text("to", "PANE", "pane:ID or pane-index:N"),
    TAB,
    DEVICE,
    REVISION,
    KEY,
  ]),
  pending("sessions", "session-create", "start an agent session", [
    text("provider", "PROVIDER", "the kind of session", { choices: ["sdk", "codingcli"] }),
    text("coding-provider", "NAME", "the program", { choices: ["claude", "codex", "opencode", "gemini", "kimi"] }),
    text("prompt", "TEXT", "what it is told first"),
    CWD,
    text("resume-session-id", "ID", "the session to go on with"),
    MODEL,
    { name: "max-turns", type: "number", value: "N", description: "end after so many turns" },
    text("permission-mode", "MODE", "what it may do unasked"),
    text("effort", "EFFORT", "how hard it thinks", { choices: ["low", "medium", "high", "max"] }),
    text("sandbox", "SANDBOX", "what it can reach", {
      choices: ["read-only", "workspace-write", "danger-full-access"],
    }),
  ]),
  pending("sessions", "session-list", "list the agent sessions", [text("provider", "PROVIDER", "of one kind")]),
  pending("sessions", "session-send", "tell a session something", [SESSION], [{ ...word("TEXT", "what"), many: true }]),
  pending("sessions", "session-wait", "wait for a session's output", [
    SESSION,
    text("from", "WHERE", "now, or tail:N"),
    text("pattern", "PATTERN", "the output shows this", { short: "p", dashed: true }),
    { name: "literal", type: "flag", description: "the pattern is text" },
    { name: "regex", type: "flag", description: "the pattern is a regular expression" },
    { name: "stable", type: "number", value: "SECONDS", description: "no output for this long" },
    { name: "timeout", short: "T", type: "number", value: "SECONDS", description: "give up then" },
  ]),
  pending("sessions", "session-kill", "end a session", [SESSION]),
  pending("layout", "display", "print what a format makes of a pane", [
    text("format", "FORMAT", "text with %deviceId, %tabId and so on", { short: "p", dashed: true }),
    ...PANE,
  ]),
];
