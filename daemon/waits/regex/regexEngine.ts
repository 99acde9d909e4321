/**
 * RE2 from the main thread's side: regexes are shared by pattern, jobs go to one worker in order, and the main thread
 * never waits for any. A watchdog checks which job the worker is running; a job that takes too long ends the worker,
 * and its waits fail. Every other job keeps its text here until its result comes, so a replacement starts where the
 * ended worker stopped and nothing is lost.
 */
import type { BudgetedTask } from "../../time/turnBudget.ts";
import { refusalOf, type RegexAnalysis } from "./regexAnalysis.ts";
import { RegexThread } from "./regexThread.ts";
import type { ShortRegex, ShortSearch } from "./shortRegex.ts";
import type { RegexSource, WorkerJob, WorkerResult } from "./regexWorker.ts";
import type { WaitHost } from "../waitHost.ts";
import { AppError, shuttingDown } from "../../../protocol/errors.ts";

export type RegexOutcome =
  /** `index` in characters (code points) of the text. */
  | { readonly kind: "match"; readonly index: number; readonly text: string }
  | { readonly kind: "none" }
  | { readonly kind: "failed"; readonly error: AppError };

interface RegexEngineOptions extends WaitHost {
  /** RE2 is switched off: every regex is refused. */
  readonly isDisabled?: boolean | undefined;
}

interface Job {
  readonly seq: number;
  readonly regex: CompiledRegex;
  readonly text: Uint8Array | undefined;
  readonly skip: number;
  readonly done: (outcome: RegexOutcome) => void;
  /** Workers that ended by themselves while they ran it. */
  crashes: number;
}

/** A job that this thread judges. */
interface JobHere {
  readonly regex: CompiledRegex;
  readonly text: Uint8Array;
  readonly skip: number;
  /** Once it is begun. */
  search: ShortSearch | undefined;
  readonly done: (outcome: RegexOutcome) => void;
}

/** Text per job: well under a millisecond at RE2's usual speed; a slow regex hits the watchdog on less. */
export const MAX_JOB_BYTES = 32_768;
/** Jobs and bytes sent to the worker before its results are back: enough to keep it busy for some milliseconds. */
const MAX_SENT_JOBS = 64;
const MAX_SENT_BYTES = 1_048_576;
/** A job that took its worker down may have met a heap that others had filled: it is retried alone in a fresh one. */
const MAX_CRASHES = 2;
/** A piece of text that takes longer is slow, and a regex is the worker's after so many in succession: one alone may be the machine. */
const SLOW_PIECE_MS = 1;
const MAX_SLOW_PIECES = 3;
/** Patterns the watchdog ended that are remembered, to be refused at once. */
const MAX_CONDEMNED = 256;

/** Shared by everyone who asks for the same pattern; each of them releases it once. */
export class CompiledRegex {
  readonly id: number;
  readonly key: string;
  readonly analysis: RegexAnalysis;
  /** Rejects with INVALID_ARGUMENT (`details.engine` "re2", `details.reason`), RESOURCE_LIMIT or UNSUPPORTED_PATTERN_ENGINE. */
  readonly ready: Promise<void>;
  readonly source: RegexSource;
  users = 1;
  /** The worker that has its source, by number. */
  knownTo = 0;
  /** Its jobs that are judged here and have no outcome yet, and those that are the worker's. */
  here = 0;
  away = 0;
  /** Pieces of text in succession that took long here. */
  slowPieces = 0;
  error: AppError | undefined;
  settle: (error?: AppError) => void = () => undefined;
  readonly #engine: RegexEngine;

  constructor(engine: RegexEngine, id: number, key: string, analysis: RegexAnalysis) {
    this.#engine = engine;
    this.id = id;
    this.key = key;
    this.analysis = analysis;
    this.source = { pattern: analysis.re2Pattern, ...analysis.flags };
    this.ready = new Promise((resolve, reject) => {
      this.settle = (error) => (error === undefined ? resolve() : reject(error));
    });
    // Waits that share the regex also learn of a failure from its jobs.
    this.ready.catch(() => undefined);
  }

