/** Finds a program as `execvp` would, without running it. */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { join, resolve } from "node:path";

/** @param cwd where it would be started; a relative path, or an empty part of PATH, is relative to it. */
export async function findProgram(name: string, path: string, cwd: string): Promise<string | undefined> {
  const places = name.includes("/")
    ? [resolve(cwd, name)]
    : path.split(":").map((part) => join(resolve(cwd, part), name));
  for (const place of places) {
    if (await isExecutable(place)) return place;
  }
  return undefined;
}

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
