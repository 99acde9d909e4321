/**
 * Profiles that a person wrote: `*.json` in one directory, read when the daemon starts. An invalid file is refused in
 * one line that names it and the field at fault, and stops nothing; the others hold. Their patterns are foreign.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadProfile, type Profile } from "./profile.ts";
import { refusedPattern } from "./patternCost.ts";

const MAX_FILES = 64;
const MAX_FILE_BYTES = 65_536;
/** In one profile; each is tried on every row of a capture. */
const MAX_PATTERNS = 64;
/** The daemon's own fallback. */
const FIXED: ReadonlySet<string> = new Set(["shell", "generic"]);

interface UserProfile {
  /** Or the directory, when it cannot be read. */
  readonly file: string;
  /** Absent: it was refused. */
  readonly profile?: Profile | undefined;
  /** One line: the field and what is wrong with it. */
  readonly refused?: string | undefined;
}

/** Sorted by name; none when there is no such directory. One that cannot be read is refused itself. */
export function readUserProfiles(directory: string): readonly UserProfile[] {
  let names: readonly string[];
  try {
    names = filesIn(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    return [{ file: directory, refused: `cannot be read (${code}); make it a directory that you may read` }];
  }
  const seen = new Map<string, string>();
  return names.map((name, index) => {
    const file = join(directory, name);
    if (index >= MAX_FILES) return { file, refused: `only the first ${MAX_FILES} files are read` };
    try {
      const profile = parse(readBounded(file));
      const other = seen.get(profile.name);
      if (other !== undefined) return { file, refused: `name: ${profile.name} is the name in ${other} too` };
      seen.set(profile.name, name);
      return { file, profile };
    } catch (error) {
      return { file, refused: oneLine((error as Error).message) };
    }
  });
}

const filesIn = (directory: string): readonly string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith(".json"))
    .sort();

function readBounded(file: string): string {
  // A FIFO would keep the daemon from starting.
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error("not a file");
    if (stat.size > MAX_FILE_BYTES) throw new Error(`longer than ${MAX_FILE_BYTES} bytes`);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

function parse(text: string): Profile {
  const source = JSON.parse(text) as unknown;
  const profile = loadProfile(withSource(source));
  if (FIXED.has(profile.name)) throw new Error(`name: ${profile.name} is the daemon's own and cannot be replaced`);
  const found = patternsOf(profile);
  if (found.length > MAX_PATTERNS) throw new Error(`more than ${MAX_PATTERNS} patterns`);
  for (const { path, text: pattern } of found) {
    const reason = refusedPattern(pattern);
    if (reason !== undefined) throw new Error(`${path}: ${reason}`);
  }
  return profile;
}

const withSource = (source: unknown): unknown =>
  typeof source === "object" && source !== null && !("source" in source) ? { ...source, source: "own" } : source;

interface PlacedPattern {
  readonly path: string;
  readonly text: string;
}

/** Every pattern of a profile with the field it stands in. */
export function patternsOf(value: unknown, path = ""): readonly PlacedPattern[] {
  if (value instanceof RegExp) return [{ path, text: value.source }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => patternsOf(inner, path === "" ? key : `${path}.${key}`));
}

/** Parsers quote what they have read. */
const oneLine = (message: string): string => message.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").slice(0, 300);