  /** Looks for the first match in `text`, which must not change until `done` is called: once, never in this turn. */
  run(text: Uint8Array, skip: number, done: (outcome: RegexOutcome) => void): void {
    this.#engine.run(this, text, skip, done);
  }

  release(): void {
    this.#engine.release(this);
  }
}

export class RegexEngine {
  readonly #options: RegexEngineOptions;
  readonly #thread: RegexThread;
  readonly #regexes = new Map<string, CompiledRegex>();
  readonly #condemned = new Map<string, AppError>();
  #queue: Job[] = [];
  /** In the order in which the worker runs them. */
  readonly #sent = new Map<number, Job>();
  #sentBytes = 0;
  #forget: number[] = [];
  readonly #jobsHere: JobHere[] = [];
  /** At least one piece in a turn, the others while there is time: a pane that prints near misses must not hold up the loop. */
  readonly #taskHere: BudgetedTask = {
    run: (hasTimeLeft) => {
      do this.#judgePiece();
      while (this.#jobsHere.length > 0 && hasTimeLeft());
      return this.#jobsHere.length === 0;
    },
  };
  #nextId = 1;
  #nextSeq = 1;
  #flushing = false;
  /** Set when RE2 cannot be had at all. */
  #unavailable: AppError | undefined;
  #closed = false;

