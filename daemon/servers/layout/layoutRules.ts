/** Validates the arguments of operations on windows and panes, and translates tmux's refusals. */
import { AppError, type ErrorCode, invalidArgument } from "../../../protocol/errors.ts";
import { panesOfLayout, parseLayout } from "../../../protocol/windowLayout.ts";
import { isRefusal } from "../../connection/commandQueue.ts";
import type { NewPaneProgram, PaneSize } from "../../../protocol/command/encode.ts";
import { NAMED_LAYOUTS } from "../../tmux/layout.ts";
import { requireSize } from "../sessionRules.ts";

const MAX_NAME_CHARS = 256;
const MAX_PATH_CHARS = 4_096;
const MAX_CELLS = 1_000;
const MAX_ARGUMENTS = 1_024;
const MAX_VARIABLES = 256;

function refuse(message: string): never {
  throw invalidArgument(message);
}

/** Refuses control characters, because each version of tmux escapes them differently. */
export function requireWindowName(name: string): void {
  if (name === "" || name.length > MAX_NAME_CHARS || /\p{C}/u.test(name))
    refuse(`a window name must have 1 to ${MAX_NAME_CHARS} characters, without control characters`);
}

export function requireProgram({ command, cwd, environment = {} }: NewPaneProgram): void {
  if (command !== undefined && (command.length === 0 || command.length > MAX_ARGUMENTS || command[0] === ""))
    refuse(`command must be a program and up to ${MAX_ARGUMENTS} arguments`);
  if (command?.some((word) => word.includes("\0")) === true) refuse("command: an argument cannot contain NUL");
  if (cwd !== undefined && (!cwd.startsWith("/") || cwd.length > MAX_PATH_CHARS || cwd.includes("\0")))
    refuse("cwd must be an absolute path");
  const variables = Object.entries(environment);
  if (variables.length > MAX_VARIABLES) refuse(`environment must have at most ${MAX_VARIABLES} variables`);
  for (const [name, value] of variables) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name) || value.includes("\0"))
      refuse(`environment: ${JSON.stringify(name)} is not a variable name, or its value contains NUL`);
  }
}

export function requirePaneSize(size: PaneSize | undefined): void {
  if (size === undefined) return;
  const [, percent] = typeof size === "string" ? (/^(\d{1,3})%$/.exec(size) ?? []) : [];
  const [value, max] = typeof size === "number" ? [size, MAX_CELLS] : [Number(percent), 100];
  if (!(Number.isInteger(value) && value >= 1 && value <= max))
    refuse(`a size must be 1 to ${MAX_CELLS} cells, or 1% to 100%`);
}

export function requireCells(cells: number): void {
  if (!(Number.isInteger(cells) && cells >= 1 && cells <= MAX_CELLS)) refuse(`cells must be 1 to ${MAX_CELLS}`);
}

/**
 * Returns the layout for tmux, which assigns panes in its own order and ignores the pane numbers in the layout. A layout
 * with fewer cells than there are panes is refused here; tmux itself would refuse it later, and drop cells from one with more.
 */
export function requireLayout(layout: string, panes: number): void {
  if (NAMED_LAYOUTS.some((name) => name === layout)) return;
  const root = parseLayout(layout);
  if (root === undefined) {
    refuse(
      `layout must be spread, one of ${NAMED_LAYOUTS.join(", ")}, or a valid layout string of tmux (#{window_layout})`,
    );
  }
  requireSize(root.cols, root.rows);
  const cells = panesOfLayout(root).length;
  if (cells !== panes)
    throw new AppError(
      "INCONSISTENT_STATE",
      `the layout has ${cells} panes but the window has ${panes}; list the panes again`,
    );
}

/** tmux's own message says what is wrong; this table adds the code and what to do next. */
const MEANINGS: readonly (readonly [RegExp, ErrorCode, string])[] = [
  [/can't find|no such (?:pane|window|session)/i, "NOT_FOUND", "; list the panes again"],
  [/invalid (?:window |session )?(?:name|option|value)|unknown value/i, "INVALID_ARGUMENT", ""],
  [/duplicate session/, "ALREADY_EXISTS", ""],
  [/fork failed|create pane failed: (?:fork|pty)|too many/i, "RESOURCE_LIMIT", "; close some panes first"],
  [
    /no space for (?:a )?new pane|pane too small|size or position|too big or too small/i,
    "INCONSISTENT_STATE",
    "; make the window larger, or close a pane",
  ],
  [/have \d+ panes|must be different|can't break|can't (?:zoom|move)|one pane/i, "INCONSISTENT_STATE", ""],
];

export function operationError(error: unknown): unknown {
  if (!isRefusal(error)) return error;
  const [, code, next] = MEANINGS.find(([words]) => words.test(error.message)) ?? [];
  return code === undefined ? error : new AppError(code, `${error.message}${next}`, { cause: error });
}
