/**
 * The commands on windows and panes: one per operation of the API, named as in tmux. Positionals and options are the
 * members of the operation's input; the daemon does the rest.
 */
import type { NativeLayoutResult } from "../../../protocol/api/native/nativeLayout.ts";
import type { LayoutOperationName } from "../../../protocol/api/operationRoutes.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { type GivingPositional, type OperationCommand, operationCommand } from "./operationCommand.ts";
import { PANE, PANE_OR_THIS, SESSION } from "./paneArguments.ts";
import { usageError } from "../../cli/parseCommand.ts";

const WINDOW: GivingPositional = {
  gives: "window",
  name: "WINDOW",
  description: "a window such as @3, a pane such as %5 (its window), or a session (its active window)",
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
  description: "the program to run and its arguments; if omitted, your shell",
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
    examples: [{ line: "tmuxwire new-window work --name logs -- tail -f log", does: "and make it active" }],
  },
  {
    name: "split-window",
    aliases: ["split"],
    positionals: [PANE, COMMAND],
    examples: [{ line: "tmuxwire split work --direction horizontal --size 30%", does: "a narrow pane beside it" }],
  },
  {
    name: "kill-pane",
    positionals: [PANE_OR_THIS],
    examples: [{ line: "tmuxwire kill-pane %5", does: "also its window, if it is the last pane there" }],
  },
  {
    name: "kill-window",
    positionals: [WINDOW],
    examples: [{ line: "tmuxwire kill-window @3", does: "removed from every session that has it" }],
  },
  {
    name: "rename-window",
    positionals: [WINDOW, NAME],
    examples: [{ line: "tmuxwire rename-window @3 logs", does: "in every session that has it" }],
  },
  {
    name: "rename-session",
    positionals: [SESSION, NAME],
    examples: [{ line: "tmuxwire rename-session work done", does: "its windows stay as they are" }],
  },
  {
    name: "select-pane",
    positionals: [PANE_OR_THIS],
    examples: [{ line: "tmuxwire select-pane work --direction left", does: "the pane left of the active one" }],
  },
  {
    name: "select-window",
    positionals: [WINDOW],
    examples: [{ line: "tmuxwire select-window @3", does: "make it the active window" }],
  },
  {
    name: "swap-pane",
    positionals: [PANE, other("with")],
    examples: [{ line: "tmuxwire swap-pane %5 %7", does: "also between two windows" }],
  },
  {
    name: "move-pane",
    positionals: [PANE, other("to")],
    examples: [{ line: "tmuxwire move-pane %5 %7 --direction horizontal", does: "to the right of %7" }],
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
    tweak: { zoom: { description: "let the pane fill the window" } },
    options: [{ name: "unzoom", type: "flag", description: "show the other panes again" }],
    input: zoomOf,
    examples: [{ line: "tmuxwire resize-pane %5 --cols 40%", does: "as a share of the window" }],
  },
  {
    name: "resize-window",
    positionals: [WINDOW],
    examples: [{ line: "tmuxwire resize-window work --cols 120 --rows 40", does: "whatever the size of its clients" }],
  },
  {
    name: "select-layout",
    positionals: [
      WINDOW,
      {
        gives: "layout",
        name: "LAYOUT",
        description:
          "even-horizontal, even-vertical, main-horizontal, main-vertical, tiled, spread, or a layout string of tmux",
      },
    ],
    examples: [{ line: "tmuxwire select-layout work tiled", does: "all panes the same size" }],
  },
  {
    name: "respawn-pane",
    positionals: [PANE, COMMAND],
    examples: [{ line: "tmuxwire respawn-pane %5 -- make -j8", does: "prints the pane that replaces it" }],
    details: [
      "Kills the pane with its program and makes a new one, with a new id, in its place: tmux's own respawn-pane can crash " +
        "the server while the daemon is connected.",
    ],
  },
  {
    name: "clear-history",
    positionals: [PANE_OR_THIS],
    examples: [{ line: "tmuxwire clear-history work", does: "the screen stays" }],
  },
  ...(["window", "pane"] as const).map((of): LayoutRow => ({
    name: `set-${of}-option`,
    positionals: [
      of === "window" ? WINDOW : PANE,
      {
        gives: "option",
        name: "OPTION",
        description: "a safe option; any other is refused, with a list of those allowed",
      },
      {
        gives: "value",
        name: "VALUE",
        description: "the new value; if omitted, the option is unset",
        optional: true,
      },
    ],
    input: ({ positionals: [, , value] }) => ({ value: value ?? null }),
    examples: [
      {
        line: `tmuxwire set-${of}-option work remain-on-exit on`,
        does: "keep panes readable after their program has ended",
      },
    ],
  })),
];

const TWEAK: LayoutRow["tweak"] = {
  cwd: { value: "DIR", complete: "directory" },
  environment: { short: "e", description: "an environment variable for the program" },
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
  if (options.flag("zoom")) throw usageError("give --zoom or --unzoom, not both");
  return { zoom: false };
}