  constructor(options: RegexEngineOptions) {
    const { clock, scheduler, limits } = options;
    this.#options = options;
    this.#thread = new RegexThread({
      clock,
      scheduler,
      limits,
      onResults: (results) => this.#onResults(results),
      onLost: (seq, why) => this.#onLost(seq, why),
      onUnavailable: (reason) => this.#failAll((this.#unavailable = regexUnavailable(reason))),
    });
    if (options.isDisabled === true) this.#unavailable = regexUnavailable("RE2 is switched off in this daemon");
  }

  /** Shared by everyone who asks for the same pattern; compiled once. @throws AppError UNSUPPORTED_PATTERN_ENGINE, RESOURCE_LIMIT */
  acquire(analysis: RegexAnalysis): CompiledRegex {
    if (this.#unavailable !== undefined) throw this.#unavailable;
    const { ignoreCase, multiline, dotAll } = analysis.flags;
    const key = `${Number(ignoreCase)}${Number(multiline)}${Number(dotAll)}${analysis.re2Pattern}`;
    const condemned = this.#condemned.get(key);
    if (condemned !== undefined) throw condemned;
    const known = this.#regexes.get(key);
    if (known !== undefined && known.error === undefined) {
      known.users++;
      return known;
    }
    const regex = new CompiledRegex(this, this.#nextId++, key, analysis);
    this.#regexes.set(key, regex);
    // RE2 accepts every pattern that JavaScript gets here, so it need not be asked first.
    if (analysis.short !== undefined) {
      regex.settle();
      return regex;
    }
    this.#options.metrics.numbers.wait_regex_compiles_total++;
    this.#submit(regex, undefined, 0, (outcome) => {
      regex.settle(outcome.kind === "failed" ? outcome.error : undefined);
    });
    return regex;
  }

  release(regex: CompiledRegex): void {
    if (--regex.users > 0) return;
    if (this.#regexes.get(regex.key) === regex) this.#regexes.delete(regex.key);
    if (regex.knownTo === 0) return;
    this.#forget.push(regex.id);
    this.#flushSoon();
  }

  run(regex: CompiledRegex, text: Uint8Array, skip: number, done: (outcome: RegexOutcome) => void): void {
    this.#options.metrics.numbers.wait_regex_jobs_total++;
    // Outcomes come in the order of the texts: what comes after a job of this thread waits for its turn here.
    if (regex.here === 0 && shortOf(regex) === undefined) {
      this.#sendAway(regex, text, skip, done);
      return;
    }
    regex.here += 1;
    this.#jobsHere.push({ regex, text, skip, search: undefined, done });
    this.#options.budget.add(this.#taskHere);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#thread.close();
    this.#failAll(shuttingDown());
  }

  /** Judges a piece of the first job's text. */
  #judgePiece(): void {
    const [job] = this.#jobsHere;
    if (job === undefined) return;
    const found = this.#closed ? "long" : this.#look(job);
    if (found === "more") return;
    const { regex, text, skip, search, done } = job;
    this.#jobsHere.shift();
    regex.here -= 1;
    if (this.#closed) done({ kind: "failed", error: shuttingDown() });
    else if (found === "long") this.#sendAway(regex, text, search?.skip ?? skip, done);
    else done(found === "none" ? { kind: "none" } : { kind: "match", ...found });
  }

  #look(job: JobHere): ReturnType<ShortSearch["next"]> {
    const { regex, text, skip } = job;
    const short = shortOf(regex);
    if (short === undefined) return "long";
    const startMs = this.#options.clock.nowMs();
    job.search ??= short.search(text, skip);
    const found = job.search.next();
    regex.slowPieces = this.#options.clock.nowMs() - startMs > SLOW_PIECE_MS ? regex.slowPieces + 1 : 0;
    return found;
  }

  #sendAway(regex: CompiledRegex, text: Uint8Array, skip: number, done: (outcome: RegexOutcome) => void): void {
    regex.away += 1;
    this.#submit(regex, text, skip, (outcome) => {
      regex.away -= 1;
      done(outcome);
    });
  }

  #submit(
    regex: CompiledRegex,
    text: Uint8Array | undefined,
    skip: number,
    done: (outcome: RegexOutcome) => void,
  ): void {
    this.#queue.push({ seq: this.#nextSeq, regex, text, skip, done, crashes: 0 });
    this.#nextSeq = this.#nextSeq >= 0x7fff_ffff ? 1 : this.#nextSeq + 1;
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#flushing || this.#closed) return;
    this.#flushing = true;
    queueMicrotask(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#queue.length > 0) this.#thread.ensure();
    const failed = this.#unavailable;
    if (failed !== undefined) {
      this.#failAll(failed);
      return;
    }
    if (this.#closed || (this.#queue.length === 0 && !this.#thread.isRunning)) return;
    const jobs: WorkerJob[] = [];
    let taken = 0;
    for (const job of this.#queue) {
      // A job that has crashed a worker runs alone, so that nothing else can bring the next one down.
      if (this.#sent.size > 0 && (job.crashes > 0 || this.#sentBytes >= MAX_SENT_BYTES)) break;
      if (this.#sent.size >= MAX_SENT_JOBS || this.#isTryingAlone()) break;
      taken++;
      if (job.regex.error !== undefined) finishSoon(job, { kind: "failed", error: job.regex.error });
      // No user is left, and the worker would keep a regex that it was sent to forget.
      else if (job.regex.users <= 0) finishSoon(job, { kind: "none" });
      else jobs.push(this.#send(job));
    }
    this.#queue = this.#queue.slice(taken);
    this.#post(jobs);
  }

  #isTryingAlone(): boolean {
    const [only] = this.#sent.values();
    return only !== undefined && only.crashes > 0;
  }

  #send(job: Job): WorkerJob {
    const worker = this.#thread.ensure();
    this.#sent.set(job.seq, job);
    this.#sentBytes += job.text?.length ?? 0;
    const source = job.regex.knownTo === worker ? undefined : job.regex.source;
    job.regex.knownTo = worker;
    return { seq: job.seq, regex: job.regex.id, source, text: job.text, skip: job.skip };
  }

  #post(jobs: readonly WorkerJob[]): void {
    if (jobs.length === 0 && this.#forget.length === 0) return;
    this.#thread.post({ jobs, forget: this.#forget });
    this.#forget = [];
    this.#thread.setBusy(this.#sent.size > 0);
  }

  #onResults(results: readonly WorkerResult[]): void {
    for (const result of results) this.#finish(result);
    this.#thread.setBusy(this.#sent.size > 0);
    if (this.#queue.length > 0) this.#flushSoon();
  }

  #finish(result: WorkerResult): void {
    const job = this.#take(result.seq);
    if (job === undefined) return;
    if (result.kind !== "invalid") {
      job.done(result);
      return;
    }
    const reason = refusalOf(job.regex.source.pattern, result.reason);
    const details = { engine: "re2", reason };
    const error = new AppError("INVALID_ARGUMENT", `RE2 cannot use this regex: ${reason}`, { details });
    this.#condemn(job.regex, error, false);
    job.done({ kind: "failed", error });
  }

  #take(seq: number): Job | undefined {
    const job = this.#sent.get(seq);
    if (job === undefined) return undefined;
    this.#sent.delete(seq);
    this.#sentBytes -= job.text?.length ?? 0;
    return job;
  }

  /** Only the job that was running can be at fault; all others continue in the replacement, from the text kept here. */
  #onLost(seq: number, why: "overdue" | "crashed"): void {
    const { numbers } = this.#options.metrics;
    if (why === "overdue") numbers.wait_regex_watchdog_total++;
    else numbers.wait_regex_crashes_total++;
    const job = this.#take(seq);
    const isOver = job !== undefined && (why === "overdue" || ++job.crashes >= MAX_CRASHES);
    this.#requeue(isOver ? undefined : job);
    if (isOver)
      this.#endJob(job, why === "overdue" ? "it took too long" : "it exhausts the memory of the regex engine");
    this.#thread.setBusy(false);
    this.#flushSoon();
  }

  /** Everything sent and without a result goes back to the front, in order. */
  #requeue(first: Job | undefined): void {
    const jobs = [...this.#sent.values()];
    this.#sent.clear();
    this.#sentBytes = 0;
    this.#queue = [...(first === undefined ? [] : [first]), ...jobs, ...this.#queue];
  }

  #endJob(job: Job, why: string): void {
    const error = new AppError(
      "RESOURCE_LIMIT",
      `the regex costs too much on this output: ${why}; make it simpler or wait for a literal`,
      {
        details: { engine: "re2", reason: why },
      },
    );
    this.#condemn(job.regex, error, true);
    job.done({ kind: "failed", error });
  }

  /** Later jobs of this regex fail with the same error. */
  #condemn(regex: CompiledRegex, error: AppError, isRemembered: boolean): void {
    regex.error = error;
    if (!isRemembered) return;
    this.#condemned.set(regex.key, error);
    const [oldest] = this.#condemned.keys();
    if (this.#condemned.size > MAX_CONDEMNED && oldest !== undefined) this.#condemned.delete(oldest);
  }

  #failAll(error: AppError): void {
    const jobs = [...this.#sent.values(), ...this.#queue];
    this.#sent.clear();
    this.#sentBytes = 0;
    this.#queue = [];
    for (const job of jobs) job.done({ kind: "failed", error });
  }
}

/** What judges its texts here; undefined while they are the worker's. */
const shortOf = ({ analysis, error, away, slowPieces }: CompiledRegex): ShortRegex | undefined =>
  error === undefined && away === 0 && slowPieces < MAX_SLOW_PIECES ? analysis.short : undefined;

export const regexUnavailable = (reason: string): AppError =>
  new AppError("UNSUPPORTED_PATTERN_ENGINE", `regexes are not available: ${reason}; use a literal`, {
    details: { engine: "re2", reason },
  });

const finishSoon = (job: Job, outcome: RegexOutcome): void => queueMicrotask(() => job.done(outcome));
