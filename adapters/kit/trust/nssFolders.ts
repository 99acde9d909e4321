/**
 * Where Chromium-based browsers keep trusted certificates on Linux. Current ones use `pki/nssdb` under `$XDG_DATA_HOME`,
 * unless `~/.pki/nssdb` exists; older ones know only the latter and create it at their first start.
 */
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";

export interface NssFolder {
  readonly path: string;
  /** If false, the folder and its database must be created before certutil can add to it. */
  readonly hasDatabase: boolean;
}

/** Always the current folder, and each of the others that exists. */
export function nssFolders(xdgDataHome: string | undefined, homeDir: string): NssFolder[] {
  const data = xdgDataHome !== undefined && isAbsolute(xdgDataHome) ? xdgDataHome : join(homeDir, ".local", "share");
  const others = [join(homeDir, ".pki", "nssdb"), join(homeDir, "snap", "chromium", "current", ".pki", "nssdb")];
  return [join(data, "pki", "nssdb"), ...others.filter((path) => existsSync(path))].map((path) => ({
    path,
    hasDatabase: existsSync(join(path, "cert9.db")),
  }));
}
