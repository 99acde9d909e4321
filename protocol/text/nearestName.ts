import { AppError } from "../errors.ts";

/** Nothing has this name. `details.nearest`: the one that may have been meant, so that a surface for people can suggest it. */
export function notFound(message: string, given: string, names: Iterable<string>): AppError {
  const nearest = nearestName(given, [...names]);
  return new AppError("NOT_FOUND", message, nearest === undefined ? {} : { details: { nearest } });
}

/** The name a person most likely meant: one with this prefix, or one that differs in at most two letters, a short one in one. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  if (given === "") return undefined;
  const starting = names.filter((name) => name.startsWith(given));
  if (starting.length === 1) return starting[0];
  // A name that is much longer or shorter cannot be near, so it is not compared.
  const scored = names
    .filter((name) => Math.abs(name.length - given.length) <= MAX_DISTANCE && name.length <= MAX_NAME)
    .map((name) => ({ name, distance: editDistance(given, name) }))
    .sort((a, b) => a.distance - b.distance);
  const best = scored[0];
  // Of a short name two letters are half of it.
  const most = given.length <= SHORT ? 1 : MAX_DISTANCE;
  return best !== undefined && best.distance <= most && best.distance < given.length ? best.name : undefined;
}

const MAX_DISTANCE = 2;
const SHORT = 4;
const MAX_NAME = 64;

/** Letters that are inserted, left out, replaced, or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const isSwapped = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      next.push(
        Math.min(
          next[j]! + 1,
          row[j + 1]! + 1,
          row[j]! + (a[i] === b[j] ? 0 : 1),
          isSwapped ? before[j - 1]! + 1 : Infinity,
        ),
      );
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}

/** What people and models call arguments and options that have another name here: the first of those that there are is meant. */
const CALLED: Readonly<Record<string, readonly string[]>> = {
  argv: ["command", "args"],
  body: ["text"],
  cmd: ["command"],
  columns: ["cols"],
  content: ["text", "parts"],
  data: ["base64", "text", "parts"],
  dir: ["cwd"],
  directory: ["cwd"],
  env: ["environment"],
  grep: ["text", "regex", "pattern"],
  height: ["rows", "size"],
  idle: ["stable", "stableSec", "ready"],
  input: ["parts", "text"],
  key: ["keys", "parts"],
  keys: ["parts"],
  lines: ["rows"],
  match: ["text", "regex", "pattern"],
  message: ["text", "prompt"],
  path: ["cwd"],
  pattern: ["text", "regex"],
  program: ["command"],
  prompt: ["text"],
  quiet: ["stable", "stableSec"],
  regexp: ["regex"],
  session: ["name", "pane"],
  shell: ["command"],
  silence: ["stable", "stableSec"],
  stable: ["stableSec"],
  string: ["literal", "text"],
  target: ["pane", "window", "session"],
  text: ["literal", "pattern", "prompt", "parts"],
  title: ["name"],
  until: ["pattern"],
  variables: ["environment"],
  width: ["cols", "size"],
  workdir: ["cwd"],
};
export const CALLED_NAMES: readonly string[] = Object.keys(CALLED);

/** The one of these names that elsewhere is called so. */
export const nameFor = (called: string, names: readonly string[]): string | undefined =>
  Object.hasOwn(CALLED, called) ? CALLED[called]?.find((name) => names.includes(name)) : undefined;
