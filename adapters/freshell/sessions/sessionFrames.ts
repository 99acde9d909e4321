/** Session events as frames, each encoded once for all readers. */
import type { CodingNotice } from "../../../daemon/sessions/codingSession.ts";
import type { Session } from "../../../daemon/sessions/sessionBook.ts";
import type { SdkEvent, SessionServerMessage } from "../../../protocol/api/freshell/sessionEvents.ts";

export type SessionNotice = SdkEvent | CodingNotice;

const encoded = new WeakMap<SessionNotice, Uint8Array>();

/** The frame of a notice to all followers. */
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
