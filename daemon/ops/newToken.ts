/** Tokens that are made here: 256 random bits in base64url. */
import { randomBytes } from "node:crypto";

const TOKEN_BYTES = 32;

/** Never begins with a dash: on a command line it would be an option. */
export const newToken = (): string => randomBytes(TOKEN_BYTES).toString("base64url").replace(/^-/, "_");
