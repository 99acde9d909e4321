/** A regex as its users hold it and as the engine keeps it: shared by everyone who asks for the same pattern. */
import type { AppError } from "../../../protocol/errors.ts";
import type { RegexAnalysis } from "./regexAnalysis.ts";
import type { RegexSource } from "./regexWorker.ts";

export interface CompiledRegex {
  readonly id: number;
  readonly analysis: RegexAnalysis;
  /** Rejects with INVALID_ARGUMENT (`details.engine` "re2", `details.reason`), RESOURCE_LIMIT or UNSUPPORTED_PATTERN_ENGINE. */
  readonly ready: Promise<void>;
}

/** What the engine keeps of it. */
export interface SharedRegex extends CompiledRegex {
  readonly key: string;
  readonly source: RegexSource;
  users: number;
  /** The worker that has its source, by number. */
  knownTo: number;
  error: AppError | undefined;
  readonly settle: (error?: AppError) => void;
}

export function createRegex(id: number, key: string, analysis: RegexAnalysis): SharedRegex {
  let settle: (error?: AppError) => void = () => undefined;
  const ready = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error));
  });
  // Waits that share the regex also learn of a failure from its jobs.
  ready.catch(() => undefined);
  const source = { pattern: analysis.re2Pattern, ...analysis.flags };
  return { id, key, analysis, ready, source, users: 1, knownTo: 0, error: undefined, settle };
}
