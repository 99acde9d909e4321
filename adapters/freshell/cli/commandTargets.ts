/**
 * What a command may be about (seed 002 §5.4): the selector is parsed first, and only then it is known which part of the
 * product serves it. Panes and tabs are a device's, and no device is online; sessions are the server's, and it has none.
 */
import type { Selector } from "../../../protocol/api/freshell/selectors.ts";
import { parseSelector, selectorText } from "../../../protocol/api/freshell/selectors.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { CommandCall, OptionSpec } from "../../bin/cli/commandTypes.ts";
import { CommandFailure } from "./commandFailure.ts";
import { deviceIdentity } from "./deviceIdentity.ts";

export const TAB_OPTION: OptionSpec = {
  name: "tab",
  type: "text",
  value: "TAB",
  description: "the tab of pane-index:N: tab:ID, tab-name:NAME or tab-index:N",
};
export const DEVICE_OPTION: OptionSpec = {
  name: "device",
  type: "text",
  value: "DEVICE",
  description: "the device that has the pane",
  default: "this command line",
};
export const TERMINAL_TARGET: OptionSpec = {
  name: "target",
  type: "text",
  value: "TARGET",
  description: "terminal:ID",
};
/** Of a command that serves panes too. */
export const PANE_TARGET: readonly OptionSpec[] = [
  { ...TERMINAL_TARGET, description: "terminal:ID, pane:ID or pane-index:N" },
  TAB_OPTION,
  DEVICE_OPTION,
];

/** The id of the terminal that `--target` names. @throws AppError INVALID_ARGUMENT, INVALID_TARGET */
export function targetTerminal(call: CommandCall, name: string): string {
  const selector = targetOf(call, name);
  if (selector.type === "terminal") return selector.terminalId;
  throw wrongTarget(name, selector, "terminal:ID");
}

/**
 * The id of the terminal behind `--target`, which may be a pane's.
 * @throws AppError INVALID_ARGUMENT, INVALID_TARGET; NOT_FOUND for a session where one may be given
 * @throws CommandFailure DEVICE_OFFLINE
 */
export function targetOfPane(call: CommandCall, name: string, mayBeSession: boolean): string {
  const selector = targetOf(call, name);
  const tab = call.options.text("tab");
  if (tab !== undefined && !parseSelector(tab).type.startsWith("tab")) {
    throw new AppError("INVALID_TARGET", `--tab is tab:ID, tab-name:NAME or tab-index:N, not ${JSON.stringify(tab)}`);
  }
  switch (selector.type) {
    case "terminal":
      return selector.terminalId;
    case "pane-index":
      if (tab !== undefined) throw ownerOffline(call, selector);
      throw new AppError("INVALID_ARGUMENT", `${selectorText(selector)} counts within a tab: give --tab as well`);
    case "pane":
      throw ownerOffline(call, selector);
    case "session":
      if (mayBeSession)
        throw new AppError("NOT_FOUND", `there is no session ${selector.provider}:${selector.sessionId}`);
      throw wrongTarget(name, selector, "terminal:ID, pane:ID or pane-index:N");
    case "tab":
    case "tab-name":
    case "tab-index":
      throw wrongTarget(name, selector, "terminal:ID, pane:ID or pane-index:N");
  }
}

function targetOf({ options }: CommandCall, name: string): Selector {
  const text = options.text("target");
  if (text !== undefined) return parseSelector(text);
  throw new AppError("INVALID_ARGUMENT", `${name} needs --target terminal:ID; \`freshell list-terminals\` lists them`);
}

const wrongTarget = (name: string, selector: Selector, wanted: string): AppError =>
  new AppError("INVALID_TARGET", `${name} takes ${wanted}, not ${JSON.stringify(selectorText(selector))}`);

function ownerOffline({ io, options }: CommandCall, selector: Selector): CommandFailure {
  const deviceId = options.text("device") ?? deviceIdentity(io).deviceId;
  return new CommandFailure({
    code: "DEVICE_OFFLINE",
    message: `the device ${deviceId}, which would know ${selectorText(selector)}, is not online: give terminal:ID`,
    details: { deviceId },
    stage: "relay",
  });
}
