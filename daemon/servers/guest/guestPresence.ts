/**
 * Who is attached where on a guest's server, and so where we may be: never the one client that keeps alive what the
 * user's own options end when nobody is attached, and rather not where the user goes next. Ids and numbers only.
 */
import { listClients, listSessions } from "../../../protocol/command/build.ts";
import { field, flag, number, rowFormat, sessionId } from "../../../protocol/command/rowFormat.ts";
import { byAge, type SessionId } from "../../../protocol/ids.ts";

/** Values are 0 and 1 up to tmux 3.4; later `destroy-unattached` is off, on, keep-last or keep-group. */
const isOn = (value: string): boolean => value !== "0" && value !== "off";

const SESSIONS = rowFormat({
  session: sessionId,
  activitySec: number("#{session_activity}"),
  destroysUnattached: field("#{destroy-unattached}", isOn),
  exitsUnattached: field("#{exit-unattached}", isOn),
});
const CLIENTS = rowFormat({
  session: sessionId,
  /** It only watches, as we do, and does not count as a user. */
  isOnlooker: flag("#{?#{&&:#{client_control_mode},#{m:*ignore-size*,#{client_flags}}},1,0}"),
});

/** The commands whose replies `decodePresence` reads. */
export const PRESENCE_COMMANDS = [listSessions(SESSIONS.format), listClients(CLIENTS.format)] as const;
/** The same for tmux's command line, with the server's version between them; without a session the last one fails. */
export const PRESENCE_ARGUMENTS = [
  ["list-session", "-F", SESSIONS.format, ";"],
  ["display-messag", "-p", "tmux #{version}", ";"],
  ["list-client", "-F", CLIENTS.format],
].flat();

interface SessionPresence {
  readonly session: SessionId;
  readonly activitySec: number;
  /** Clients attached to it that are not onlookers. */
  readonly others: number;
  /** No user is attached, and the user's options then end it or the whole server: only onlookers keep it. */
  readonly endsUnattached: boolean;
}

export type Presence = readonly SessionPresence[];

export function decodePresence(sessions: Uint8Array, clients: Uint8Array): Presence {
  const others = new Map<string, number>();
  let total = 0;
  for (const { session, isOnlooker } of CLIENTS.decode(clients)) {
    if (isOnlooker) continue;
    others.set(session, (others.get(session) ?? 0) + 1);
    total += 1;
  }
  return SESSIONS.decode(sessions).map(({ session, activitySec, destroysUnattached, exitsUnattached }) => {
    const count = others.get(session) ?? 0;
    const endsUnattached = (destroysUnattached && count === 0) || (exitsUnattached && total === 0);
    return { session, activitySec, others: count, endsUnattached };
  });
}

/** What a plain client printed; undefined when no server replied to it. */
export function decodeProbe(printed: string): { readonly version: string; readonly presence: Presence } | undefined {
  const match = /^([^]*?)^tmux (.*)\n([^]*)$/m.exec(printed);
  if (match === null) return undefined;
  const [, sessions = "", version = "", clients = ""] = match;
  return { version, presence: decodePresence(Buffer.from(sessions), Buffer.from(clients)) };
}

/** No session and no user came or went between the two, as far as can be seen. */
export const isSamePresence = (before: Presence, after: Presence): boolean =>
  before.length === after.length &&
  before.every(({ session, others }, at) => session === after[at]?.session && others === after[at].others);

/** Whether we may be attached to it now; nothing forbids one that is newer than the presence. */
export const mayAttach = (presence: Presence, session: SessionId): boolean =>
  !presence.some((row) => row.session === session && row.endsUnattached);

/**
 * The session for a client that needs any: one with one other client, where our coming changes nothing (a first client
 * clears alerts and gives focus); else the least recently used, because `tmux attach` goes to the most recent session
 * without a client, and that is the user's; last one with several, because `window-size latest` forgets which of them
 * was resized last when we leave.
 */
export function chooseSession(presence: Presence, except: readonly SessionId[] = []): SessionId | undefined {
  const [best] = presence
    .filter((row) => !row.endsUnattached && !except.includes(row.session))
    .sort((a, b) => rankOf(a) - rankOf(b) || a.activitySec - b.activitySec || byAge(a.session, b.session));
  return best?.session;
}

const rankOf = ({ others }: SessionPresence): number => (others === 1 ? 0 : others === 0 ? 1 : 2);
