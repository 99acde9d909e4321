/**
 * Operations on windows and panes of the stub, in which each session always has one window with one pane. Operations on that
 * pane behave as in tmux; operations that need another pane are refused.
 */
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import type { PaneId, SessionId, WindowId } from "../../../protocol/ids.ts";
import type { LayoutOperation, LayoutResult } from "../../tmux/layout.ts";
import type { TmuxServer } from "../../tmux/tmuxServer.ts";
import { requireOption } from "../layout/layoutOptions.ts";
import { requireLayout, requireWindowName } from "../layout/layoutRules.ts";
import { duplicate, requireSessionName, requireSize } from "../sessionRules.ts";
import type { StubSession } from "./stubSession.ts";

/** @param sessions all sessions */
export async function runStubOperation(
  stub: Pick<TmuxServer, "resize" | "killSession">,
  sessions: readonly StubSession[],
  operation: LayoutOperation,
): Promise<LayoutResult> {
  const session = sessionOf(sessions, operation);
  const { info, window, pane } = session;
  const here = { session: info.id, window: window.id };
  switch (operation.kind) {
    case "kill-pane":
    case "kill-window":
      await stub.killSession(info.id);
      return { session: info.id };
    case "rename-session":
      requireSessionName(operation.name);
      if (sessions.some((other) => other !== session && other.info.name === operation.name))
        throw duplicate(operation.name);
      session.info = { ...info, name: operation.name };
      return { session: info.id };
    case "rename-window":
      requireWindowName(operation.name);
      session.window = { ...window, name: operation.name };
      return here;
    case "resize-window": {
      const { cols = pane.cols, rows = pane.rows, automatic } = operation;
      requireSize(operation.cols, operation.rows);
      if (automatic !== true) await stub.resize(pane.id, cols, rows);
      return here;
    }
    case "set-window-option":
      requireOption("window", operation.option, operation.value);
      return here;
    case "set-pane-option":
      requireOption("pane", operation.option, operation.value);
      return { ...here, pane: pane.id };
    case "select-layout":
      if (operation.layout !== "spread") requireLayout(operation.layout, 1);
      return here;
    case "select-window":
      return here;
    case "select-pane":
    case "clear-history":
      return { ...here, pane: pane.id };
    case "new-window":
    case "split-window":
    case "swap-pane":
    case "move-pane":
    case "join-pane":
    case "break-pane":
    case "resize-pane":
    case "respawn-pane":
      throw invalidArgument(`${operation.kind} is not supported: a session of the stub has one window with one pane`);
  }
}

/** @throws AppError NOT_FOUND */
function sessionOf(sessions: readonly StubSession[], operation: LayoutOperation): StubSession {
  const asked: readonly (PaneId | WindowId | SessionId | undefined)[] = [
    "pane" in operation ? operation.pane : undefined,
    "window" in operation ? operation.window : undefined,
    "session" in operation ? operation.session : undefined,
  ];
  const named = asked.find((id) => id !== undefined);
  const session = sessions.find(
    ({ info, window, pane }) => named === info.id || named === window.id || named === pane.id,
  );
  if (session === undefined) throw new AppError("NOT_FOUND", `${named} does not exist; list the panes again`);
  return session;
}
