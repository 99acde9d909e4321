/**
 * The commands on windows and panes: one for each operation of the API, under tmux's own name. Positionals and options are
 * the members of the operation's body; nothing about tmux is decided here.
 */
import { resolve } from "node:path";
import {
  LAYOUT_OPERATIONS,
  type NativeLayoutRequest,
  type NativeLayoutResult,
} from "../../protocol/api/nativeLayout.ts";
import type { LayoutOperationName } from "../../protocol/api/operationRoutes.ts";
import { CLIENT_OPTIONS, connect } from "./clientConnection.ts";
import type { CommandCall, CommandSpec, Example, OptionSpec, PositionalSpec } from "./commandTypes.ts";
import { PANE } from "./paneCommands.ts";
import { usageError } from "./parseCommand.ts";

const SESSION: PositionalSpec = { name: "SESSION", description: "its name, exactly, or its id such as $3" };
const WINDOW: PositionalSpec = {
  name: "WINDOW",
  description: "a window such as @3, that of a pane such as %5, or a session: its active one",
};
const OTHER: PositionalSpec = { name: "OTHER", description: "the other pane" };
const NAME: PositionalSpec = { name: "NAME", description: "the new name" };
const COMMAND: PositionalSpec = {
  name: "COMMAND",
  description: "the program to run and its arguments; your shell when there is none",
  optional: true,
  many: true,
};

const MAX_CELLS = 1_000;
const text = (name: string, value: string, description: string): OptionSpec => ({
  name,
  type: "text",
  value,
  description,
});
const flag = (name: string, description: string): OptionSpec => ({ name, type: "flag", description });
const cells = (name: string, description: string): OptionSpec => ({
  name,
  type: "number",
  value: "N",
  description,
  min: 1,
  max: MAX_CELLS,
});

const SIDES = ["up", "down", "left", "right"] as const;
const DETACHED = flag("detached", "leave what is active as it is");
const CWD: OptionSpec = { ...text("cwd", "DIR", "where the program runs"), complete: "directory" };
const ENVIRONMENT: OptionSpec = {
  name: "environment",
  short: "e",
  type: "list",
  value: "NAME=VALUE",
  description: "a variable of the program",
};
const SIZE = text("size", "SIZE", "its share: cells, or percent such as 30%");
const PLACE: readonly OptionSpec[] = [
  {
    ...text("direction", "DIRECTION", "below, or beside the other"),
    choices: ["vertical", "horizontal"],
    default: "vertical",
  },
  SIZE,
  flag("before", "above, or to the left"),
  flag("full", "as wide or high as the window"),
  DETACHED,
];
const SIDE = (description: string): OptionSpec => ({ ...text("direction", "SIDE", description), choices: SIDES });

interface Row {
  readonly name: LayoutOperationName;
  /** Which members of the body the positionals are; `command` takes the rest. */
  readonly members: readonly string[];
  readonly positionals: readonly PositionalSpec[];
  readonly options: readonly OptionSpec[];
  readonly examples: readonly Example[];
  readonly details?: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    name: "new-window",
    members: ["session", "command"],
    positionals: [SESSION, COMMAND],
    options: [
      text("name", "NAME", "what it is called"),
      text("after", "WINDOW", "right behind this one"),
      DETACHED,
      CWD,
      ENVIRONMENT,
    ],
    examples: [{ line: "tmuxwire new-window work --name logs -- tail -f log", does: "and show it" }],
  },
  {
    name: "split-window",
    members: ["pane", "command"],
    positionals: [PANE, COMMAND],
    options: [...PLACE, CWD, ENVIRONMENT],
    examples: [{ line: "tmuxwire split-window work --direction horizontal --size 30%", does: "a narrow one beside" }],
  },
  {
    name: "kill-pane",
    members: ["pane"],
    positionals: [PANE],
    options: [],
    examples: [{ line: "tmuxwire kill-pane %5", does: "and its window, if it is the only one there" }],
  },
  {
    name: "kill-window",
    members: ["window"],
    positionals: [WINDOW],
    options: [],
    examples: [{ line: "tmuxwire kill-window @3", does: "in every session that has it" }],
  },
  {
    name: "rename-window",
    members: ["window", "name"],
    positionals: [WINDOW, NAME],
    options: [],
    examples: [{ line: "tmuxwire rename-window @3 logs", does: "for everybody" }],
  },
  {
    name: "rename-session",
    members: ["session", "name"],
    positionals: [SESSION, NAME],
    options: [],
    examples: [{ line: "tmuxwire rename-session work done", does: "and nothing in it changes" }],
  },
  {
    name: "select-pane",
    members: ["pane"],
    positionals: [PANE],
    options: [SIDE("its neighbour on this side instead")],
    examples: [{ line: "tmuxwire select-pane work --direction left", does: "the one left of the active one" }],
  },
  {
    name: "select-window",
    members: ["window"],
    positionals: [WINDOW],
    options: [text("session", "SESSION", "only in this one of its sessions")],
    examples: [{ line: "tmuxwire select-window @3", does: "show it" }],
  },
  {
    name: "swap-pane",
    members: ["pane", "with"],
    positionals: [PANE, OTHER],
    options: [DETACHED],
    examples: [{ line: "tmuxwire swap-pane %5 %7", does: "of two windows, too" }],
  },
  {
    name: "move-pane",
    members: ["pane", "to"],
    positionals: [PANE, OTHER],
    options: PLACE,
    examples: [{ line: "tmuxwire move-pane %5 %7 --direction horizontal", does: "right of it" }],
  },
  {
    name: "join-pane",
    members: ["pane", "to"],
    positionals: [PANE, OTHER],
    options: PLACE,
    examples: [{ line: "tmuxwire join-pane %5 work", does: "below the active pane of a session" }],
  },
  {
    name: "break-pane",
    members: ["pane"],
    positionals: [PANE],
    options: [
      text("session", "SESSION", "where the window is made"),
      text("name", "NAME", "what the window is called"),
      DETACHED,
    ],
    examples: [{ line: "tmuxwire break-pane %5 --name logs", does: "into a window of its own" }],
  },
  {
    name: "resize-pane",
    members: ["pane"],
    positionals: [PANE],
    options: [
      text("cols", "SIZE", "its width: cells, or percent of the window"),
      text("rows", "SIZE", "its height: cells, or percent of the window"),
      SIDE("move its border to this side"),
      cells("cells", "by so many"),
      flag("zoom", "let it cover the window"),
      flag("unzoom", "take that back"),
    ],
    examples: [{ line: "tmuxwire resize-pane %5 --cols 40%", does: "a share of the window" }],
  },
  {
    name: "resize-window",
    members: ["window"],
    positionals: [WINDOW],
    options: [
      cells("cols", "its width"),
      cells("rows", "its height"),
      flag("automatic", "let the terminals that show it decide again"),
    ],
    examples: [{ line: "tmuxwire resize-window work --cols 120 --rows 40", does: "whatever shows it" }],
  },
  {
    name: "select-layout",
    members: ["window", "layout"],
    positionals: [
      WINDOW,
      {
        name: "LAYOUT",
        description:
          "even-horizontal, even-vertical, main-horizontal, main-vertical, tiled, spread, or one as tmux writes it",
      },
    ],
    options: [],
    examples: [{ line: "tmuxwire select-layout work tiled", does: "the same room for all" }],
  },
  {
    name: "respawn-pane",
    members: ["pane", "command"],
    positionals: [PANE, COMMAND],
    options: [CWD, ENVIRONMENT],
    examples: [{ line: "tmuxwire respawn-pane %5 -- make -j8", does: "in a new pane in its place, which is printed" }],
    details: [
      "The old pane ends with its program. The new one has another id: tmux's own way can end the whole server while " +
        "the daemon is connected.",
    ],
  },
  {
    name: "clear-history",
    members: ["pane"],
    positionals: [PANE],
    options: [],
    examples: [{ line: "tmuxwire clear-history work", does: "and keep the screen" }],
  },
  ...(["window", "pane"] as const).map((of): Row => ({
    name: `set-${of}-option`,
    members: [of, "option", "value"],
    positionals: [
      of === "window" ? WINDOW : PANE,
      { name: "OPTION", description: "one that is safe; others are refused with the list" },
      { name: "VALUE", description: "what it is set to; without it its own value is taken back", optional: true },
    ],
    options: [],
    examples: [{ line: `tmuxwire set-${of}-option work remain-on-exit on`, does: "keep what has ended readable" }],
  })),
];

