/**
 * Admission to `/ws`: the first message is a hello with a valid token and the required capabilities, checked in this order:
 * shape, token, capabilities. An older client is refused, with the names of the capabilities it lacks.
 */
import { type HelloMessage, REQUIRED_CAPABILITIES } from "../../../protocol/api/freshell/freshellWire.ts";
import type { Credentials, Principal } from "../tokens/credentials.ts";

export interface Admitted {
  readonly principal: Principal;
  readonly device: HelloMessage["device"];
  /** Large snapshots in chunks. */
  readonly wantsChunks: boolean;
}

interface Refused {
  /** Of the error and of the close. */
  readonly code: "NOT_AUTHENTICATED" | "PROTOCOL_MISMATCH";
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export function checkHello(hello: HelloMessage, credentials: Credentials): Admitted | { readonly refused: Refused } {
  const principal = credentials.principalOf(hello.token);
  if (principal === undefined) {
    const message = "the token is missing, wrong or has expired; send the right one with hello";
    return { refused: { code: "NOT_AUTHENTICATED", message } };
  }
  const { capabilities = {}, device } = hello;
  const missing = REQUIRED_CAPABILITIES.filter((name) => capabilities[name] !== true);
  if (missing.length > 0) {
    const message = `this client is of another version: hello must have the capabilities ${missing.join(", ")}`;
    return { refused: { code: "PROTOCOL_MISMATCH", message, details: { missing } } };
  }
  if (principal.kind === "device" && device !== undefined && device.deviceId !== principal.deviceId) {
    const message = "the token is another device's; log in with this one";
    return { refused: { code: "NOT_AUTHENTICATED", message } };
  }
  return { principal, device, wantsChunks: capabilities["terminalAttachChunkV1"] === true };
}
