/** What happens in sessions as frames: each is encoded once, whoever reads it. */
import type { CodingNotice } from "../../../daemon/sessions/codingSession.ts";
import type { Session } from "../../../daemon/sessions/sessionBook.ts";
import type { SdkEvent, SessionServerMessage } from "../../../protocol/api/freshell/sessionEvents.ts";

export type SessionNotice = SdkEvent | CodingNotice;

const encoded = new WeakMap<SessionNotice, Uint8Array>();

/** Of one that a session tells all who follow it. */
export function frameOf(session: Session, notice: SessionNotice): Uint8Array {
  let frame = encoded.get(notice);
  if (frame === undefined) {
    frame = Buffer.from(JSON.stringify(messageOf(session, notice)));
    encoded.set(notice, frame);
  }
  return frame;
}

function messageOf({ id: sessionId, codingProvider: provider }: Session, notice: SessionNotice): SessionServerMessage {
  const { type, ...rest } = notice;
  const named = type.startsWith("codingcli.") ? { sessionId, provider } : { sessionId };
  return { type, ...named, ...rest } as SessionServerMessage;
}