export const LAYOUT_COMMANDS: readonly CommandSpec[] = ROWS.map((row) => ({
  name: row.name,
  summary: lowered(LAYOUT_OPERATIONS[row.name].summary),
  ...(row.details === undefined ? {} : { details: row.details }),
  positionals: row.positionals,
  options: [...row.options, ...CLIENT_OPTIONS],
  examples: row.examples,
  run: (call) => run(call, row),
}));

async function run(call: CommandCall, row: Row): Promise<number> {
  const { io, options } = call;
  const body = bodyOf(call, row) as NativeLayoutRequest<typeof row.name>;
  const result = await (await connect(call)).layout.run(row.name, body, { signal: io.signal });
  if (options.flag("json")) await io.out(`${JSON.stringify(result)}\n`);
  else if (MAKES.has(row.name)) await io.out(`${shown(result)}\n`);
  return 0;
}

/** Whose result is what one goes on with. */
const MAKES: ReadonlySet<string> = new Set(["new-window", "split-window", "break-pane", "respawn-pane"]);
const shown = ({ window, pane }: NativeLayoutResult): string => pane ?? window ?? "";

function bodyOf({ io, options, positionals }: CommandCall, row: Row): object {
  const body: Record<string, unknown> = {};
  for (const [at, member] of row.members.entries()) {
    if (member === "command") {
      if (positionals.length > at) body["command"] = positionals.slice(at);
    } else if (member === "value") body["value"] = positionals[at] ?? null;
    else body[member] = positionals[at];
  }
  for (const { name, type } of row.options) {
    if (type === "flag" && options.flag(name)) body[name] = true;
    const given = type === "number" ? options.number(name) : options.text(name);
    if (given === undefined) continue;
    if (name === "cwd") body["cwd"] = resolve(io.cwd, String(given));
    else body[name] = SIZES.has(name) && /^\d+$/.test(String(given)) ? Number(given) : given;
  }
  if (body["zoom"] === true && body["unzoom"] === true) throw usageError("--zoom and --unzoom exclude each other");
  if (body["unzoom"] === true) {
    delete body["unzoom"];
    body["zoom"] = false;
  }
  const environment = options.list("environment");
  if (environment.length > 0) body["environment"] = Object.fromEntries(environment.map(variable));
  return body;
}

const SIZES: ReadonlySet<string> = new Set(["size", "cols", "rows"]);

function variable(given: string): readonly [string, string] {
  const at = given.indexOf("=");
  if (at < 1) throw usageError(`--environment is NAME=VALUE, not ${JSON.stringify(given)}`);
  return [given.slice(0, at), given.slice(at + 1)];
}

function lowered(summary: string): string {
  return (summary.charAt(0).toLowerCase() + summary.slice(1)).replace(/\.$/, "");
}
