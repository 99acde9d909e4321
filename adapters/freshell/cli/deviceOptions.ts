/** Options that several commands about a device's layout take. */
import type { OptionSpec, PositionalSpec } from "../../bin/cli/commandTypes.ts";
import { DEVICE_OPTION, TAB_OPTION } from "./commandTargets.ts";

export const text = (name: string, value: string, description: string, more: Partial<OptionSpec> = {}): OptionSpec => ({
  name,
  type: "text",
  value,
  description,
  ...more,
});

export const word = (name: string, description: string): PositionalSpec => ({ name, description });

export const TAB_TARGET: OptionSpec = text("target", "TAB", "tab:ID, tab-name:NAME or tab-index:N");
export const PANE_OPTIONS: readonly OptionSpec[] = [
  text("target", "PANE", "pane:ID, or pane-index:N with --tab; the first index is 0"),
  TAB_OPTION,
  DEVICE_OPTION,
];
export const REVISION_OPTION: OptionSpec = {
  name: "expected-revision",
  type: "number",
  value: "N",
  description: "the layout's revision that the change is meant for; another one is REVISION_CONFLICT",
  default: "the one of now",
};
export const KEY_OPTION: OptionSpec = text("idempotency-key", "KEY", "asked again with it, it is done once", {
  default: "a new one",
});
export const STALE_OPTION: OptionSpec = {
  name: "allow-stale",
  type: "flag",
  description: "what the device published last will do while it is offline",
};
export const SHELL_OPTION: OptionSpec = text("shell", "SHELL", "a path, or a name out of /etc/shells", {
  implied: "system",
  default: "system, which is $SHELL",
});
