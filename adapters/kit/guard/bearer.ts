/**
 * Bearer tokens and other secrets. Both sides are hashed before the comparison, so its time does not depend on the
 * candidate's length or content and reveals nothing about the token.
 */
import { createHash, timingSafeEqual } from "node:crypto";

type VerifyAuthorization = (header: string | undefined) => boolean;

const PREFIX = "Bearer ";
const digestOf = (text: string): Buffer => createHash("sha256").update(text, "utf8").digest();

/** Whether a text is this secret. */
export function secretVerifier(secret: string): (candidate: string) => boolean {
  const expected = digestOf(secret);
  return (candidate) => timingSafeEqual(digestOf(candidate), expected);
}

/** Whether an `Authorization` header carries this token; the prefix is case-sensitive, the token is trimmed. */
export function bearerVerifier(token: string): VerifyAuthorization {
  const isToken = secretVerifier(token);
  return (header) => {
    if (header === undefined || !header.startsWith(PREFIX)) return false;
    const candidate = header.slice(PREFIX.length).trim();
    return candidate !== "" && isToken(candidate);
  };
}

/** The token in a `Sec-WebSocket-Protocol` header, as an `Authorization` header would carry it. */
export function bearerFromProtocols(header: string | undefined, prefix: string): string | undefined {
  const entry = header
    ?.split(",")
    .map((protocol) => protocol.trim())
    .find((protocol) => protocol.startsWith(prefix));
  return entry === undefined ? undefined : `Bearer ${entry.slice(prefix.length)}`;
}
