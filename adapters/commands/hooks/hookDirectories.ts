/**
 * The directories that `tmuxwire hooks install` makes are recorded beside the scripts, so that `uninstall` removes them
 * once they are empty, and no directory that existed before.
 */
import { existsSync, readdirSync, rmdirSync } from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";
import { removeUserFile, replaceUserFile, textAt } from "../../hooks/userFiles.ts";

const RECORD = "directories.json";

/** Call before the files are written. @param data where the scripts are @throws AppError CONFIGURATION_INVALID */
export function rememberDirectories(data: string, files: readonly string[]): void {
  const record = join(data, RECORD);
  const missing = [record, ...files].flatMap(missingAbove);
  if (missing.length > 0) write(record, [...made(record), ...missing]);
}

/**
 * Call once the files are removed. A directory that holds other files is kept and forgotten; the directories of the
 * scripts stay until the last agent's hooks are removed.
 * @throws AppError CONFIGURATION_INVALID
 */
export function removeMadeDirectories(data: string, files: readonly string[]): void {
  const record = join(data, RECORD);
  const before = made(record);
  if (before.length === 0) {
    removeUserFile(record);
    return;
  }
  const ofScripts = before.filter((directory) => isAbove(directory, record));
  const ofAgents = before.filter((directory) => !ofScripts.includes(directory));
  const theirs = ofAgents.filter((directory) => files.some((file) => isAbove(directory, file)));
  removeEmpty(theirs);
  const ofOthers = ofAgents.filter((directory) => !theirs.includes(directory) && existsSync(directory));
  const shared = theirs.filter((directory) => ofOthers.some((other) => isAbove(directory, other)));
  const others = [...shared, ...ofOthers];
  if (others.length > 0 || readdirSync(data).some((name) => name !== RECORD)) {
    const left = [...ofScripts, ...others];
    if (left.length > 0) write(record, left);
    else removeUserFile(record);
    return;
  }
  removeUserFile(record);
  removeEmpty(ofScripts);
}

const isAbove = (directory: string, file: string): boolean => file.startsWith(`${directory}${sep}`);

function missingAbove(file: string): readonly string[] {
  const missing: string[] = [];
  for (let at = dirname(file); !existsSync(at); at = dirname(at)) missing.push(at);
  return missing;
}

/** Empty if the record is unreadable: leaving a directory behind is better than removing someone's. */
function made(record: string): readonly string[] {
  try {
    const directories = JSON.parse(textAt(record) ?? "") as unknown;
    if (!Array.isArray(directories)) return [];
    return directories.filter((one): one is string => typeof one === "string" && isAbsolute(one));
  } catch {
    return [];
  }
}

const write = (record: string, directories: readonly string[]): void =>
  replaceUserFile(record, `${JSON.stringify([...new Set(directories)], undefined, 2)}\n`, 0o600);

function removeEmpty(directories: readonly string[]): void {
  for (const directory of [...directories].sort((a, b) => b.length - a.length)) {
    try {
      rmdirSync(directory);
    } catch {
      // Not empty, or already gone.
    }
  }
}
