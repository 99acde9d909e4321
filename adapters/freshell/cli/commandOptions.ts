/** Options that several commands take, and short forms to declare options with. */
import { resolve } from "node:path";
import type { CommandCall, OptionSpec, PositionalSpec } from "../../cli/commandTypes.ts";

export const text = (name: string, value: string, description: string, more: Partial<OptionSpec> = {}): OptionSpec => ({
  name,
  type: "text",
  value,
  description,
  ...more,
});

export const number = (
  name: string,
  value: string,
  description: string,
  more: Partial<OptionSpec> = {},
): OptionSpec => ({ ...text(name, value, description, more), type: "number" });

export const flag = (name: string, description: string, short?: string): OptionSpec => ({
  name,
  short,
  type: "flag",
  description,
});

export const word = (name: string, description: string): PositionalSpec => ({ name, description });

/** The path that a value names: it means the same everywhere on this machine. A quoted `~` is the home directory too. */
export const absolutePath = ({ io }: CommandCall, path: string | undefined): string | undefined =>
  path === undefined || path === ""
    ? path
    : resolve(
        io.cwd,
        path.replace(/^~(?=\/|$)/, () => io.homeDir),
      );

export const TAB_OPTION = text("tab", "TAB", "the tab of pane-index:N: tab:ID, tab-name:NAME or tab-index:N");
export const DEVICE_OPTION = text("device", "DEVICE", "the device that has the pane", { default: "this command line" });
export const TERMINAL_TARGET = text("target", "TARGET", "terminal:ID");
/** For commands that take panes too. */
export const PANE_TARGET: readonly OptionSpec[] = [
  text("target", "TARGET", "terminal:ID, pane:ID or pane-index:N"),
  TAB_OPTION,
  DEVICE_OPTION,
];
export const TAB_TARGET = text("target", "TAB", "tab:ID, tab-name:NAME or tab-index:N");
const PANE_FORMS = "pane:ID, or pane-index:N with --tab; the first index is 0";
export const PANE_OPTIONS: readonly OptionSpec[] = [text("target", "PANE", PANE_FORMS), TAB_OPTION, DEVICE_OPTION];
/** For commands that are about the pane that they run in, where none is named. */
export const OWN_TARGET = text("target", "PANE", PANE_FORMS, { default: "inside a pane, this pane" });
export const OWN_PANE_OPTIONS: readonly OptionSpec[] = [OWN_TARGET, TAB_OPTION, DEVICE_OPTION];
export const REVISION_OPTION = number(
  "expected-revision",
  "N",
  "the layout revision that the change is for; at another one it fails with REVISION_CONFLICT",
  { default: "the current one" },
);
export const KEY_OPTION = text("idempotency-key", "KEY", "a request repeated with this key is done once", {
  default: "a new one",
});
export const STALE_OPTION = flag("allow-stale", "while the device is offline, take the layout that it published last");
export const SHELL_OPTION = text("shell", "SHELL", "a path, or a name from /etc/shells", {
  implied: "system",
  default: "system, which is $SHELL",
});
