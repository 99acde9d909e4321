/**
 * What a bench prints and how it samples. Contenders of one comparison take turns within one run, so that a noisy machine
 * disturbs all of them alike; medians and their ratio are what counts. Every contender checks its own result and throws
 * when it is wrong, so nothing is timed that did not happen and no result is optimised away.
 */

/** One JSON line with `--json`, else a row of a table. `ratio` is `median / baseline.median`: below 1 is better for times, above 1 for rates. */
export interface Figure {
  readonly bench: string;
  readonly figure: string;
  readonly unit: string;
  readonly median: number;
  readonly p90?: number;
  readonly baseline: { readonly name: string; readonly median: number };
  readonly ratio: number;
  readonly samples: number;
}

export type Emit = (figure: Figure) => void;

/** A row of a table that has no median against a baseline; tables have the columns of their rows, in their order. */
export interface BenchRow {
  readonly bench: string;
  readonly table: string;
  readonly cells: Readonly<Record<string, string | number>>;
  /** The same for programs; nothing: the line of JSON has the cells. */
  readonly figures?: Readonly<Record<string, string | number>>;
}

/** What whoever runs a bench has asked for, and where it says how far it is. */
export interface BenchRun {
  /** Every count as small as it can be, to see that the bench works; its figures say nothing. */
  readonly isShort: boolean;
  /** How long panes are followed, in seconds; undefined: the bench's own default. */
  readonly followSec: number | undefined;
  /** Only these jobs of a bench that has jobs; undefined: all. */
  readonly jobs: readonly string[] | undefined;
  readonly row: (row: BenchRow) => void;
  readonly progress: (text: string) => void;
}

/** What each bench module exports as `run`. */
export type RunBench = (emit: Emit, run: BenchRun) => Promise<void>;

/** One way of doing the same thing; each call is one sample in the comparison's unit. */
export interface Contender {
  readonly name: string;
  readonly sample: () => Promise<number>;
}

export interface Turns {
  readonly rounds: number;
  /** Samples a contender takes before the next one has its turn. */
  readonly perRound: number;
  /** Samples taken first and thrown away. */
  readonly warmUp: number;
}

/** Samples by contender, in the order given. */
export async function takeTurns(contenders: readonly Contender[], turns: Turns): Promise<number[][]> {
  const samples = contenders.map((): number[] => []);
  for (const { sample } of contenders) for (let at = 0; at < turns.warmUp; at += 1) await sample();
  for (let round = 0; round < turns.rounds; round += 1) {
    for (const [index, { sample }] of contenders.entries()) {
      // The first sample of a turn meets caches that another contender has filled.
      await sample();
      for (let at = 0; at < turns.perRound; at += 1) samples[index]!.push(await sample());
    }
  }
  return samples;
}

export interface Comparison {
  readonly bench: string;
  readonly figure: string;
  readonly unit: string;
}

/** The first contender against one of the others. */
export function figureOf(
  comparison: Comparison,
  ours: readonly number[],
  baselineName: string,
  baseline: readonly number[],
): Figure {
  const median = quantile(ours, 0.5);
  const baselineMedian = quantile(baseline, 0.5);
  return {
    ...comparison,
    median: round(median),
    ...(ours.length < MIN_SAMPLES_FOR_P90 ? {} : { p90: round(quantile(ours, 0.9)) }),
    baseline: { name: baselineName, median: round(baselineMedian) },
    ratio: round(median / baselineMedian),
    samples: ours.length,
  };
}

/** Runs contenders in turns and emits the first one against each of the others. */
export async function compare(
  comparison: Comparison,
  contenders: readonly [Contender, ...Contender[]],
  turns: Turns,
  emit: Emit,
): Promise<void> {
  const [ours, ...baselines] = await takeTurns(contenders, turns);
  for (const [index, baseline] of baselines.entries()) {
    emit(figureOf(comparison, ours!, contenders[index + 1]!.name, baseline));
  }
}

/** Contenders with what they run on. */
export interface Trial extends AsyncDisposable {
  readonly contenders: readonly [Contender, ...Contender[]];
}

/**
 * `compare` over several trials, each on servers of its own: on which core the kernel puts a server's processes decides
 * more than what is compared, and stays as it is while they live.
 */
export async function compareTrials(
  comparison: Comparison,
  open: () => Promise<Trial>,
  turns: Turns & { readonly trials: number },
  emit: Emit,
): Promise<void> {
  const pooled: { readonly name: string; readonly samples: number[] }[] = [];
  for (let count = 0; count < turns.trials; count += 1) {
    await using trial = await open();
    const samples = await takeTurns(trial.contenders, turns);
    for (const [index, { name }] of trial.contenders.entries()) {
      pooled[index] ??= { name, samples: [] };
      pooled[index].samples.push(...samples[index]!);
    }
  }
  const [ours, ...baselines] = pooled;
  for (const { name, samples } of baselines) emit(figureOf(comparison, ours!.samples, name, samples));
}

/** A trial on things that are disposed of together. */
export const trialOf = (contenders: Trial["contenders"], on: readonly AsyncDisposable[]): Trial => ({
  contenders,
  [Symbol.asyncDispose]: async () => {
    for (const each of on) await each[Symbol.asyncDispose]();
  },
});

/** Milliseconds that `work` took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** @throws Error when a contender did not do what is being timed. */
export function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`bench: ${what}`);
}

/** Fewer samples have no ninth decile worth printing. */
const MIN_SAMPLES_FOR_P90 = 20;

export function quantile(samples: readonly number[], part: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

const round = (value: number): number => Number(value.toPrecision(4));
