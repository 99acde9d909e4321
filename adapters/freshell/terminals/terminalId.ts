/** Names of terminals, sessions and what is asked in them: 21 characters of 64, which nobody guesses. */
import { randomBytes } from "node:crypto";

const ID_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

export const newId = (): string => Array.from(randomBytes(21), (byte) => ID_CHARS[byte & 63]).join("");
