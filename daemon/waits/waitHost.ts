/** What a wait stands on: the parts that all waits share, and its source as the readers of output and screen see it. */
import type { OutputSource } from "../tmux/outputSource.ts";
import type { RegexEngine } from "./regex/regexEngine.ts";
import type { WaitParts } from "./waitParts.ts";

/** The same for all waits. */
export interface WaitHost extends WaitParts {
  readonly engine: RegexEngine;
}

/** A `WaitTarget`, for what it reads with. */
export interface ReadTarget {
  readonly host: WaitHost;
  readonly source: OutputSource;
  nowMs(): number;
  /** Streams settle once the output has been quiet for a while. */
  wantsQuiet(): void;
  /** RE2 has judged something. */
  regexAdvanced(): void;
}
