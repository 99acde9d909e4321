/** What a wait searches for in the plain text of its output. */
import type { LiteralWatch } from "../literal/literalWatch.ts";
import type { CompiledRegex } from "../regex/compiledRegex.ts";
import type { RegexWatch } from "../regex/regexMatcher.ts";
import type { PromptWatch } from "../text/promptWatch.ts";

/** One thing a wait searches for, and its watch. */
export type TextWatch =
  | { readonly kind: "literal"; readonly watch: LiteralWatch }
  | { readonly kind: "regex"; readonly watch: RegexWatch; readonly regex: CompiledRegex }
  | { readonly kind: "prompt"; readonly watch: PromptWatch };
