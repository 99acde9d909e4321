/**
 * The worker's life: started when it is needed, watched while it works, replaced when it is lost. It is lost when one
 * job runs too long, or when it ends by itself (the wasm heap aborts); either way the shared word says which job it
 * was. There is none at all when RE2 does not load.
 */
import { readFileSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import type { Timer } from "../../time/clock.ts";
import {
  resolveRe2,
  startRegexWorker,
  type WorkerResult,
  type WorkerMessage,
  type WorkerRequest,
} from "./regexWorker.ts";
import type { WaitHost } from "../waitHost.ts";

interface RegexThreadOptions extends Pick<WaitHost, "clock" | "scheduler" | "limits"> {
  onResults(results: readonly WorkerResult[]): void;
  /** The worker is gone and a new one has its place; `seq` is the job it was running, 0 when none. */
  onLost(seq: number, why: "overdue" | "crashed"): void;
  /** There is no worker and there will be none. */
  onUnavailable(reason: string): void;
}

/**
 * A fresh worker that is silent for this long cannot run here. Starting takes a quarter of a second on an idle machine,
 * and more than 10 s was seen on one loaded to twelve times its cores.
 */
const START_TIMEOUT_MS = 60_000;
/** A job still unfinished after this many times its limit is given up, however little CPU it got. */
const MAX_STARVATION = 20;
/** Ordinary runs take well under 1 ms; see `WorkerSetup.refreshMs`. */
const REFRESH_MS = 5;

export class RegexThread {
  readonly #options: RegexThreadOptions;
  #worker: Worker | undefined;
  #number = 0;
  #running = new Int32Array(new SharedArrayBuffer(8));
  #hasSpoken = false;
  #isBusy = false;
  #watch: Timer | undefined;
  #start: Timer | undefined;
  #seenSeq = 0;
  #seenPhase = 0;
  /** When it was first seen, and how much CPU time the thread had used then. */
  #seenSinceMs = 0;
  #seenCpuMs: number | undefined;
  #threadId: number | undefined;
  #isClosed = false;

  constructor(options: RegexThreadOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** Changes with every new worker: a worker knows only what was sent to it. Starts one if there is none. */
  ensure(): number {
    if (this.#worker === undefined && !this.#isClosed) this.#startWorker();
    return this.#number;
  }

  post(request: WorkerRequest): void {
    this.#worker?.postMessage(request);
  }

  /** Watches the worker while it has work. */
  setBusy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    if (isBusy) this.#watchSoon();
  }

  close(): void {
    this.#isClosed = true;
    this.#watch?.cancel();
    this.#stopWorker();
  }

  #startWorker(): void {
    const { limits, scheduler, clock } = this.#options;
    this.#running = new Int32Array(new SharedArrayBuffer(8));
    this.#number++;
    this.#hasSpoken = false;
    this.#seenSeq = 0;
    this.#threadId = undefined;
    let worker: Worker;
    try {
      const { maxCompiledRegexes: maxCompiled } = limits;
      worker = startRegexWorker({ re2Path: resolveRe2(), running: this.#running, maxCompiled, refreshMs: REFRESH_MS });
    } catch (error) {
      this.#giveUp(String(error));
      return;
    }
    this.#worker = worker;
    worker.on("message", (message: WorkerMessage) => this.#onMessage(message));
    worker.on("error", () => this.#onEnd());
    worker.on("exit", () => this.#onEnd());
    this.#start = scheduler.at(clock.nowMs() + START_TIMEOUT_MS, () => {
      if (this.#isBusy && !this.#hasSpoken) this.#giveUp("the RE2 worker does not respond");
    });
  }

  #stopWorker(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#start?.cancel();
    worker?.removeAllListeners();
    // The thread may be deep in wasm; nothing waits for its end. An error it still throws is ignored.
    worker?.on("error", () => undefined);
    void worker?.terminate();
  }

  #onMessage(message: WorkerMessage): void {
    this.#hasSpoken = true;
    this.#start?.cancel();
    switch (message.kind) {
      case "ready":
        this.#threadId = message.threadId;
        return;
      case "unavailable":
        this.#giveUp(message.reason);
        return;
      case "results":
        this.#options.onResults(message.results);
    }
  }

  #onEnd(): void {
    const seq = Atomics.load(this.#running, 0);
    if (seq === 0 && !this.#hasSpoken) this.#giveUp("the RE2 worker ended while it started");
    else this.#lose(seq, "crashed");
  }

  #giveUp(reason: string): void {
    this.#stopWorker();
    this.#options.onUnavailable(reason);
  }

  #lose(seq: number, why: "overdue" | "crashed"): void {
    this.#stopWorker();
    // At once, not at the next job: the lost jobs wait for it to start.
    this.#startWorker();
    this.#options.onLost(seq, why);
  }

  #watchSoon(): void {
    if (this.#watch !== undefined || this.#isClosed) return;
    const { clock, scheduler, limits } = this.#options;
    // Half the limit: a job is then ended between once and one and a half times the limit after it began.
    this.#watch = scheduler.at(clock.nowMs() + limits.regexWatchdogMs / 2, () => {
      this.#watch = undefined;
      this.#probe();
      if (this.#isBusy) this.#watchSoon();
    });
  }

  /** A job is overdue when it has worked for its limit since it was first seen, so a late probe blames no job. */
  #probe(): void {
    const { clock, limits } = this.#options;
    const seq = Atomics.load(this.#running, 0);
    const phase = Atomics.load(this.#running, 1);
    const nowMs = clock.nowMs();
    const cpuMs = threadCpuMs(this.#threadId);
    if (seq === 0 || seq !== this.#seenSeq || phase !== this.#seenPhase) {
      this.#seenSeq = seq;
      this.#seenPhase = phase;
      this.#seenSinceMs = nowMs;
      this.#seenCpuMs = cpuMs;
      return;
    }
    const limitMs = phase === 1 ? limits.regexCompileMs : limits.regexWatchdogMs;
    const elapsedMs = nowMs - this.#seenSinceMs;
    const workedMs = cpuMs === undefined || this.#seenCpuMs === undefined ? elapsedMs : cpuMs - this.#seenCpuMs;
    if (workedMs >= limitMs || elapsedMs >= limitMs * MAX_STARVATION) this.#lose(seq, "overdue");
  }
}

/**
 * How much CPU time a thread of this process has used. On a busy machine a thread can wait for a core longer than any
 * watchdog allows; only its CPU time may be held against it. Linux only (proc(5), `schedstat`).
 * Milliseconds on a core since the thread began; undefined where that cannot be known.
 */
function threadCpuMs(threadId: number | undefined): number | undefined {
  if (threadId === undefined) return undefined;
  try {
    const nanoseconds = Number.parseInt(readFileSync(`/proc/self/task/${threadId}/schedstat`, "latin1"), 10);
    return Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : undefined;
  } catch {
    return undefined;
  }
}
