/**
 * The login of this command line: `cli-auth.json`, readable by its owner only. A file that others can read is refused before
 * anything is sent, by every command (seed 002 §12.2).
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { readPrivate, replacePrivate } from "../../../daemon/ops/privateFiles.ts";
import type { Io } from "../../cli/cliIo.ts";
import { AppError } from "../../../protocol/errors.ts";
import { attempt, freshellHome } from "./freshellHome.ts";

export interface Credentials {
  /** The server that issued them; they are sent to no other. */
  readonly url: string;
  readonly deviceId: string;
  readonly deviceLabel: string;
  readonly deviceToken: string;
  readonly refreshToken: string;
  /** Of the device token; Unix milliseconds. */
  readonly expiresAt: number;
  readonly scopes: readonly string[];
}

const credentialsPath = (io: Pick<Io, "env" | "homeDir">): string => join(freshellHome(io), "cli-auth.json");

/** Undefined when nobody is logged in. @throws AppError UNAUTHORIZED */
export function readCredentials(io: Io): Credentials | undefined {
  const path = credentialsPath(io);
  const text = readLogin(path);
  if (text === undefined) return undefined;
  const found = parsed(text);
  if (found !== undefined) return found;
  throw new AppError("UNAUTHORIZED", `${path} is not a login file: remove it and run \`freshell auth login\``);
}

/** @throws AppError INTERNAL_ERROR */
export function writeCredentials(io: Io, credentials: Credentials): void {
  const path = credentialsPath(io);
  attempt(path, "written", () => replacePrivate(path, `${JSON.stringify(credentials, undefined, 2)}\n`));
}

export function removeCredentials(io: Io): void {
  rmSync(credentialsPath(io), { force: true });
}

function readLogin(path: string): string | undefined {
  let found: ReturnType<typeof readPrivate>;
  try {
    found = readPrivate(path, { followsLinks: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new AppError("UNAUTHORIZED", `${path} cannot be read (${code})`, { cause: error });
  }
  if (found?.isFile === false) throw new AppError("UNAUTHORIZED", `${path} is not a regular file: remove it`);
  if (found?.openMode === undefined) return found?.text;
  throw new AppError(
    "UNAUTHORIZED",
    `${path} is accessible to other users (mode ${found.openMode}): run chmod 600 ${path}`,
  );
}

function parsed(text: string): Credentials | undefined {
  try {
    const found = JSON.parse(text) as Partial<Record<keyof Credentials, unknown>>;
    const { url, deviceId, deviceLabel, deviceToken, refreshToken, expiresAt, scopes } = found;
    const texts = [url, deviceId, deviceLabel, deviceToken, refreshToken];
    const isWhole = texts.every((one) => typeof one === "string" && one !== "") && typeof expiresAt === "number";
    return isWhole && Array.isArray(scopes) && URL.canParse(url as string) ? (found as Credentials) : undefined;
  } catch {
    return undefined;
  }
}
