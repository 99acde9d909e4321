/**
 * The hub: a hidden session on an owned server into which every window is linked, so that one control client receives
 * every pane's output (docs/tmuxFacts.md 9, 28–31). Its first window holds the event pane, which keeps the hub from ever
 * being empty and carries tmux's hooks to us as plain output (fact 33): ids only, and each is confirmed by a listing.
 * tmux itself removes the hub when our client goes, however it ends.
 */
import { isLinkedTo, OFF_BY_OTHERS, setHook, setSessionHook } from "../../../protocol/command/build.ts";
import { CLIENT_STATE, type ServerIdentity, STRAY_OPTION } from "../../../protocol/command/formats.ts";
import { flag, rowFormat, type RowOf } from "../../../protocol/command/rowFormat.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { ourFlags } from "../orphanedClients.ts";
import { REMOVE_SHELL_MARKS } from "./shellMarks.ts";

/** No client can give a session such a name: in every contract names begin with a letter or digit, and adapters refuse it. */
export const HUB_PREFIX = "__tmuxwire-";

export const isHubName = (name: string): boolean => name.startsWith(HUB_PREFIX);

/** Printed by the event pane once its terminal is raw; earlier events would be echoed and buffered. */
const EVENT_PANE_READY = "ready";

/** The argv of the event pane's program; the user's shell is not involved. */
const EVENT_PANE_COMMAND = ["sh", "-c", `stty raw -echo; printf '${EVENT_PANE_READY};'; exec cat`];

/** Options of an owned server, set before the first session exists (facts 4, 7, 35). */
function ownOptions(historyLines: number): readonly (readonly string[])[] {
  return [
    ["set-optio", "-s", "exit-empty", "off"],
    ["set-optio", "-s", "escape-time", "0"],
    ["set-optio", "-g", "update-environment", ""],
    ["set-optio", "-g", "history-limit", String(historyLines)],
    ["set-optio", "-g", "automatic-rename", "off"],
    ["set-optio", "-g", "status", "off"],
  ];
}

/**
 * The arguments that start the server if necessary and attach to a new hub, in one step (fact 7). `ignore-size` keeps our
 * size from resizing any window (fact 31); `pause-after` bounds what tmux buffers for us (fact 13). From the start, the hub
 * is removed with its client, so a start that fails or is killed leaves none behind.
 */
export function attachArguments(
  hubName: string,
  historyLines: number,
  serverOptions: Readonly<Record<string, string>>,
): readonly string[] {
  const attach = ["new-sessio", "-s", hubName, "-x", "80", "-y", "24", "-f", ourFlags(), ...EVENT_PANE_COMMAND];
  const leave = ["set-hoo", "-t", `=${hubName}:`, "client-detached", leaveCommand(`=${hubName}`)];
  // `-q`: an option that only later versions have is not an error.
  const further = Object.entries(serverOptions).map(([option, value]) => ["set-optio", "-sq", option, value]);
  return [["start-serve"], ...ownOptions(historyLines), ...further, attach, leave].flatMap((words, index) =>
    index === 0 ? words : [";", ...words],
  );
}

/** If no other session is left, the server ends with the hub. */
const leaveCommand = (hub: string): string => `set-optio -s exit-empty on ; kill-sessio -t '${hub}'`;

/** Marks a pane whose title change was reported; the value is the index of the hook that reported it. */
export const TITLE_OPTION = "@tmuxwire_title";

/**
 * The hooks of one hub. `hookIndex` is this daemon's own index in the hook arrays, so that removing the hub never removes
 * another daemon's hooks. A hook must never fail, because its error would be shown to the next person who attaches.
 */
