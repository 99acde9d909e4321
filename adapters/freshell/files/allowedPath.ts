/**
 * Which paths the page may read and write: those whose real path is in the home directory or in a directory that a terminal began
 * in. Links are resolved first. For other paths it is not revealed whether they exist.
 */
import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import { AppError } from "../../../protocol/errors.ts";

export interface AllowedPath {
  /** Without links, as far as the path exists. */
  readonly path: string;
  readonly exists: boolean;
}

/** @throws AppError INVALID_ARGUMENT, FORBIDDEN */
export async function allowedPath(given: string, homeDir: string, folders: readonly string[]): Promise<AllowedPath> {
  const asked = given === "~" || given.startsWith("~/") ? join(homeDir, given.slice(1)) : given;
  if (!isAbsolute(asked)) throw new AppError("INVALID_ARGUMENT", "path: must be absolute, or begin with ~/");
  const found = await resolved(normalize(asked));
  for (const folder of new Set([homeDir, ...folders])) {
    const root = await realpath(folder).catch(() => undefined);
    if (root !== undefined && isWithin(found.path, root)) return found;
  }
  throw outside();
}

/** The real path; for a missing file, that of the deepest existing folder plus the rest. */
async function resolved(path: string): Promise<AllowedPath> {
  try {
    return { path: await realpath(path), exists: true };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      const folder = dirname(path);
      const parent = folder === path ? { path } : await resolved(folder);
      return { path: join(parent.path, path.slice(folder.length)), exists: false };
    }
    // A loop of links, a file where a folder should be, a folder without permission.
    throw outside();
  }
}

const isWithin = (path: string, root: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);

export const outside = (): AppError =>
  new AppError("FORBIDDEN", "this is not in the home directory, nor in a directory that a terminal began in", {
    details: { reason: "outside" },
  });
