/**
 * The native API's bearer token: a file that only its owner can read. It is created on the first start and read from
 * then on; one that others can read, or that is not ours, is refused, because whoever has the token can type into every
 * pane.
 */
import { dirname } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import { newToken } from "./newToken.ts";
import { createPrivate, isOwn, makeOwnDirectory, readPrivate } from "./privateFiles.ts";

/** A hand-written token is no shorter than this, in characters that a header can carry. */
const MIN_TOKEN_CHARS = 32;
const MAX_TOKEN_CHARS = 512;
const TOKEN = /^[\x21-\x7e]+$/;

/**
 * The token in `path`; undefined when there is no such file. The user is never told to remove a file that holds something
 * else. @throws AppError CONFIGURATION_INVALID
 */
export async function readToken(path: string): Promise<string | undefined> {
  const file = opened(path);
  if (file === undefined) return undefined;
  if (!file.isFile) throw refused(`${path} is not a file; give a token file`);
  const token = file.text?.trim() ?? "";
  if (token.length < MIN_TOKEN_CHARS || token.length > MAX_TOKEN_CHARS || !TOKEN.test(token)) {
    throw refused(`${path} holds no token (${MIN_TOKEN_CHARS} to ${MAX_TOKEN_CHARS} visible ASCII characters)`);
  }
  if (!isOwn(file.uid)) {
    throw refused(`${path} belongs to user ${file.uid}, not to you; have a token of your own made elsewhere`);
  }
  if (file.openMode !== undefined) {
    throw refused(
      `${path} can be read by others (mode ${file.openMode}), who may know the token by now; remove it to have a new one made`,
    );
  }
  return token;
}

/** The token in `path`, created when there is none. @throws AppError CONFIGURATION_INVALID */
export async function readOrMakeToken(path: string): Promise<string> {
  const present = await readToken(path);
  if (present !== undefined) return present;
  makeToken(path);
  const made = await readToken(path);
  if (made === undefined) throw refused(`${path} was removed while it was being made; start again`);
  return made;
}

/** Of two daemons that start at once, one creates it and both use it. */
function makeToken(path: string): void {
  try {
    // In a directory that others can write to they could put a token of their own.
    makeOwnDirectory(dirname(path), "XDG_STATE_HOME");
    createPrivate(path, `${newToken()}\n`);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw refused(`${path} cannot be made (${code ?? "unknown error"}); make its directory writable for you`, error);
  }
}

function opened(path: string): ReturnType<typeof readPrivate> {
  try {
    return readPrivate(path, { maxBytes: 2 * MAX_TOKEN_CHARS });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ELOOP") throw refused(`${path} is a symbolic link; give the token file itself`, error);
    throw refused(`${path} cannot be read (${code ?? "unknown error"}); make it readable for you alone`, error);
  }
}

const refused = (message: string, cause?: unknown): AppError =>
  new AppError("CONFIGURATION_INVALID", message, { cause });
