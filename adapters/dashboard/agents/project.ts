/** The project that an agent works in: a directory that was registered, or registers itself. */
import { homedir } from "node:os";
import { basename, dirname, normalize } from "node:path";
import type { ProjectRecord } from "../store/records.ts";
import type { AgentBook } from "./agentBook.ts";

/**
 * The registered project that the directory is in, the innermost of several.
 * @param registers where there is none, the directory becomes one
 */
export function projectOf(
  named: string | undefined,
  { book, registers }: { readonly book: AgentBook; readonly registers: boolean },
): ProjectRecord | undefined {
  if (named === undefined || !named.startsWith("/")) return undefined;
  const directory = projectPath(named);
  for (let path = directory; ; path = dirname(path)) {
    const project = book.project(path);
    if (project !== undefined && (path === directory || !registers || !isEverybodys(path))) return project;
    if (dirname(path) === path) break;
  }
  return registers ? book.putProject({ path: directory, name: nameOf(directory), branch: undefined }) : undefined;
}

/** An agent that was started there is in no project, and must not take in all others. */
const isEverybodys = (path: string): boolean => path === "/" || path === homedir();

/** Without a trailing slash and without `..`. */
export const projectPath = (path: string): string => {
  const normal = normalize(path);
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
};

export const nameOf = (path: string): string => (basename(path) === "" ? path : basename(path));
