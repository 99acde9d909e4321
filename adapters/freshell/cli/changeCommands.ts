/** Commands that change a device's tabs and panes. Only the owner makes the change; the server relays it. */
import type { RpcCommand } from "../../../protocol/api/freshell/rpcCommands.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { CommandCall, CommandSpec, Example, OptionSpec, PositionalSpec } from "../../cli/commandTypes.ts";
import { printable } from "../../cli/textTable.ts";
import {
  absolutePath,
  DEVICE_OPTION,
  KEY_OPTION,
  number,
  OWN_PANE_OPTIONS,
  OWN_TARGET,
  PANE_OPTIONS,
  REVISION_OPTION,
  SHELL_OPTION,
  TAB_OPTION,
  TAB_TARGET,
  text,
  word,
} from "./commandOptions.ts";
import { ownPane } from "./commandTargets.ts";
import type { Changed } from "./deviceCalls.ts";
import { freshellCommand } from "./freshellCommand.ts";

type Args = Readonly<Record<string, unknown>>;

interface LayoutCommand {
  readonly name: RpcCommand;
  readonly summary: string;
  readonly options: readonly OptionSpec[];
  readonly positionals?: readonly PositionalSpec[];
  readonly examples?: readonly Example[];
  /** Required arguments. */
  readonly needs?: readonly string[];
  /** Besides the selectors. @throws AppError */
  readonly args?: (call: CommandCall) => Args;
}

/** Options passed on as arguments unchanged. */
const SELECTORS = ["target", "tab", "source", "to"] as const;

function layoutCommand({ needs = ["target"], args, ...spec }: LayoutCommand): CommandSpec {
  const { name } = spec;
  return freshellCommand<Changed>({
    ...spec,
    options: [...spec.options, REVISION_OPTION],
    perform: async (call) => {
      const own = spec.options.includes(OWN_TARGET) ? ownPane(call) : undefined;
      const missing = needs.find(
        (one) => call.options.text(one) === undefined && (one !== "target" || own === undefined),
      );
      if (missing !== undefined)
        throw new AppError("INVALID_ARGUMENT", `${name} needs --${missing}: see \`freshell help ${name}\``);
      const all = { ...givenOf(call, SELECTORS), ...(own && { target: own.target }), ...args?.(call) };
      const { DeviceCalls } = await import("./deviceCalls.ts");
      return new DeviceCalls(call, own?.device).change(name, all);
    },
    show: shown,
  });
}

const givenOf = ({ options }: CommandCall, names: readonly string[]): Args =>
  Object.fromEntries(names.flatMap((name) => (options.text(name) === undefined ? [] : [[name, options.text(name)]])));

/** In the form of targets, one per line. */
function shown({ tabId, paneId, terminalId, detachedTerminals, appliedRevision }: Changed): string {
  const target = (name: string, id: unknown): string[] => (typeof id === "string" ? [`${name}:${id}`] : []);
  const made = [...target("tab", tabId), ...target("pane", paneId), ...target("terminal", terminalId)].join(" ");
  const detached = Array.isArray(detachedTerminals) ? (detachedTerminals as unknown[]) : [];
  const lines = [made, ...detached.map((id) => `detached terminal:${String(id)}`), `revision ${appliedRevision}`];
  return lines.map((line) => `${printable(line)}\n`).join("");
}

const direction = text("direction", "DIRECTION", "horizontal is side by side, vertical one above the other", {
  choices: ["horizontal", "vertical"],
});
const cwd = text("cwd", "DIR", "the directory that its terminal starts in", { complete: "directory", default: "home" });
const percent = (name: string, short: string, split: string): OptionSpec =>
  number(name, "PERCENT", `percent of the nearest split ${split}`, { short, min: 1, max: 99 });

