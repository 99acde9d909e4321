/**
 * Who is attached where on a guest's server, and so where we may be: never the one client that keeps alive what the
 * user's own options end when nobody is attached, and rather not where the user goes next. Ids and numbers only.
 */
import { listClients, listSessions } from "../../../protocol/command/build.ts";
import { lines } from "../../../protocol/command/formats.ts";
import { isSessionId, type SessionId } from "../../../protocol/ids.ts";

const SESSIONS_FORMAT = "#{session_id} #{session_activity} #{destroy-unattached} #{exit-unattached}";
/** 1 for clients that only look on, as we do: they keep nobody company. */
const CLIENTS_FORMAT = "#{session_id} #{?#{&&:#{client_control_mode},#{m:*ignore-size*,#{client_flags}}},1,0}";

/** The commands whose replies `decodePresence` reads. */
export const PRESENCE_COMMANDS = [listSessions(SESSIONS_FORMAT), listClients(CLIENTS_FORMAT)] as const;
/** The same for tmux's command line. */
export const PRESENCE_ARGUMENTS = ["list-session", "-F", SESSIONS_FORMAT, ";", "list-client", "-F", CLIENTS_FORMAT];

interface SessionPresence {
  readonly session: SessionId;
  readonly activitySec: number;
  /** Clients attached to it that do more than look on. */
  readonly others: number;
  /** Nobody is attached, and by the user's options it, or the whole server, ends then: only onlookers keep it. */
  readonly endsUnattached: boolean;
}

export type Presence = readonly SessionPresence[];

export function decodePresence(sessions: Uint8Array, clients: Uint8Array): Presence {
  const others = new Map<string, number>();
  let total = 0;
  for (const line of lines(clients)) {
    const [session = "", looksOn] = line.split(" ");
    if (looksOn !== "0" || !isSessionId(session)) continue;
    others.set(session, (others.get(session) ?? 0) + 1);
    total += 1;
  }
  return lines(sessions).flatMap((line) => {
    const [session = "", activity, destroy, exit] = line.split(" ");
    if (!isSessionId(session)) return [];
    const count = others.get(session) ?? 0;
    const endsUnattached = (isOn(destroy) && count === 0) || (isOn(exit) && total === 0);
    return [{ session, activitySec: Number(activity), others: count, endsUnattached }];
  });
}

/** Values are 0 and 1 up to tmux 3.4; later `destroy-unattached` is off, on, keep-last or keep-group. */
const isOn = (value: string | undefined): boolean => value !== "0" && value !== "off";

/** Whether we may be attached to it now; of one that is newer than the presence nothing speaks against it. */
export const mayAttach = (presence: Presence, session: SessionId): boolean =>
  !presence.some((row) => row.session === session && row.endsUnattached);

/**
 * The session for a client that needs any: one with one other client, where nothing changes by our coming (a first client
 * clears alerts and gives focus); else the one used longest ago, because `tmux attach` goes to the most recent session
 * without a client, and that is the user's; last one with several, because `window-size latest` forgets which of them
 * was resized last when we leave.
 */
export function chooseSession(presence: Presence, except?: SessionId): SessionId | undefined {
  const [best] = presence
    .filter((row) => !row.endsUnattached && row.session !== except)
    .sort(
      (a, b) => rankOf(a) - rankOf(b) || a.activitySec - b.activitySec || numberOf(a.session) - numberOf(b.session),
    );
  return best?.session;
}

const rankOf = ({ others }: SessionPresence): number => (others === 1 ? 0 : others === 0 ? 1 : 2);

const numberOf = (session: SessionId): number => Number(session.slice(1));
