/**
 * The usual inputs, recognised without the schema: a person typing waits for it, and a schema that runs once in 100 ms
 * is cold each time. Anything else goes to the schema, which alone reports errors; what is accepted here the schema
 * would return unchanged (`test/property/plainInput.test.ts`).
 */
import { isWellFormed } from "../text/wellFormed.ts";

/** Bounds of the contract. */
export const MAX_INPUT_PARTS = 256;
export const MAX_INPUT_KEYS = 1_024;
export const MAX_KEY_CHARS = 48;
export const MAX_PROFILE_CHARS = 64;

/** The body of an input request. */
export const isPlainInput = (value: unknown): boolean =>
  isRecord(value) && isPlainProfile(value, 1) && arePlainParts(value["parts"]);

/** The WebSocket's input message. */
export const isPlainInputMessage = (value: unknown): boolean =>
  isRecord(value) &&
  value["type"] === "input" &&
  isPlainProfile(value, 5) &&
  Number.isSafeInteger(value["id"]) &&
  (value["id"] as number) >= 0 &&
  typeof value["server"] === "string" &&
  typeof value["pane"] === "string" &&
  arePlainParts(value["parts"]);

/** With a name or without one, besides so many members. */
function isPlainProfile(value: Record<string, unknown>, others: number): boolean {
  const { profile } = value;
  if (profile === undefined) return countMembers(value) === others;
  return (
    typeof profile === "string" &&
    profile !== "" &&
    profile.length <= MAX_PROFILE_CHARS &&
    countMembers(value) === others + 1
  );
}

function arePlainParts(parts: unknown): boolean {
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > MAX_INPUT_PARTS) return false;
  for (const part of parts) if (!isRecord(part) || !isPlainPart(part)) return false;
  return true;
}

function isPlainPart(part: Record<string, unknown>): boolean {
  switch (part["kind"]) {
    case "enter":
      return countMembers(part) === 1;
    case "text":
    case "paste":
      return countMembers(part) === 2 && typeof part["text"] === "string" && isWellFormed(part["text"]);
    case "keys":
      return countMembers(part) === 2 && arePlainKeys(part["keys"]);
    default:
      return false;
  }
}

function arePlainKeys(keys: unknown): boolean {
  if (!Array.isArray(keys) || keys.length > MAX_INPUT_KEYS) return false;
  for (const key of keys) if (typeof key !== "string" || key === "" || key.length > MAX_KEY_CHARS) return false;
  return true;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** If the number is right and every expected member is there, no other is. */
const countMembers = (value: Record<string, unknown>): number => Object.keys(value).length;
