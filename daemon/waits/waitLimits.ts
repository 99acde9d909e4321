/** Every bound of the waits with its unit and its reason; all can be set far higher (seed 002 §8.3, resource limits). */

export interface WaitLimits {
  /** WAIT_MAX_GLOBAL: waits at once in the whole process. */
  readonly maxGlobal: number;
  /** WAIT_MAX_PER_TARGET: waits at once on one pane or session. */
  readonly maxPerTarget: number;
  /** WAIT_MAX_TIMEOUT_SEC: longest time one wait may ask for. */
  readonly maxTimeoutSec: number;
  /** WAIT_MAX_PATTERN_BYTES: longest pattern, in bytes of UTF-8. */
  readonly maxPatternBytes: number;
  /** WAIT_MAX_REGEX_PER_TARGET: waits with a regex at once on one pane or session. */
  readonly maxRegexPerTarget: number;
  /** Share of `maxGlobal` and `maxPerTarget` past which regexes are refused and literals are not. */
  readonly regexSoftLimit: number;
  /** Used when a request names no timeout. */
  readonly defaultTimeoutMs: number;
  /** Predicates in one request, over all its alternatives. */
  readonly maxPredicates: number;

  /** Longest match of a regex, in bytes of plain text: the text is searched in windows of this size. */
  readonly regexWindowBytes: number;
  /** Plain text kept for regexes that are slower than the output; past it text is skipped and reported as a gap. */
  readonly regexBacklogBytes: number;
  /** One regex job may run this long before its worker is ended. */
  readonly regexWatchdogMs: number;
  /** The same for compiling one. */
  readonly regexCompileMs: number;
  /** A regex with {n,m} nested deeper than this product is refused. */
  readonly maxRegexRepetition: number;
  /** Size of the program a regex becomes, in rough instructions. */
  readonly maxRegexCost: number;
  /** Regexes compiled at once in the worker; the least recently used one is recompiled when it is needed again. */
  readonly maxCompiledRegexes: number;
  /** How long a match that rests on the end of unfinished output (`$`, a prompt) must stay at the end. */
  readonly settleMs: number;
  /** Longest matched text in a result, in bytes. */
  readonly maxMatchBytes: number;
  /** Output after which an echo that has not come is no longer expected. */
  readonly echoWindowBytes: number;
}

export const DEFAULT_WAIT_LIMITS: WaitLimits = {
  // The five of the seed.
  maxGlobal: 512,
  maxPerTarget: 64,
  maxTimeoutSec: 3_600,
  maxPatternBytes: 4_096,
  maxRegexPerTarget: 16,
  // Three quarters: a burst of regexes leaves a quarter of the places to literals, which cost a hundredth.
  regexSoftLimit: 0.75,
  // What the clients' contracts assume (30 s).
  defaultTimeoutMs: 30_000,
  // A person or an agent writes a request; ten alternatives of three predicates are plenty.
  maxPredicates: 32,

  // 100 lines of 80 columns, and the carry the contract allows; RE2 needs 50 µs for it. Less than a job (`MAX_JOB_BYTES`).
  regexWindowBytes: 8_192,
  // 25 ms of a flood: longer than a respawned worker takes to be back.
  regexBacklogBytes: 262_144,
  // A thousand times an ordinary job; a hostile pattern is ended before anyone waits for it.
  regexWatchdogMs: 50,
  // A \p{L} is 20 ms of compiling, a dozen of them may come together on a busy machine.
  regexCompileMs: 250,
  // The hazards measured begin at 300 (docs/performanceFacts.md, "re2-wasm hazards").
  maxRegexRepetition: 100,
  // Five \p{L}, which compile in 100 ms and some hundred kB of the 16 MB heap; 500 ordinary classes.
  maxRegexCost: 2_000,
  // Half of the number at which the 16 MB heap was full of ordinary patterns.
  maxCompiledRegexes: 1_000,
  // Ten times the pause between two chunks of one write; a prompt is noticed as fast as a person could.
  settleMs: 30,
  maxMatchBytes: 4_096,
  // Eight full screens or a long message of the day; an echo comes before the output of what was typed.
  echoWindowBytes: 16_384,
};

/** Read before the start of a wait, so that an escape sequence, string or character cut by the start is recognised. */
export const LEAD_BYTES = 16_384;
