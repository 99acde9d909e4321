/**
 * The version of a running program, without starting anything: from the place of its file, as native installers lay it out
 * (`versions/2.1.340`), or from the npm package that its file or script is part of; else from what it draws when it starts.
 */
import { readlinkSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { HostProcesses } from "../host/hostProcesses.ts";
import { fieldsOf, parseJson } from "../../protocol/text/jsonObject.ts";
import { scriptIn } from "../host/programNames.ts";
import { readPrivate } from "../ops/privateFiles.ts";
import type { Capture } from "../tmux/io.ts";
import type { Profile } from "./profile.ts";
import { screenOf } from "./screenRows.ts";

/** A package.json is a few kilobytes. */
const MAX_PACKAGE_BYTES = 65_536;
/** Directories between a package's program and its package.json. */
const MAX_ABOVE = 8;
const VERSION = /^\d[\w.+-]{0,63}$/;
/** Of the package for one platform (`0.169.0-linux-x64`). */
const PLATFORM = /-(?:linux|darwin|win32|android|freebsd)\b.*$/;

/**
 * Reads a few small files beside the program's own; for once per process.
 * @param names of the program; a package counts when it has one of them, alone or with the platform behind it
 */
export function versionOfProcess(
  pid: number,
  names: ReadonlySet<string>,
  processes: HostProcesses,
): string | undefined {
  const words = processes.wordsNow(pid) ?? [];
  const script = scriptIn(words);
  const file = script === undefined ? executableOf(pid, processes) : scriptOf(script, processes.cwdNow(pid));
  return file === undefined ? undefined : versionOfFile(file, names);
}

/** @param file absolute, without links */
function versionOfFile(file: string, names: ReadonlySet<string>): string | undefined {
  const [, installed] = /\/versions\/v?(\d[^/]*)(?:\/|$)/.exec(file) ?? [];
  // pyenv and its kind lay out interpreters in that way: the program is called otherwise there.
  const isIts =
    installed !== undefined && (file.endsWith(`/${installed}`) || names.has(file.slice(file.lastIndexOf("/") + 1)));
  if (isIts && VERSION.test(installed)) return installed;
  let at = dirname(file);
  for (let above = 0; above < MAX_ABOVE; above += 1) {
    const found = packageIn(at);
    const isNamed = found !== undefined && [...names].some((name) => isPackageOf(found.name, name));
    if (isNamed) return VERSION.test(found.version) ? found.version.replace(PLATFORM, "") : undefined;
    if (dirname(at) === at) return undefined;
    at = dirname(at);
  }
  return undefined;
}

/** Where a signature has a group, that is the version: what a program draws of itself when it starts. */
export function versionOnScreen(
  { signatures }: Profile,
  capture: Pick<Capture, "lines" | "cursor" | "cols">,
): string | undefined {
  for (const { text } of screenOf(capture, capture.lines.length).rows) {
    for (const signature of signatures) {
      const version = signature.exec(text)?.[1];
      if (version !== undefined && VERSION.test(version)) return version;
    }
  }
  return undefined;
}

const isPackageOf = (name: string, program: string): boolean =>
  name === program || (name.startsWith(`${program}-`) && PLATFORM.test(name.slice(program.length)));

function executableOf(pid: number, processes: HostProcesses): string | undefined {
  const program = processes.programOf(pid);
  // An update may have removed the file; the place still tells.
  return program === undefined ? undefined : attempt(() => readlinkSync(program).replace(/ \(deleted\)$/, ""));
}

function scriptOf(script: string, cwd: string | undefined): string | undefined {
  const isRelative = !script.startsWith("/");
  if (isRelative && cwd === undefined) return undefined;
  return attempt(() => realpathSync(isRelative ? resolve(cwd!, script) : script));
}

function packageIn(directory: string): { readonly name: string; readonly version: string } | undefined {
  const path = join(directory, "package.json");
  const file = attempt(() => readPrivate(path, { maxBytes: MAX_PACKAGE_BYTES, followsLinks: true }));
  const { name, version } = fieldsOf(parseJson(file?.text ?? "")) ?? {};
  return typeof name === "string" && typeof version === "string" ? { name, version } : undefined;
}

function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
