/**
 * Keeps a prompt from being a command of the program that gets it, or refuses: `!` runs a shell, `/` a command of the
 * program, `#` notes something, `@` reads a file. What each program does with them in a paste, and what undoes it, is
 * measured (docs/agentFacts.md); where nothing does, the request is refused before anything is typed.
 */
import { AppError } from "../../../protocol/errors.ts";
import type { Profile } from "../../readiness/profile.ts";

/** Characters that some program treats specially at the beginning of a prompt. */
const SPECIAL = "!/#@";
const MENTION = /(?:^|\s)@\S/u;

/** @throws AppError INVALID_ARGUMENT */
export function literalText({ name, submit }: Profile, text: string): string {
  const { plain = "", starts = "", with: prefix = "", attaches = false } = submit.literal ?? {};
  if (attaches && MENTION.test(text)) {
    throw cannotKeep(name, "@", "it reads the files that @ names; leave the @ out, or submit without literal");
  }
  const first = text.trimStart()[0] ?? "";
  if (!SPECIAL.includes(first) || plain.includes(first)) return text;
  if (!starts.includes(first)) {
    throw cannotKeep(name, first, `begin the text with something other than ${first}, or submit without literal`);
  }
  return text.startsWith(prefix) ? text : prefix + text;
}

const cannotKeep = (profile: string, character: string, advice: string): AppError =>
  new AppError("INVALID_ARGUMENT", `there is no known way to make ${character} plain text for ${profile}: ${advice}`, {
    details: { profile, character },
  });
