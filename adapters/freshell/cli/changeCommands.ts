/** Commands that change a device's tabs and panes. Only the owner makes the change; the server relays it. */
import { resolve } from "node:path";
import type { RpcCommand } from "../../../protocol/api/freshell/rpcCommands.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { CommandCall, CommandSpec, Example, OptionSpec, PositionalSpec } from "../../bin/cli/commandTypes.ts";
import { printable } from "../../bin/cli/textTable.ts";
import { DEVICE_OPTION, TAB_OPTION } from "./commandTargets.ts";
import type { Changed } from "./deviceCalls.ts";
import { freshellCommand } from "./freshellCommand.ts";
import { KEY_OPTION, PANE_OPTIONS, REVISION_OPTION, SHELL_OPTION, TAB_TARGET, text, word } from "./deviceOptions.ts";

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

function layoutCommand({
  name,
  needs = ["target"],
  args,
  positionals = [],
  examples = [],
  ...spec
}: LayoutCommand): CommandSpec {
  return freshellCommand<Changed>({
    ...spec,
    name,
    options: [...spec.options, REVISION_OPTION],
    positionals,
    examples,
    perform: async (call, session) => {
      const missing = needs.find((one) => call.options.text(one) === undefined);
      if (missing !== undefined)
        throw new AppError("INVALID_ARGUMENT", `${name} needs --${missing}: see \`freshell help ${name}\``);
      const all = { ...givenOf(call, SELECTORS), ...args?.(call) };
      const { DeviceCalls } = await import("./deviceCalls.ts");
      return new DeviceCalls(call, session).change(name, all);
    },
    show: shown,
  });
}

const givenOf = ({ options }: CommandCall, names: readonly string[]): Args =>
  Object.fromEntries(names.flatMap((name) => (options.text(name) === undefined ? [] : [[name, options.text(name)]])));

/** In the form of targets, one per line. */
function shown({ tabId, paneId, terminalId, detachedTerminals, appliedRevision }: Changed): string {
  const line = (name: string, id: unknown): string[] => (typeof id === "string" ? [`${name}:${printable(id)}`] : []);
  const detached = Array.isArray(detachedTerminals)
    ? detachedTerminals.map((id) => `detached terminal:${String(id)}`)
    : [];
  const lines = [...line("tab", tabId), ...line("pane", paneId), ...line("terminal", terminalId)];
  return [lines.join(" "), ...detached.map(printable), `revision ${appliedRevision}`].map((one) => `${one}\n`).join("");
}

/** Absolute, so that a path means the same everywhere on this machine. */
const pathOf = ({ io }: CommandCall, path: string): string => (path === "" ? path : resolve(io.cwd, path));

const direction = text("direction", "DIRECTION", "horizontal is side by side, vertical one above the other", {
  choices: ["horizontal", "vertical"],
});
const cwd = text("cwd", "DIR", "the directory that its terminal begins in", { complete: "directory", default: "home" });
const percent = (name: string, short: string, description: string): OptionSpec => ({
  name,
  short,
  type: "number",
  value: "PERCENT",
  min: 1,
  max: 99,
  description,
});

export const CHANGE_COMMANDS: readonly CommandSpec[] = [
  layoutCommand({
    name: "new-tab",
    summary: "open a tab with a terminal",
    needs: [],
    options: [text("name", "NAME", "its title", { short: "n" }), SHELL_OPTION, cwd, DEVICE_OPTION, KEY_OPTION],
    examples: [
      { line: "freshell new-tab -n build --cwd .", does: "prints tab, pane and terminal" },
      { line: "freshell new-tab --device desk --idempotency-key K", does: "once, however often it is sent" },
    ],
    args: (call) => {
      const { options } = call;
      const [title, dir] = [options.text("name"), options.text("cwd")];
      return {
        ...(title === undefined ? {} : { title }),
        ...givenOf(call, ["shell"]),
        ...(dir === undefined ? {} : { cwd: pathOf(call, dir) }),
      };
    },
  }),
  layoutCommand({ name: "select-tab", summary: "show a tab", options: [TAB_TARGET, DEVICE_OPTION] }),
  layoutCommand({
    name: "kill-tab",
    summary: "close a tab; its terminals go on",
    options: [TAB_TARGET, DEVICE_OPTION],
    examples: [{ line: "freshell kill-tab --target tab-name:build", does: "prints the terminals that nobody shows" }],
  }),
  layoutCommand({
    name: "rename-tab",
    summary: "give a tab another title",
    options: [TAB_TARGET, DEVICE_OPTION],
    positionals: [word("NAME", "the title")],
    args: ({ positionals: [title] }) => ({ title }),
  }),
  layoutCommand({
    name: "split-pane",
    summary: "open a pane beside another one: a terminal, a page or a file",
    needs: ["target", "direction"],
    options: [
      ...PANE_OPTIONS,
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
    args: (call) => {
      const editor = call.options.text("editor");
      return {
        ...givenOf(call, ["direction", "shell", "browser"]),
        ...(editor === undefined ? {} : { editor: pathOf(call, editor) }),
      };
    },
  }),
  layoutCommand({ name: "select-pane", summary: "make a pane the active one", options: PANE_OPTIONS }),
  layoutCommand({ name: "kill-pane", summary: "close a pane; its terminal goes on", options: PANE_OPTIONS }),
  layoutCommand({
    name: "resize-pane",
    summary: "give a pane another share of the split that it is in",
    options: [
      ...PANE_OPTIONS,
      percent("width", "x", "of the nearest split side by side"),
      percent("height", "y", "of the nearest split one above the other"),
    ],
    args: ({ options }) => {
      const [x, y] = [options.number("width"), options.number("height")];
      if (x === undefined && y === undefined) throw new AppError("INVALID_ARGUMENT", "resize-pane needs -x or -y");
      return { ...(x === undefined ? {} : { x }), ...(y === undefined ? {} : { y }) };
    },
  }),
  layoutCommand({
    name: "swap-pane",
    summary: "let two panes change places",
    needs: ["source", "target"],
    options: [text("source", "PANE", "the other one: pane:ID or pane-index:N"), ...PANE_OPTIONS],
  }),
  layoutCommand({
    name: "open-browser",
    summary: "show a page in a pane",
    options: PANE_OPTIONS,
    positionals: [word("URL", "the page; http or https")],
    args: ({ positionals: [url] }) => ({ url }),
  }),
  layoutCommand({
    name: "navigate",
    summary: "lead a pane's page elsewhere",
    options: PANE_OPTIONS,
    positionals: [word("URL", "the page; http or https")],
    args: ({ positionals: [url] }) => ({ url }),
  }),
  layoutCommand({
    name: "open-editor",
    summary: "edit a file in a pane",
    options: PANE_OPTIONS,
    positionals: [word("FILE", "the file")],
    args: (call) => ({ filePath: pathOf(call, call.positionals[0] ?? "") }),
  }),
  layoutCommand({
    name: "respawn-pane",
    summary: "end what runs in a pane's terminal and start it anew",
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
    examples: [{ line: "freshell attach-terminal --target terminal:ID --to pane:ID", does: "no process moves" }],
  }),
];
