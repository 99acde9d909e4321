/**
 * Operations on windows and panes of a real tmux. Targets are looked up in the inventory, invalid requests are refused before
 * anything is sent, each operation is one line of commands, and it is complete when a listing requested afterwards has come.
 * New windows reach the hub by its hook, like all others; the hub itself is never a target.
 */
import * as build from "../../../protocol/command/layoutCommands.ts";
import type { PaneTarget, WindowTarget } from "../../../protocol/command/layoutCommands.ts";
import {
  endingInNextTurn,
  renameSession,
  resizeWindow,
  setPaneOption,
  unzoom,
  unzoomPane,
  unsetPaneOption,
  zoomPane,
} from "../../../protocol/command/build.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import type { PaneId, SessionId, WindowId } from "../../../protocol/ids.ts";
import type { LayoutOperation, LayoutResult } from "../../tmux/layout.ts";
import { endedAtOnce } from "../endedAtOnce.ts";
import { requireOption } from "./layoutOptions.ts";
import {
  operationError,
  requireCells,
  requireLayout,
  requirePaneSize,
  requireProgram,
  requireWindowName,
} from "./layoutRules.ts";
import {
  paneTarget,
  requireSession,
  sessionsOnlyOf,
  sessionsWith,
  type TargetHost,
  windowTarget,
} from "./layoutTargets.ts";
import { duplicate, requireSessionName, requireSize } from "../sessionRules.ts";
import { MADE_PANE } from "../../../protocol/command/formats.ts";
import type { RowOf } from "../../../protocol/command/rowFormat.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";

/** The parts that differ between an owned server and a guest. */
export interface LayoutHost extends TargetHost {
  /** @throws AppError CONNECTION_LOST */
  connection(): ControlConnection;
  /** Resolves after a listing of all places and of these windows that was requested after this call. */
  list(windows: readonly WindowId[]): Promise<void>;
  /** Around `make`, which sends what starts this program in a pane at once. */
  starting<T>(command: readonly string[] | undefined, make: () => Promise<T>): Promise<T>;
  /** Runs `end`, which may end these sessions; our clients in them move elsewhere first. Resolves after a listing. */
  ending(sessions: readonly SessionId[], end: () => Promise<unknown>): Promise<void>;
}

type Of<Kind extends LayoutOperation["kind"]> = Extract<LayoutOperation, { kind: Kind }>;

export async function runOperation(host: LayoutHost, operation: LayoutOperation): Promise<LayoutResult> {
  try {
    return await perform(host, operation);
  } catch (error) {
    throw operationError(error);
  }
}

function perform(host: LayoutHost, operation: LayoutOperation): Promise<LayoutResult> {
  switch (operation.kind) {
    case "new-window":
      return newWindow(host, operation);
    case "split-window":
      return splitWindow(host, operation);
    case "kill-pane":
      return killPane(host, operation.pane);
    case "kill-window":
      return killWindow(host, operation.window);
    case "rename-window": {
      requireWindowName(operation.name);
      const target = windowTarget(host, operation.window);
      return onWindow(host, target, [build.renameWindow(target, operation.name)]);
    }
    case "rename-session":
      return rename(host, operation);
    case "select-pane": {
      const target = paneTarget(host, operation.pane);
      return onPane(host, target, [build.selectPane(target, operation.direction)]);
    }
    case "select-window":
      return selectWindow(host, operation);
    case "swap-pane":
      return swapPane(host, operation);
    case "move-pane":
    case "join-pane":
      return movePane(host, operation);
    case "break-pane":
      return breakPane(host, operation);
    case "resize-pane":
      return resizePane(host, operation);
    case "resize-window":
      return resizeWindowTo(host, operation);
    case "select-layout":
      return selectLayout(host, operation);
    case "respawn-pane":
      return respawnPane(host, operation);
    case "clear-history": {
      const target = paneTarget(host, operation.pane);
      return onPane(host, target, [build.clearHistory(target.pane)]);
    }
    case "set-window-option":
      return setWindowOption(host, operation);
    case "set-pane-option":
      return setOptionOfPane(host, operation);
  }
}

async function newWindow(host: LayoutHost, operation: Of<"new-window">): Promise<LayoutResult> {
  const { session, name, after } = operation;
  requireProgram(operation);
  if (name !== undefined) requireWindowName(name);
  requireSession(host, session);
  const at = after === undefined ? session : windowTarget(host, after, session);
  return made(host, session, build.newWindow(at, operation), operation.command);
}

