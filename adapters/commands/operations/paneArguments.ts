/** Arguments that several commands take. */
import type { CommandCall, OptionSpec } from "../../cli/commandTypes.ts";
import type { GivingPositional } from "./operationCommand.ts";

export const PANE: GivingPositional = {
  gives: "pane",
  name: "PANE",
  description:
    "a pane such as %5 or 5, a session's name (its active pane), an agent's name, or inside tmux . (this pane)",
  isPane: true,
  names: "pane",
};
/** For commands that take no argument after PANE. */
export const PANE_OR_THIS: GivingPositional = { ...PANE, optional: true };
export const SESSION: GivingPositional = {
  gives: "session",
  name: "SESSION",
  description: "its exact name, or its id such as $3",
  names: "session",
};

export const AGENT: GivingPositional = {
  gives: "agent",
  name: "AGENT",
  description: "an agent's name or id",
  names: "agent",
};

/** Default of `--cwd`. */
export const HERE_OR_HOME = "the current directory; for a server of a host, your home directory there";

const MAX_TIMEOUT_SEC = 3_600;
export const TIMEOUT_OPTION: OptionSpec = {
  name: "timeout",
  short: "t",
  type: "number",
  value: "SECONDS",
  description: "give up after this long, with exit code 124",
  default: "30",
  min: 0.001,
  max: MAX_TIMEOUT_SEC,
};

/** @param effect of repeating it */
export const keyOption = (effect: string): OptionSpec => ({
  name: "key",
  short: "k",
  type: "text",
  value: "KEY",
  description: `idempotency key: repeating it ${effect}`,
});

export const timeoutOf = ({ options }: CommandCall): { timeoutMs?: number } => {
  const seconds = options.number("timeout");
  return seconds === undefined ? {} : { timeoutMs: Math.ceil(seconds * 1_000) };
};
