/** Generates tokens: 256 random bits in base64url. */
import { randomBytes } from "node:crypto";

const TOKEN_BYTES = 32;

/** Never begins with a dash, which would make it an option on a command line. */
export const newToken = (): string => randomBytes(TOKEN_BYTES).toString("base64url").replace(/^-/, "_");