async function splitWindow(host: LayoutHost, operation: Of<"split-window">): Promise<LayoutResult> {
  requireProgram(operation);
  requirePaneSize(operation.size);
  const target = paneTarget(host, operation.pane);
  return made(host, target.session, build.splitWindow(target, operation), operation.command);
}

/** @throws AppError TMUX_COMMAND_FAILED if the program exited immediately and its pane is already gone */
async function made(
  host: LayoutHost,
  session: SessionId,
  command: string,
  program: readonly string[] | undefined,
): Promise<LayoutResult> {
  const ids = await makePane(host, command, program);
  await host.list([ids.window]);
  if (host.inventory.findPane(ids.pane) === undefined) throw await endedAtOnce(host.connection(), "the pane", program);
  return { session, ...ids };
}

/** @param command that prints `MADE_PANE` @param program that it starts */
async function makePane(
  host: LayoutHost,
  command: string,
  program: readonly string[] | undefined,
): Promise<RowOf<typeof MADE_PANE>> {
  const { body } = await host.starting(program, () => host.connection().command(command));
  const pane = MADE_PANE.decodeOne(body);
  if (pane === undefined) throw new AppError("PROTOCOL_ERROR", "tmux did not report the new pane; list the panes");
  return pane;
}

/**
 * Uses tmux's own command, whatever else it closes, because another pane or window may have been created at the same time
 * without our knowledge.
 */
async function killPane(host: LayoutHost, pane: PaneId): Promise<LayoutResult> {
  const target = paneTarget(host, pane);
  const isAlone = host.inventory.panesOf(target.window).length <= 1;
  const ending = isAlone ? sessionsOnlyOf(host, target.window) : [];
  await host.ending(ending, () => host.connection().group(endingInNextTurn(build.killPane(pane))));
  if (ending.length === 0) await host.list([target.window]);
  return { session: target.session };
}

async function killWindow(host: LayoutHost, window: WindowId): Promise<LayoutResult> {
  const target = windowTarget(host, window);
  const ending = sessionsOnlyOf(host, window);
  await host.ending(ending, () => host.connection().group(endingInNextTurn(unzoom(window), build.killWindow(target))));
  return { session: target.session };
}

async function rename(host: LayoutHost, { session, name }: Of<"rename-session">): Promise<LayoutResult> {
  requireSessionName(name);
  requireSession(host, session);
  const other = host.inventory.findSession(name);
  if (other !== undefined && other.id !== session) throw duplicate(name);
  await host.connection().command(renameSession(session, name), "none");
  await host.list([]);
  return { session };
}

async function selectWindow(host: LayoutHost, { window, session }: Of<"select-window">): Promise<LayoutResult> {
  const target = windowTarget(host, window, session);
  const sessions = session === undefined ? sessionsWith(host, window) : [session];
  await host.connection().group(sessions.map((id) => build.selectWindow({ session: id, window })));
  await host.list([]);
  return { session: target.session, window };
}

async function swapPane(host: LayoutHost, operation: Of<"swap-pane">): Promise<LayoutResult> {
  const [one, other] = [paneTarget(host, operation.pane), paneTarget(host, operation.with)];
  await host.connection().command(build.swapPane(one, other, operation.detached), "none");
  await host.list([one.window, other.window]);
  return { session: other.session, window: other.window, pane: one.pane };
}

async function movePane(host: LayoutHost, operation: Of<"move-pane" | "join-pane">): Promise<LayoutResult> {
  requirePaneSize(operation.size);
  const [from, to] = [paneTarget(host, operation.pane), paneTarget(host, operation.to)];
  if (from.pane === to.pane) throw invalidArgument("a pane cannot be moved to itself");
  // A session ends when its only window loses its only pane.
  const isEmptied = from.window !== to.window && host.inventory.panesOf(from.window).length <= 1;
  const ending = isEmptied ? sessionsOnlyOf(host, from.window) : [];
  await host.ending(ending, () => host.connection().group(endingInNextTurn(build.joinPane(from, to, operation))));
  await host.list([from.window, to.window]);
  return { session: to.session, window: to.window, pane: from.pane };
}

async function breakPane(host: LayoutHost, operation: Of<"break-pane">): Promise<LayoutResult> {
  const { name, detached, pane } = operation;
  if (name !== undefined) requireWindowName(name);
  const from = paneTarget(host, pane);
  const session = operation.session ?? from.session;
  requireSession(host, session);
  const isAlone = host.inventory.panesOf(from.window).length <= 1;
  // tmux would move the window to another index of its session, or out of it.
  if (isAlone) throw new AppError("INCONSISTENT_STATE", `pane ${pane} is already the only pane of its window`);
  const naming = name === undefined ? [] : [build.renameWindow(pane, name)];
  await host.connection().group([...endingInNextTurn(build.breakPane(from, session, detached)), ...naming]);
  await host.list([from.window]);
  return { session, window: host.inventory.findPane(pane)?.window, pane };
}

