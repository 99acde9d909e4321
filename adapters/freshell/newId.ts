/** Ids of terminals, sessions, devices' panes and requests: 21 base64url characters, 126 random bits, unguessable. */

const ID_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/** In Node and in a browser: the global `crypto` is in both, and Node loads it on use. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(21)), (byte) => ID_CHARS[byte & 63]).join("");
