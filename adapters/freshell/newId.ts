/**
 * Ids of terminals, sessions, devices, their panes, and requests: 21 base64url characters, 125 random bits, unguessable. The
 * first one is a letter: on a command line an id that begins with a dash would be an option.
 */

const ID_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/** In Node and in a browser: the global `crypto` is in both, and Node loads it on use. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(21)), (byte, at) => ID_CHARS[byte & (at === 0 ? 31 : 63)]).join("");