export const CHANGE_COMMANDS: readonly CommandSpec[] = [
  layoutCommand({
    name: "new-tab",
    summary: "open a tab with a terminal",
    needs: [],
    options: [text("name", "NAME", "its title", { short: "n" }), SHELL_OPTION, cwd, DEVICE_OPTION, KEY_OPTION],
    examples: [
      { line: "freshell new-tab -n build --cwd .", does: "prints tab, pane and terminal" },
      {
        line: "freshell new-tab --device desk --idempotency-key K",
        does: "once, however often the command is repeated",
      },
    ],
    args: (call) => ({
      title: call.options.text("name"),
      ...givenOf(call, ["shell"]),
      cwd: absolutePath(call, call.options.text("cwd")),
    }),
  }),
  layoutCommand({ name: "select-tab", summary: "show a tab", options: [TAB_TARGET, DEVICE_OPTION] }),
  layoutCommand({
    name: "kill-tab",
    summary: "close a tab; its terminals keep running",
    options: [TAB_TARGET, DEVICE_OPTION],
    examples: [
      { line: "freshell kill-tab --target tab-name:build", does: "prints the terminals that no pane shows any more" },
    ],
  }),
  layoutCommand({
    name: "rename-tab",
    summary: "rename a tab",
    options: [TAB_TARGET, DEVICE_OPTION],
    positionals: [word("NAME", "the title")],
    args: ({ positionals: [title] }) => ({ title }),
  }),
  layoutCommand({
    name: "split-pane",
    summary: "open a pane beside another one: a terminal, a page or a file",
    needs: ["target", "direction"],
    options: [
      ...OWN_PANE_OPTIONS,
      direction,
      SHELL_OPTION,
      text("browser", "URL", "the new pane shows a page"),
      text("editor", "FILE", "the new pane edits a file", { complete: "file" }),
      KEY_OPTION,
    ],
    examples: [
      { line: "freshell split-pane --target pane:ID --direction horizontal", does: "a terminal on its right" },
      {
        line: "freshell split-pane --target pane:ID --direction vertical --browser http://localhost:3000",
        does: "a page",
      },
    ],
    args: (call) => ({
      ...givenOf(call, ["direction", "shell", "browser"]),
      editor: absolutePath(call, call.options.text("editor")),
    }),
  }),
  layoutCommand({ name: "select-pane", summary: "make a pane the active one", options: OWN_PANE_OPTIONS }),
  layoutCommand({ name: "kill-pane", summary: "close a pane; its terminal keeps running", options: PANE_OPTIONS }),
  layoutCommand({
    name: "resize-pane",
    summary: "resize a pane within its split",
    options: [
      ...OWN_PANE_OPTIONS,
      percent("width", "x", "side by side"),
      percent("height", "y", "one above the other"),
    ],
    args: ({ options }) => {
      const [x, y] = [options.number("width"), options.number("height")];
      if (x === undefined && y === undefined) throw new AppError("INVALID_ARGUMENT", "resize-pane needs -x or -y");
      return { x, y };
    },
  }),
  layoutCommand({
    name: "swap-pane",
    summary: "swap two panes",
    needs: ["source", "target"],
    options: [text("source", "PANE", "the other pane: pane:ID or pane-index:N"), ...OWN_PANE_OPTIONS],
  }),
  layoutCommand({
    name: "open-browser",
    summary: "show a page in a pane",
    options: OWN_PANE_OPTIONS,
    positionals: [word("URL", "the page; http or https")],
    args: ({ positionals: [url] }) => ({ url }),
  }),
  layoutCommand({
    name: "navigate",
    summary: "open another URL in a pane that shows a page",
    options: OWN_PANE_OPTIONS,
    positionals: [word("URL", "the page; http or https")],
    args: ({ positionals: [url] }) => ({ url }),
  }),
  layoutCommand({
    name: "open-editor",
    summary: "edit a file in a pane",
    options: OWN_PANE_OPTIONS,
    positionals: [word("FILE", "the file")],
    args: (call) => ({ filePath: absolutePath(call, call.positionals[0]) }),
  }),
  layoutCommand({
    name: "respawn-pane",
    summary: "end the program in a pane's terminal and start it again",
    options: [...PANE_OPTIONS, KEY_OPTION],
  }),
  layoutCommand({
    name: "attach-terminal",
    summary: "show a terminal in a pane",
    needs: ["target", "to"],
    options: [
      text("target", "TERMINAL", "terminal:ID"),
      text("to", "PANE", "pane:ID, or pane-index:N with --tab"),
      TAB_OPTION,
      DEVICE_OPTION,
      KEY_OPTION,
    ],
    examples: [
      { line: "freshell attach-terminal --target terminal:ID --to pane:ID", does: "no process starts or ends" },
    ],
  }),
];
