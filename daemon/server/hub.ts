/**
 * The hub: a hidden session on an owned server into which every window is linked, so that one control client receives
 * every pane's output (docs/tmuxFacts.md 9, 28–31). Its first window holds the event pane, which keeps the hub from ever
 * being empty and carries tmux's hooks to us as plain output (fact 33): ids only, and each is confirmed by a listing.
 * tmux itself takes the hub away when our client goes, however it goes.
 */
import { setHook, setSessionHook } from "../../protocol/command/build.ts";
import { isPaneId, type PaneId, type SessionId } from "../../protocol/ids.ts";

/** No client can name a session so: names begin with a letter or a digit in every contract, and adapters refuse it. */
export const HUB_PREFIX = "__tmuxwire-";

export const isHubName = (name: string): boolean => name.startsWith(HUB_PREFIX);

/** Printed by the event pane once its terminal is raw: events before that would be echoed and held back. */
const EVENT_PANE_READY = "ready;";

/** argv of the event pane's program; no shell of the user's is involved. */
const EVENT_PANE_COMMAND = ["sh", "-c", `stty raw -echo; printf '${EVENT_PANE_READY}'; exec cat`];

/** Options of an owned server, as pairs for `set-option`, before the first session exists (facts 4, 7, 34, 35). */
function serverOptions(historyLines: number): readonly (readonly string[])[] {
  return [
    ["set-option", "-s", "exit-empty", "off"],
    ["set-option", "-s", "escape-time", "0"],
    ["set-option", "-g", "remain-on-exit", "on"],
    ["set-option", "-g", "update-environment", ""],
    ["set-option", "-g", "history-limit", String(historyLines)],
    ["set-option", "-g", "automatic-rename", "off"],
    ["set-option", "-g", "status", "off"],
  ];
}

/**
 * The arguments that start the server if need be and attach to a new hub, in one go (fact 7). `ignore-size` keeps our
 * size from resizing anybody's window (fact 31); `pause-after` bounds what tmux holds for us (fact 13).
 */
export function attachArguments(hubName: string, historyLines: number, pauseAfterSec: number): readonly string[] {
  const attach = [
    "new-session",
    "-s",
    hubName,
    "-x",
    "80",
    "-y",
    "24",
    "-f",
    `ignore-size,pause-after=${pauseAfterSec}`,
  ];
  return [["start-server"], ...serverOptions(historyLines), [...attach, ...EVENT_PANE_COMMAND]].flatMap(
    (words, index) => (index === 0 ? words : [";", ...words]),
  );
}

/**
 * The hooks of one hub. `hookIndex` is this daemon's own place in the hook arrays, so that taking the hub away never
 * takes another daemon's hooks along. A hook must never fail: its error would be shown to the next person who attaches.
 */
export function hubHooks(hubName: string, hub: SessionId, eventPane: PaneId, hookIndex: number): readonly string[] {
  const linked = `window-linked[${hookIndex}]`;
  const died = `pane-died[${hookIndex}]`;
  const inHub = `#{m:*${hubName}*,#{window_linked_sessions_list}}`;
  return [
    // Whoever makes or links a window, and however: it is in the hub before its first byte is read.
    setHook(linked, `if -F "${inHub}" "" "link-window -d -t =${hubName}:"`),
    setHook(died, `run-shell -C 'send-keys -t ${eventPane} -l "died #{hook_pane};"'`),
    setSessionHook(
      hub,
      "client-detached",
      `set-hook -gu "${linked}" ; set-hook -gu "${died}" ; set-option -s exit-empty on ; kill-session -t '${hub}'`,
    ),
  ];
}

/** Longest event kept: `died %4294967295`. What is longer was not written by our hook. */
const MAX_EVENT_CHARS = 32;

/** Reads the event pane's output. Anyone inside tmux can write there: an event is only ever a reason to look. */
export class EventPaneReader {
  readonly #onReady: () => void;
  readonly #onDied: (pane: PaneId) => void;
  #carry = "";

  constructor(handlers: { readonly onReady: () => void; readonly onDied: (pane: PaneId) => void }) {
    this.#onReady = handlers.onReady;
    this.#onDied = handlers.onDied;
  }

  push(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte !== 59) {
        if (this.#carry.length <= MAX_EVENT_CHARS) this.#carry += String.fromCharCode(byte);
        continue;
      }
      const event = `${this.#carry};`;
      this.#carry = "";
      if (event === EVENT_PANE_READY) this.#onReady();
      const pane = /^died (%\d+);$/.exec(event)?.[1];
      if (pane !== undefined && isPaneId(pane)) this.#onDied(pane);
    }
  }
}