async function resizePane(host: LayoutHost, operation: Of<"resize-pane">): Promise<LayoutResult> {
  const { cols, rows, direction, cells = 1, zoom } = operation;
  requirePaneSize(cols);
  requirePaneSize(rows);
  requireCells(cells);
  const asked = [cols !== undefined || rows !== undefined, direction !== undefined, zoom !== undefined];
  if (asked.filter(Boolean).length !== 1)
    throw invalidArgument("missing size: give cols or rows, a direction with cells, or zoom");
  const target = paneTarget(host, operation.pane);
  if (zoom !== undefined) return onPane(host, target, zoom ? zoomPane(target.pane) : unzoomPane(target.pane));
  const command =
    direction === undefined ? build.resizePane(target, cols, rows) : build.moveBorder(target, direction, cells);
  return onPane(host, target, [command]);
}

async function resizeWindowTo(host: LayoutHost, operation: Of<"resize-window">): Promise<LayoutResult> {
  const { window, cols, rows, automatic } = operation;
  requireSize(cols, rows);
  const isSized = cols !== undefined || rows !== undefined;
  if (isSized === (automatic === true)) throw invalidArgument("give either cols or rows, or automatic");
  const target = windowTarget(host, window);
  const commands = isSized
    ? [resizeWindow(window, cols, rows)]
    : [build.fitWindow(target), build.unsetOwnWindowOption(target, "window-size")];
  return onWindow(host, target, commands);
}

async function selectLayout(host: LayoutHost, { window, layout }: Of<"select-layout">): Promise<LayoutResult> {
  const target = windowTarget(host, window);
  if (layout === "spread") return onWindow(host, target, [build.spreadLayout(target)]);
  requireLayout(layout, host.inventory.panesOf(window).length);
  return onWindow(host, target, [build.selectLayout(target, layout)]);
}

async function setWindowOption(host: LayoutHost, operation: Of<"set-window-option">): Promise<LayoutResult> {
  const { window, option, value } = operation;
  requireOption("window", option, value);
  const target = windowTarget(host, window);
  const command =
    value === null ? build.unsetOwnWindowOption(target, option) : build.setOwnWindowOption(target, option, value);
  return onWindow(host, target, [command]);
}

async function setOptionOfPane(host: LayoutHost, operation: Of<"set-pane-option">): Promise<LayoutResult> {
  const { pane, option, value } = operation;
  requireOption("pane", option, value);
  const command = value === null ? unsetPaneOption(pane, option) : setPaneOption(pane, option, value);
  return onPane(host, paneTarget(host, pane), [command]);
}

/**
 * Restarts a pane's program in a new pane that takes the old one's place, because tmux's own `respawn-pane` can crash the
 * server while a control client has not taken all of the pane's output (docs/tmuxFacts.md 16). The new pane is made in its own
 * window, where there is always room, and the two are swapped; the old one is closed with that window. The old pane's title,
 * user options and own `remain-on-exit` are not carried over.
 */
async function respawnPane(host: LayoutHost, operation: Of<"respawn-pane">): Promise<LayoutResult> {
  requireProgram(operation);
  const old = paneTarget(host, operation.pane);
  const { session, window, pane } = old;
  const connection = host.connection();
  const next = await makePane(host, build.newWindow(session, { ...operation, detached: true }), operation.command);
  try {
    await connection.group([
      ...endingInNextTurn(build.swapPane({ session, ...next }, old, true)),
      build.killPane(pane),
    ]);
  } catch (error) {
    if (!connection.closed) await connection.group(endingInNextTurn(build.killPane(next.pane))).catch(() => undefined);
    await host.list([window, next.window]);
    throw error;
  }
  await host.list([window, next.window]);
  return { session, window, pane: next.pane };
}

async function onWindow(host: LayoutHost, target: WindowTarget, commands: readonly string[]): Promise<LayoutResult> {
  if (commands.length > 0) await host.connection().group(commands);
  await host.list([target.window]);
  return { session: target.session, window: target.window };
}

async function onPane(host: LayoutHost, target: PaneTarget, commands: readonly string[]): Promise<LayoutResult> {
  const { pane } = target;
  return { ...(await onWindow(host, target, commands)), pane };
}
