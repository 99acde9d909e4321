/**
 * The file with the native API's bearer token, which only its owner can read. It is created on the first start and read from
 * then on. A file that others can read, or that is not ours, is refused, because whoever has the token can type into every
 * pane.
 */
import { dirname } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import { newToken } from "./newToken.ts";
import { createPrivate, isOwn, makeOwnDirectory, readPrivate, unwritable } from "./privateFiles.ts";

/** Minimum for a token that the user has chosen; only characters that a header can carry. */
const MIN_TOKEN_CHARS = 32;
const MAX_TOKEN_CHARS = 512;
const TOKEN = /^[\x21-\x7e]+$/;

/**
 * The token in `path`; undefined if the file does not exist. Messages never suggest removing a file that holds something
 * else. @throws AppError CONFIGURATION_INVALID
 */
export async function readToken(path: string): Promise<string | undefined> {
  const file = opened(path);
  if (file === undefined) return undefined;
  if (!file.isFile) throw refused(`${path} is not a regular file; give a token file`);
  const token = file.text?.trim() ?? "";
  if (token.length < MIN_TOKEN_CHARS || token.length > MAX_TOKEN_CHARS || !TOKEN.test(token)) {
    throw refused(`${path} holds no token (${MIN_TOKEN_CHARS} to ${MAX_TOKEN_CHARS} visible ASCII characters)`);
  }
  if (!isOwn(file.uid)) {
    throw refused(
      `${path} belongs to user ${file.uid}, not to you; choose another path, and a token will be created there`,
    );
  }
  if (file.openMode !== undefined) {
    throw refused(
      `${path} is readable by others (mode ${file.openMode}), who may know the token; remove it, and a new one will be created`,
    );
  }
  return token;
}

/** The token in `path`; creates the file if it does not exist. @throws AppError CONFIGURATION_INVALID */
export async function readOrMakeToken(path: string): Promise<string> {
  const present = await readToken(path);
  if (present !== undefined) return present;
  makeToken(path);
  const made = await readToken(path);
  if (made === undefined) throw refused(`${path} was removed while it was being created; start again`);
  return made;
}

/** If two daemons start at once, one creates the file and both use it. */
function makeToken(path: string): void {
  try {
    // Others who can write to the directory could put their own token there.
    makeOwnDirectory(dirname(path), "XDG_STATE_HOME");
    createPrivate(path, `${newToken()}\n`);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw unwritable(path, error);
  }
}

function opened(path: string): ReturnType<typeof readPrivate> {
  try {
    return readPrivate(path, { maxBytes: 2 * MAX_TOKEN_CHARS });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ELOOP") throw refused(`${path} is a symbolic link; give the token file itself`, error);
    throw refused(`cannot read ${path} (${code ?? "unknown error"}); make it readable for you only`, error);
  }
}

const refused = (message: string, cause?: unknown): AppError =>
  new AppError("CONFIGURATION_INVALID", message, { cause });
