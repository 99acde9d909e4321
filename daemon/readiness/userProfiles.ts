/**
 * Profiles that a person wrote: `*.json` in one directory, read when the daemon starts. An invalid file is refused in
 * one line that names it and the field at fault, and stops nothing; the others hold. Their patterns are foreign.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type RegexNode, RegexParser } from "../../protocol/text/regexSyntax.ts";
import { readPrivate } from "../ops/privateFiles.ts";
import { loadProfile, type Profile } from "./profile.ts";

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
      const profile = parse(textOf(file));
      const { versions } = profile;
      const key = `${profile.name} ${versions ?? ""}`;
      const other = seen.get(key);
      const same = versions === undefined ? "" : `, for the same versions`;
      if (other !== undefined) return { file, refused: `name: ${profile.name} is the name in ${other} too${same}` };
      seen.set(key, name);
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

/** Anything else than a regular file could keep the daemon waiting. */
function textOf(file: string): string {
  const { isFile, text } = readPrivate(file, { maxBytes: MAX_FILE_BYTES, followsLinks: true }) ?? {};
  if (text !== undefined) return text;
  throw new Error(isFile === true ? `longer than ${MAX_FILE_BYTES} bytes` : "not a file");
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

/** Characters of a row that patterns see (`MAX_ROW_CHARACTERS`). */
const ROW = 512;
/** One unbounded repetition in a pattern that may begin anywhere; some milliseconds for a whole screen made to hurt. */
const MAX_WAYS = ROW * ROW;

/**
 * Whether a pattern written by a user may run on rows drawn by any program. JavaScript's regexes try every
 * way to match, and `(a+)+b` has more ways than there is time. So the ways are counted from the pattern alone, for the
 * longest row there is, and a pattern that has too many, or is not understood, is refused.
 * Why it is refused; undefined when it may run.
 */
export function refusedPattern(source: string): string | undefined {
  if (/\\[1-9k]/u.test(source)) return "back references are not taken";
  // What is looked ahead for is tried as a group is, and then once.
  const plain = source.replace(/\(\?<?[=!]/gu, "(?:");
  const tree = new RegexParser(plain).parse({ ignoreCase: false, multiline: false, dotAll: false });
  if (tree.kind === "unknown") return "not understood; use plain characters, classes, groups and repetitions";
  const begins = source.startsWith("^") && tree.kind !== "alternatives" ? 1 : ROW;
  if (waysOf(tree) * begins <= MAX_WAYS) return undefined;
  return "could take too long on a long row; bound repetitions ({1,20}), begin with ^, repeat no group";
}

function waysOf(node: RegexNode): number {
  switch (node.kind) {
    case "sequence":
      return node.nodes.reduce((product, one) => product * waysOf(one), 1);
    case "alternatives":
      return node.nodes.reduce((sum, one) => sum + waysOf(one), 0);
    case "repeat": {
      const times = Math.min(node.max, ROW);
      const inner = waysOf(node.node);
      if (inner === 1) return Math.max(1, times - node.min + 1);
      return Array.from({ length: times }).reduce<number>((product) => Math.min(product * inner, Infinity), 1) + 1;
    }
    case "unknown":
      return Infinity;
    case "empty":
    case "character":
    case "assertion":
      return 1;
  }
}
