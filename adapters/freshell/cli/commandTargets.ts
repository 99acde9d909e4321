/**
 * Targets of commands (seed 002 §5.4): the selector is parsed first and decides who serves it. Panes and tabs are a
 * device's, terminals and sessions the server's.
 */
import { parseSelector, type Selector, selectorText } from "../../../protocol/api/freshell/selectors.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { type FreshellCall } from "./freshellCommand.ts";

interface SessionName {
  readonly provider: string;
  readonly sessionId: string;
}
type Content = { readonly terminalId: string } | { readonly sessionRef: SessionName };

/** The path of the terminal that `--target` names. @throws AppError INVALID_ARGUMENT, INVALID_TARGET */
export function terminalPath(call: FreshellCall): string {
  const selector = targetOf(call);
  if (selector.type === "terminal") return `/api/terminals/${selector.terminalId}`;
  throw wrongTarget(call, selector, "terminal:ID");
}

/** The session that `--target` names. @throws AppError INVALID_ARGUMENT, INVALID_TARGET */
export function targetSession(call: FreshellCall): SessionName {
  const selector = targetOf(call, "session:PROVIDER:ID; `freshell session-list` lists them");
  if (selector.type === "session") return sessionName(selector);
  throw wrongTarget(call, selector, "session:PROVIDER:ID");
}

const sessionName = ({ provider, sessionId }: SessionName): SessionName => ({ provider, sessionId });

/** @throws as `targetSession` */
export function sessionPath(call: FreshellCall): string {
  const { provider, sessionId } = targetSession(call);
  return `/api/agent-sessions/${provider}/${encodeURIComponent(sessionId)}`;
}

/**
 * The path of the terminal behind `--target`, which may be a pane: then its owner is asked what the pane shows, and not needed
 * afterwards.
 * @throws AppError INVALID_ARGUMENT, INVALID_TARGET, and what the owner refuses
 */
export async function pathOfPane(call: FreshellCall): Promise<string> {
  const content = await contentOf(call, "terminal:ID, pane:ID or pane-index:N", false);
  if ("terminalId" in content) return `/api/terminals/${content.terminalId}`;
  throw new AppError("INVALID_TARGET", "the pane shows an agent's session, not a terminal");
}

/** The target of a wait: a terminal or a session, or the one that a pane shows. @throws as `pathOfPane` */
export const waitTarget = (call: FreshellCall): Promise<Content> =>
  contentOf(call, "terminal:ID, pane:ID, pane-index:N or session:PROVIDER:ID", true);

async function contentOf(call: FreshellCall, forms: string, mayBeSession: boolean): Promise<Content> {
  const selector = targetOf(call);
  const tab = call.options.text("tab");
  if (tab !== undefined && !parseSelector(tab).type.startsWith("tab")) {
    throw new AppError("INVALID_TARGET", `--tab is tab:ID, tab-name:NAME or tab-index:N, not ${JSON.stringify(tab)}`);
  }
  const { type } = selector;
  if (type === "terminal") return { terminalId: selector.terminalId };
  if (type === "session" && mayBeSession) return { sessionRef: sessionName(selector) };
  if (type !== "pane" && type !== "pane-index") throw wrongTarget(call, selector, forms);
  if (type === "pane-index" && tab === undefined)
    throw invalidArgument(`${selectorText(selector)} counts within a tab: give --tab as well`);
  // Loaded only when needed: commands on terminals stay fast.
  const { DeviceCalls } = await import("./deviceCalls.ts");
  const { paneId, kind, contentRef } = await new DeviceCalls(call).resolve(selectorText(selector), tab);
  if (contentRef === null) {
    throw new AppError("INVALID_TARGET", `pane:${paneId} does not show a terminal (${kind})`, {
      details: { paneId, kind },
    });
  }
  return "terminalId" in contentRef ? contentRef : { sessionRef: sessionName(contentRef.sessionRef) };
}

/** The pane that the command line runs in, and its device; undefined where a target, a tab or another device is named. */
export function ownPane({
  io,
  options,
}: CommandCall): { readonly target: string; readonly device: string } | undefined {
  const { FRESHELL_PANE_ID: pane, FRESHELL_DEVICE_ID: device } = io.env;
  if (pane === undefined || pane === "" || device === undefined || device === "") return undefined;
  if (["target", "tab"].some((name) => options.text(name) !== undefined)) return undefined;
  return [undefined, device].includes(options.text("device")) ? { target: `pane:${pane}`, device } : undefined;
}

function targetOf(
  { options, name }: FreshellCall,
  wanted = "terminal:ID; `freshell list-terminals` lists them",
): Selector {
  const given = options.text("target");
  if (given !== undefined) return parseSelector(given);
  throw invalidArgument(`${name} needs --target ${wanted}`);
}

const wrongTarget = ({ name }: FreshellCall, selector: Selector, wanted: string): AppError =>
  new AppError("INVALID_TARGET", `${name} takes ${wanted}, not ${JSON.stringify(selectorText(selector))}`);
