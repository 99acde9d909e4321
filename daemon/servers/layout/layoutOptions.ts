/**
 * The options of windows and panes that clients may set. Values are validated here; none of the options runs a command, holds
 * a format or a style, or affects other windows. tmux may still refuse a value that an older version lacks.
 */
import { invalidArgument } from "../../../protocol/errors.ts";

type Values = readonly string[] | { readonly min: number; readonly max: number; readonly percent?: true };

const FLAG = ["on", "off"] as const;
/** The range of all sizes here. */
const CELLS = { min: 1, max: 1_000 } as const;
const SHARE = { ...CELLS, percent: true } as const;

const PANE_OPTIONS: Readonly<Record<string, Values>> = {
  "allow-rename": FLAG,
  "alternate-screen": FLAG,
  "remain-on-exit": ["on", "off", "failed"],
  "scroll-on-clear": FLAG,
  "synchronize-panes": FLAG,
};

const WINDOW_OPTIONS: Readonly<Record<string, Values>> = {
  ...PANE_OPTIONS,
  "aggressive-resize": FLAG,
  "automatic-rename": FLAG,
  "main-pane-height": SHARE,
  "main-pane-width": SHARE,
  "mode-keys": ["vi", "emacs"],
  "monitor-activity": FLAG,
  "monitor-bell": FLAG,
  "monitor-silence": { min: 0, max: 86_400 },
  "other-pane-height": SHARE,
  "other-pane-width": SHARE,
  "pane-base-index": { min: 0, max: 65_535 },
  "pane-border-status": ["off", "top", "bottom"],
  "window-size": ["largest", "smallest", "manual", "latest"],
  "wrap-search": FLAG,
};

/** @throws AppError INVALID_ARGUMENT that lists what is allowed */
export function requireOption(of: "window" | "pane", option: string, value: string | null): void {
  const table = of === "window" ? WINDOW_OPTIONS : PANE_OPTIONS;
  const values = Object.hasOwn(table, option) ? table[option] : undefined;
  if (values === undefined) {
    const names = Object.keys(table).sort();
    throw invalidArgument(`${JSON.stringify(option)} cannot be set; the allowed ${of} options are ${names.join(", ")}`);
  }
  if (value === null || isOneOf(values, value)) return;
  throw invalidArgument(`${option} must be ${described(values)}, not ${JSON.stringify(value)}`);
}

function isOneOf(values: Values, value: string): boolean {
  if (!("min" in values)) return values.includes(value);
  const [, digits, percent] = /^(\d{1,5})(%?)$/.exec(value) ?? [];
  if (digits === undefined) return false;
  const number = Number(digits);
  if (percent === "%") return values.percent === true && number >= 1 && number <= 100;
  return number >= values.min && number <= values.max;
}

const described = (values: Values): string =>
  "min" in values
    ? `${values.min} to ${values.max}${values.percent === true ? ", or 1% to 100%" : ""}`
    : `one of ${values.join(", ")}`;
