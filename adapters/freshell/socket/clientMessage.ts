/** Parses a client's frame as a message of the contract, or says what is wrong with it. */
import {
  CLIENT_MESSAGES,
  type ClientMessage,
  type ClientMessageType,
} from "../../../protocol/api/freshell/freshellWire.ts";
import { faultText, tryParse } from "../../../protocol/api/parse.ts";
import { parseJsonText } from "../../http/jsonText.ts";

interface BadMessage {
  readonly code: "INVALID_MESSAGE" | "UNKNOWN_MESSAGE";
  readonly message: string;
  readonly requestId?: string | undefined;
}

/** `json` is the message as received, including what its schema ignores. */
export type ReadMessage = { readonly message: ClientMessage; readonly json: unknown } | { readonly bad: BadMessage };

const bad = (code: BadMessage["code"], message: string, requestId?: string): ReadMessage => ({
  bad: { code, message, ...(requestId === undefined ? {} : { requestId }) },
});

export function readMessage(data: unknown): ReadMessage {
  if (typeof data !== "string") return bad("INVALID_MESSAGE", "messages are JSON in text frames, not binary");
  let json: unknown;
  try {
    json = parseJsonText(data);
  } catch {
    return bad("INVALID_MESSAGE", "the message is no JSON, or nested too deep");
  }
  if (!isObject(json)) return bad("INVALID_MESSAGE", "a message is an object with a type");
  const { type, requestId } = json;
  const known = typeof requestId === "string" && requestId.length <= MAX_ECHOED_CHARS ? requestId : undefined;
  if (typeof type !== "string") return bad("INVALID_MESSAGE", "a message is an object with a type", known);
  if (!isKnown(type)) return bad("UNKNOWN_MESSAGE", "there is no such message here", known);
  const parsed = tryParse(CLIENT_MESSAGES[type], json);
  if (parsed.success) return { message: parsed.output, json };
  return bad("INVALID_MESSAGE", faultText(parsed.issue.message, parsed.path), known);
}

const MAX_ECHOED_CHARS = 256;
const isKnown = (type: string): type is ClientMessageType => Object.hasOwn(CLIENT_MESSAGES, type);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
