/** Ids of terminals, sessions and their requests: 21 base64url characters, unguessable. */
import { randomBytes } from "node:crypto";

const ID_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

export const newId = (): string => Array.from(randomBytes(21), (byte) => ID_CHARS[byte & 63]).join("");
