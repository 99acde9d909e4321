/**
 * Control-mode notifications (tmux(1) CONTROL MODE) except `%output`, which the parser handles as bytes. One table of
 * keywords; an unknown keyword, or a known one with invalid arguments, is not an error but the event `other`.
 */
import { isPaneId, isSessionId, isWindowId, type PaneId, type SessionId, type WindowId } from "../ids.ts";
import { clip } from "../text/clip.ts";

export type Notification =
  | { readonly kind: "exit"; readonly reason: string | undefined }
  | { readonly kind: "pause"; readonly pane: PaneId }
  | { readonly kind: "continue"; readonly pane: PaneId }
  | { readonly kind: "pane-mode-changed"; readonly pane: PaneId }
  | { readonly kind: "session-changed"; readonly session: SessionId; readonly name: string }
  | { readonly kind: "session-renamed"; readonly session: SessionId; readonly name: string }
  | { readonly kind: "sessions-changed" }
  | { readonly kind: "session-window-changed"; readonly session: SessionId; readonly window: WindowId }
  | { readonly kind: "window-add"; readonly window: WindowId; readonly linked: boolean }
  | { readonly kind: "window-close"; readonly window: WindowId; readonly linked: boolean }
  | { readonly kind: "window-renamed"; readonly window: WindowId; readonly linked: boolean }
  | { readonly kind: "window-pane-changed"; readonly window: WindowId; readonly pane: PaneId }
  | { readonly kind: "layout-change"; readonly window: WindowId }
  | { readonly kind: "client-session-changed"; readonly session: SessionId }
  | { readonly kind: "client-detached" }
  /** `value`: the expanded format; foreign text unless the format has only ids and numbers. */
  | { readonly kind: "subscription-changed"; readonly name: string; readonly value: string }
  /** `text` is the whole line, truncated: tmux's message if it cannot start, later possibly anything. Never logged. */
  | { readonly kind: "other"; readonly keyword: string; readonly text: string };

/** How much of an unknown line is kept. */
const MAX_TEXT_CHARS = 200;

type Reader = (args: readonly string[], rest: string) => Notification | undefined;

const paneArg =
  (kind: "pause" | "continue" | "pane-mode-changed"): Reader =>
  ([pane = ""]) =>
    isPaneId(pane) ? { kind, pane } : undefined;

const windowArg =
  (kind: "window-add" | "window-close" | "window-renamed", linked: boolean): Reader =>
  ([window = ""]) =>
    isWindowId(window) ? { kind, window, linked } : undefined;

const sessionAndName =
  (kind: "session-changed" | "session-renamed"): Reader =>
  ([session = ""], rest) =>
    isSessionId(session) ? { kind, session, name: rest.slice(session.length + 1) } : undefined;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["%exit", (_args, rest) => ({ kind: "exit", reason: rest === "" ? undefined : rest })],
  ["%pause", paneArg("pause")],
  ["%continue", paneArg("continue")],
  ["%pane-mode-changed", paneArg("pane-mode-changed")],
  ["%session-changed", sessionAndName("session-changed")],
  ["%session-renamed", sessionAndName("session-renamed")],
  ["%sessions-changed", () => ({ kind: "sessions-changed" })],
  [
    "%session-window-changed",
    ([session = "", window = ""]) =>
      isSessionId(session) && isWindowId(window) ? { kind: "session-window-changed", session, window } : undefined,
  ],
  ["%window-add", windowArg("window-add", true)],
  ["%unlinked-window-add", windowArg("window-add", false)],
  ["%window-close", windowArg("window-close", true)],
  ["%unlinked-window-close", windowArg("window-close", false)],
  ["%window-renamed", windowArg("window-renamed", true)],
  ["%unlinked-window-renamed", windowArg("window-renamed", false)],
  [
    "%window-pane-changed",
    ([window = "", pane = ""]) =>
      isWindowId(window) && isPaneId(pane) ? { kind: "window-pane-changed", window, pane } : undefined,
  ],
  ["%layout-change", ([window = ""]) => (isWindowId(window) ? { kind: "layout-change", window } : undefined)],
  [
    "%client-session-changed",
    // The client's name comes first and may contain spaces; the session's name comes last and may contain anything.
    (args) => {
      const session = args.slice(1).find(isSessionId);
      return session === undefined ? undefined : { kind: "client-session-changed", session };
    },
  ],
  ["%client-detached", () => ({ kind: "client-detached" })],
  [
    "%subscription-changed",
    ([name = ""], rest) => ({ kind: "subscription-changed", name, value: rest.slice(rest.indexOf(" : ") + 3) }),
  ],
]);

/** @param line one line without its newline, decoded from UTF-8. A line that does not begin with `%` is `other` too. */
export function parseNotification(line: string): Notification {
  const space = line.indexOf(" ");
  const keyword = space === -1 ? line : line.slice(0, space);
  const rest = space === -1 ? "" : line.slice(space + 1);
  return (
    READERS.get(keyword)?.(rest.split(" "), rest) ?? {
      kind: "other",
      keyword: keyword.startsWith("%") ? keyword.slice(0, 64) : "",
      text: clip(line, MAX_TEXT_CHARS),
    }
  );
}
