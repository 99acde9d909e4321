/**
 * The commands on windows and panes: one for each operation of the API, named as in tmux. Positionals and options are
 * the members of the operation's input; nothing about tmux is decided here.
 */
import type { NativeLayoutResult } from "../../../protocol/api/nativeLayout.ts";
import type { LayoutOperationName } from "../../../protocol/api/operationRoutes.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { type GivingPositional, type OperationCommand, operationCommand } from "./operationCommand.ts";
import { PANE, PANE_OR_THIS, SESSION } from "./paneArguments.ts";
import { usageError } from "../../cli/parseCommand.ts";

const WINDOW: GivingPositional = {
  gives: "window",
  name: "WINDOW",
  description: "a window such as @3, that of a pane such as %5, or a session: its active one",
  names: "pane",
};
const other = (gives: string): GivingPositional => ({
  gives,
  name: "OTHER",
  description: "the other pane",
  names: "pane",
});
const NAME: GivingPositional = { gives: "name", name: "NAME", description: "the new name" };
const COMMAND: GivingPositional = {
  gives: "command",
  name: "COMMAND",
  description: "the program to run and its arguments; your shell when there is none",
  optional: true,
  many: true,
};

interface LayoutRow extends Omit<OperationCommand<NativeLayoutResult>, "operation"> {
  readonly name: LayoutOperationName;
}

const ROWS: readonly LayoutRow[] = [
  {
    name: "new-window",
    positionals: [SESSION, COMMAND],
    examples: [{ line: "tmuxwire new-window work --name logs -- tail -f log", does: "and show it" }],
  },
  {
    name: "split-window",
    aliases: ["split"],
    positionals: [PANE, COMMAND],
    examples: [{ line: "tmuxwire split work --direction horizontal --size 30%", does: "a narrow one beside" }],
  },
  {
    name: "kill-pane",
    positionals: [PANE_OR_THIS],
    examples: [{ line: "tmuxwire kill-pane %5", does: "and its window, if it is the only one there" }],
  },
  {
    name: "kill-window",
    positionals: [WINDOW],
    examples: [{ line: "tmuxwire kill-window @3", does: "in every session that has it" }],
  },
  {
    name: "rename-window",
    positionals: [WINDOW, NAME],
    examples: [{ line: "tmuxwire rename-window @3 logs", does: "for everybody" }],
  },
  {
    name: "rename-session",
    positionals: [SESSION, NAME],
    examples: [{ line: "tmuxwire rename-session work done", does: "and nothing in it changes" }],
  },
  {
    name: "select-pane",
    positionals: [PANE_OR_THIS],
    examples: [{ line: "tmuxwire select-pane work --direction left", does: "the one left of the active one" }],
  },
  {
    name: "select-window",
    positionals: [WINDOW],
    examples: [{ line: "tmuxwire select-window @3", does: "show it" }],
  },
  {
    name: "swap-pane",
    positionals: [PANE, other("with")],
    examples: [{ line: "tmuxwire swap-pane %5 %7", does: "of two windows, too" }],
  },
  {
    name: "move-pane",
    positionals: [PANE, other("to")],
    examples: [{ line: "tmuxwire move-pane %5 %7 --direction horizontal", does: "right of it" }],
  },
  {
    name: "join-pane",
    positionals: [PANE, other("to")],
    examples: [{ line: "tmuxwire join-pane %5 work", does: "below the active pane of a session" }],
  },
  {
    name: "break-pane",
    positionals: [PANE_OR_THIS],
    examples: [{ line: "tmuxwire break-pane %5 --name logs", does: "into a window of its own" }],
  },
  {
    name: "resize-pane",
    positionals: [PANE_OR_THIS],
    tweak: { zoom: { description: "let it cover the window" } },
    options: [{ name: "unzoom", type: "flag", description: "show the other panes again" }],
    input: zoomOf,
    examples: [{ line: "tmuxwire resize-pane %5 --cols 40%", does: "a share of the window" }],
  },
  {
    name: "resize-window",
    positionals: [WINDOW],
    examples: [{ line: "tmuxwire resize-window work --cols 120 --rows 40", does: "whatever shows it" }],
  },
  {
    name: "select-layout",
    positionals: [
      WINDOW,
      {
        gives: "layout",
        name: "LAYOUT",
        description:
          "even-horizontal, even-vertical, main-horizontal, main-vertical, tiled, spread, or one as tmux writes it",
      },
    ],
    examples: [{ line: "tmuxwire select-layout work tiled", does: "the same room for all" }],
  },
  {
    name: "respawn-pane",
    positionals: [PANE, COMMAND],
    examples: [{ line: "tmuxwire respawn-pane %5 -- make -j8", does: "in a new pane in its place, which is printed" }],
    details: [
      "The old pane ends with its program. The new one has another id: tmux's own way can end the whole server while " +
        "the daemon is connected.",
    ],
  },
  {
    name: "clear-history",
    positionals: [PANE_OR_THIS],
    examples: [{ line: "tmuxwire clear-history work", does: "and keep the screen" }],
  },
  ...(["window", "pane"] as const).map((of): LayoutRow => ({
    name: `set-${of}-option`,
    positionals: [
      of === "window" ? WINDOW : PANE,
      { gives: "option", name: "OPTION", description: "one that is safe; others are refused with the list" },
      {
        gives: "value",
        name: "VALUE",
        description: "what it is set to; without it its own value is taken back",
        optional: true,
      },
    ],
    input: ({ positionals: [, , value] }) => ({ value: value ?? null }),
    examples: [{ line: `tmuxwire set-${of}-option work remain-on-exit on`, does: "keep what has ended readable" }],
  })),
];

const TWEAK: LayoutRow["tweak"] = {
  cwd: { value: "DIR", complete: "directory" },
  environment: { short: "e", description: "a variable of the program" },
  direction: { value: "DIRECTION" },
};

/** Commands that print the window or pane they make. */
const MAKES: ReadonlySet<string> = new Set(["new-window", "split-window", "break-pane", "respawn-pane"]);

export const LAYOUT_COMMANDS = Object.fromEntries(
  ROWS.map((row) => [
    row.name,
    operationCommand<NativeLayoutResult>({
      ...row,
      operation: row.name,
      tweak: { ...TWEAK, ...row.tweak },
      show: MAKES.has(row.name) ? ({ io }, { window, pane }) => io.out(`${pane ?? window ?? ""}\n`) : undefined,
    }),
  ]),
) as Readonly<Record<LayoutOperationName, CommandSpec>>;

function zoomOf({ options }: CommandCall): object {
  if (!options.flag("unzoom")) return {};
  if (options.flag("zoom")) throw usageError("--zoom and --unzoom exclude each other");
  return { zoom: false };
}