export function hubHooks(
  hubName: string,
  { session: hub, pane: eventPane, client }: Pick<ServerIdentity, "session" | "pane" | "client">,
  hookIndex: number,
): readonly string[] {
  // The event pane may be one of those that were turned off. tmux ignores the blank, for which 3.2 keeps the quotes.
  const hear = client === "" ? "" : `refresh-clien -t "${client}" -A "${eventPane} :on" ; `;
  const [linked, died, refreshed] = hookNames(hookIndex);
  // Linked only in the hub, so somebody created it there; it was not left by an ended session.
  const isStray = `#{&&:#{==:#{hook_session_name},${hubName}},#{==:#{window_linked_sessions},1}}`;
  // Windows in another daemon's hub are ignored.
  const ofHub = `#{m:${HUB_PREFIX}*,#{hook_session_name}}`;
  const taken = [...hookNames(hookIndex), titleHookName(hookIndex)].map((hook) => `set-hoo -gu "${hook}" ; `).join("");
  return [
    // However and by whomever a window is created or linked, it is in the hub before its first byte is read.
    setHook(
      linked,
      `if-shel -F "${isStray}" "set-optio -w ${STRAY_OPTION} 1" ` +
        `{ if-shel -F "#{||:${isLinkedTo(hubName)},${ofHub}}" "" "link-windo -d -t =${hubName}:" }`,
    ),
    setHook(died, `send-key -t ${eventPane} -l "died;"`),
    setHook(refreshed, `if-shel -F "${OFF_BY_OTHERS}" { ${hear}send-key -t ${eventPane} -l "off;" }`),
    setSessionHook(hub, "client-detached", `${taken}${REMOVE_SHELL_MARKS} ; ${leaveCommand(hub)}`),
  ];
}

/**
 * For `display-message -p`: the client's state, and whether the hub still has its name and its hooks. A person can remove
 * both, and without them new windows are not linked into the hub.
 */
export function hubState(hubName: string, hookIndex: number) {
  const [linked, died, refreshed] = hookNames(hookIndex);
  const isThere = (hook: string) => flag(`#{?#{${hook}},1,0}`);
  return rowFormat({
    ...CLIENT_STATE.fields,
    isNamed: flag(`#{==:#{session_name},${hubName}}`),
    reportsLinks: isThere(linked),
    reportsDeaths: isThere(died),
    reportsRefreshes: isThere(refreshed),
  });
}

export const RENAMED = "its session was renamed";

export function hubFault(state: RowOf<ReturnType<typeof hubState>> | undefined): string | undefined {
  if (state?.isNamed !== true) return RENAMED;
  return state.reportsLinks && state.reportsDeaths && state.reportsRefreshes ? undefined : "its hooks were removed";
}

const hookNames = (hookIndex: number): readonly [string, string, string] => [
  `window-linked[${hookIndex}]`,
  `pane-died[${hookIndex}]`,
  `after-refresh-client[${hookIndex}]`,
];

/**
 * Reports a pane's title change only once until `TITLE_OPTION` is unset, because a program may change its title a hundred
 * thousand times a second. tmux before 3.3 has no such hook.
 */
export const titleHook = (eventPane: PaneId, hookIndex: number): string =>
  setHook(
    titleHookName(hookIndex),
    `if-shel -F "${titleReported(hookIndex)}" "" { set-optio -p ${TITLE_OPTION} ${hookIndex} ; send-key -t ${eventPane} -l "title;" }`,
  );

/** A format that is true if the pane's title has changed since this hub last read it. */
export const titleReported = (hookIndex: number): string => `#{==:#{${TITLE_OPTION}},${hookIndex}}`;

const titleHookName = (hookIndex: number): string => `pane-title-changed[${hookIndex}]`;

/**
 * The events of the event pane. They do not name the pane, which is queried afterwards: in a hook only `run-shell` could name
 * it, and while that waits, tmux drops other notifications (notify.c).
 */
const PANE_EVENTS = ["died", "off", "title"] as const;
export type PaneEvent = (typeof PANE_EVENTS)[number];

/** The longest event; longer text was not written by our hook. */
const MAX_EVENT_CHARS = 16;

/** Reads the event pane's output. Anyone inside tmux can write there, so an event only ever triggers a query. */
export class EventPaneReader {
  readonly #onReady: () => void;
  readonly #onEvent: (event: PaneEvent) => void;
  #carry = "";

  constructor(handlers: { readonly onReady: () => void; readonly onEvent: (event: PaneEvent) => void }) {
    this.#onReady = handlers.onReady;
    this.#onEvent = handlers.onEvent;
  }

  push(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte !== 59) {
        if (this.#carry.length <= MAX_EVENT_CHARS) this.#carry += String.fromCharCode(byte);
        continue;
      }
      if (this.#carry === EVENT_PANE_READY) this.#onReady();
      const event = PANE_EVENTS.find((each) => each === this.#carry);
      if (event !== undefined) this.#onEvent(event);
      this.#carry = "";
    }
  }
}
