/**
 * Targets of commands (seed 002 §5.4): the selector is parsed first and decides who serves it. Panes and tabs are a
 * device's, terminals and sessions the server's.
 */
import type { Selector } from "../../../protocol/api/freshell/selectors.ts";
import { parseSelector, selectorText } from "../../../protocol/api/freshell/selectors.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { CommandCall, OptionSpec } from "../../bin/cli/commandTypes.ts";
import type { FreshellSession } from "./freshellSession.ts";

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
/** For commands that take panes too. */
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

/** The session that `--target` names. @throws AppError INVALID_ARGUMENT, INVALID_TARGET */
export function targetSession(call: CommandCall, name: string): SessionName {
  const selector = targetOf(call, name, "session:PROVIDER:ID; `freshell session-list` lists them");
  if (selector.type !== "session") throw wrongTarget(name, selector, "session:PROVIDER:ID");
  const { provider, sessionId } = selector;
  return { provider, sessionId };
}

export const sessionPath = ({ provider, sessionId }: SessionName): string =>
  `/api/agent-sessions/${provider}/${encodeURIComponent(sessionId)}`;

/**
 * The id of the terminal behind `--target`, which may be a pane: then its owner is asked what the pane shows, and not needed
 * afterwards.
 * @throws AppError INVALID_ARGUMENT, INVALID_TARGET
 * @throws CommandFailure
 */
export async function targetOfPane(call: CommandCall, session: () => FreshellSession, name: string): Promise<string> {
  const content = await contentOf(call, session, name, false);
  if ("terminalId" in content) return content.terminalId;
  throw new AppError("INVALID_TARGET", "the pane shows an agent's session, not a terminal");
}

interface SessionName {
  readonly provider: string;
  readonly sessionId: string;
}
type Content = { readonly terminalId: string } | { readonly sessionRef: SessionName };

/** The target of a wait: a terminal or a session, or the one that a pane shows. @throws as `targetOfPane` */
export const waitTarget = (call: CommandCall, session: () => FreshellSession, name: string): Promise<Content> =>
  contentOf(call, session, name, true);

async function contentOf(
  call: CommandCall,
  session: () => FreshellSession,
  name: string,
  mayBeSession: boolean,
): Promise<Content> {
  const forms = `terminal:ID, pane:ID${mayBeSession ? ", pane-index:N or session:PROVIDER:ID" : " or pane-index:N"}`;
  const selector = targetOf(call, name);
  const tab = call.options.text("tab");
  if (tab !== undefined && !parseSelector(tab).type.startsWith("tab")) {
    throw new AppError("INVALID_TARGET", `--tab is tab:ID, tab-name:NAME or tab-index:N, not ${JSON.stringify(tab)}`);
  }
  switch (selector.type) {
    case "terminal":
      return { terminalId: selector.terminalId };
    case "pane-index":
      if (tab !== undefined) return contentOfPane(call, session, selector);
      throw new AppError("INVALID_ARGUMENT", `${selectorText(selector)} counts within a tab: give --tab as well`);
    case "pane":
      return contentOfPane(call, session, selector);
    case "session": {
      const { provider, sessionId } = selector;
      if (mayBeSession) return { sessionRef: { provider, sessionId } };
      throw wrongTarget(name, selector, forms);
    }
    case "tab":
    case "tab-name":
    case "tab-index":
      throw wrongTarget(name, selector, forms);
  }
}

async function contentOfPane(call: CommandCall, session: () => FreshellSession, selector: Selector): Promise<Content> {
  // Loaded only when needed: commands on terminals stay fast.
  const { DeviceCalls } = await import("./deviceCalls.ts");
  const pane = await new DeviceCalls(call, session).resolve(selectorText(selector), call.options.text("tab"));
  const { paneId, kind, contentRef } = pane;
  if (contentRef !== null) {
    if ("terminalId" in contentRef) return contentRef;
    const { provider, sessionId } = contentRef.sessionRef;
    return { sessionRef: { provider, sessionId } };
  }
  throw new AppError("INVALID_TARGET", `pane:${paneId} shows no terminal (${kind})`, { details: { paneId, kind } });
}

function targetOf(
  { options }: CommandCall,
  name: string,
  wanted = "terminal:ID; `freshell list-terminals` lists them",
): Selector {
  const text = options.text("target");
  if (text !== undefined) return parseSelector(text);
  throw new AppError("INVALID_ARGUMENT", `${name} needs --target ${wanted}`);
}

const wrongTarget = (name: string, selector: Selector, wanted: string): AppError =>
  new AppError("INVALID_TARGET", `${name} takes ${wanted}, not ${JSON.stringify(selectorText(selector))}`);
