/**
 * The thread that runs RE2, and the only place that loads re2-wasm. `workerMain` is evaluated from its own source, so it
 * must not use anything outside its body: that works alike from `dist`, from a package and from tests, where no compiled
 * worker file exists. It owns the wasm objects: each is deleted before it is dropped, because the 16 MB heap never gives
 * a leaked one back (docs/performanceFacts.md, "re2-wasm hazards").
 */
import type * as Fs from "node:fs";
import { createRequire } from "node:module";
import type * as Os from "node:os";
import type * as Threads from "node:worker_threads";
import { Worker } from "node:worker_threads";
import type { WrappedRE2Constructor, WrappedRE2Interface } from "re2-wasm/build/wasm/re2.js";

export interface RegexSource {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
}

export interface WorkerJob {
  /** Above 0 and never used twice: the shared word says which one is running. */
  readonly seq: number;
  readonly regex: number;
  /** The regex itself, the first time this worker sees it. */
  readonly source?: RegexSource | undefined;
  /** Absent: compile only. */
  readonly text?: Uint8Array | undefined;
  /** Characters (code points) at the front that are context: no match begins there. */
  readonly skip: number;
}

export interface WorkerRequest {
  readonly jobs: readonly WorkerJob[];
  /** Regexes without users. */
  readonly forget: readonly number[];
}

export type WorkerResult =
  /** `index` in characters (code points) of the job's text, which is how re2-wasm counts. */
  | { readonly seq: number; readonly kind: "match"; readonly index: number; readonly text: string }
  | { readonly seq: number; readonly kind: "none" }
  | { readonly seq: number; readonly kind: "invalid"; readonly reason: string };

export type WorkerMessage =
  /** It has loaded RE2 and listens. `threadId` is the kernel's, where that is known. */
  | { readonly kind: "ready"; readonly threadId: number | undefined }
  | { readonly kind: "results"; readonly results: readonly WorkerResult[] }
  | { readonly kind: "unavailable"; readonly reason: string };

interface WorkerSetup {
  readonly re2Path: string;
  /** Two words: the `seq` of the job that is running, 0 when none is; and 1 while it is being compiled. */
  readonly running: Int32Array;
  readonly maxCompiled: number;
  /**
   * A run longer than this leaves a large automaton cache behind; the object is then deleted and recreated when needed.
   */
  readonly refreshMs: number;
}

/** What the wasm build has beyond its typings: it takes bytes as they are, and every object must be deleted. */
interface WasmRegex extends Pick<WrappedRE2Interface, "ok" | "error"> {
  match(text: Uint8Array, start: number, groups: boolean): ReturnType<WrappedRE2Interface["match"]>;
  delete(): void;
}
interface WasmModule {
  readonly WrappedRE2: new (...options: ConstructorParameters<WrappedRE2Constructor>) => WasmRegex;
}

/** The thread. Self-contained: see above. */
function workerMain(load: (path: string) => unknown): void {
  const threads = load("node:worker_threads") as typeof Threads;
  const { parentPort } = threads;
  const setup = threads.workerData as WorkerSetup;
  const sources = new Map<number, RegexSource>();
  /** In order of use: the first is the one to drop. */
  const compiled = new Map<number, WasmRegex>();
  const BACKGROUND = 5;
  const SAMPLE = new Uint8Array([97, 98, 98, 120, 120, 10, 97, 10]);
  let wasm: WasmModule;

  const compile = (id: number): WasmRegex | string => {
    const known = compiled.get(id);
    if (known !== undefined) {
      compiled.delete(id);
      compiled.set(id, known);
      return known;
    }
    const source = sources.get(id);
    if (source === undefined) return "the regex is not known here";
    Atomics.store(setup.running, 1, 1);
    const regex = new wasm.WrappedRE2(source.pattern, source.ignoreCase, source.multiline, source.dotAll);
    // RE2 builds half of its program at the first match: that is part of compiling.
    if (regex.ok()) regex.match(SAMPLE, 0, false);
    Atomics.store(setup.running, 1, 0);
    if (!regex.ok()) {
      const reason = regex.error();
      regex.delete();
      return reason;
    }
    compiled.set(id, regex);
    for (const oldest of compiled.keys()) {
      if (compiled.size <= setup.maxCompiled) break;
      drop(oldest);
    }
    return regex;
  };
  const drop = (id: number): void => {
    compiled.get(id)?.delete();
    compiled.delete(id);
  };
  const run = (job: WorkerJob): WorkerResult => {
    if (job.source !== undefined) sources.set(job.regex, job.source);
    const regex = compile(job.regex);
    if (typeof regex === "string") return { seq: job.seq, kind: "invalid", reason: regex };
    if (job.text === undefined) return { seq: job.seq, kind: "none" };
    const startMs = nowMs();
    const found = regex.match(job.text, job.skip, false);
    if (nowMs() - startMs > setup.refreshMs) drop(job.regex);
    return found.index < 0
      ? { seq: job.seq, kind: "none" }
      : { seq: job.seq, kind: "match", index: found.index, text: found.match };
  };
  /** The wasm engine compiles its own code on first use: the first regex must not pay for that. */
  const warmUp = (): void => {
    const regex = new wasm.WrappedRE2("(?m)^a+b{2,3}[^c]\\w(?:\\pN|x*?)$", false, true, false);
    regex.match(SAMPLE, 0, false);
    regex.delete();
  };
  const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
  const post = (message: WorkerMessage): void => parentPort?.postMessage(message, []);

  /** Linux: this thread's number, by which the main thread sees how much CPU it has used. */
  const threadId = (): number | undefined => {
    try {
      const { readlinkSync } = load("node:fs") as typeof Fs;
      return Number(readlinkSync("/proc/thread-self").split("/").pop());
    } catch {
      return undefined;
    }
  };
  // Linux has a priority per thread: when cores are scarce, the daemon's event loop goes first.
  if (process.platform === "linux") (load("node:os") as typeof Os).setPriority(BACKGROUND);
  try {
    wasm = load(setup.re2Path) as WasmModule;
    warmUp();
    post({ kind: "ready", threadId: threadId() });
  } catch (error) {
    post({ kind: "unavailable", reason: String(error) });
    return;
  }
  parentPort?.on("message", (request: WorkerRequest) => {
    for (const id of request.forget) {
      drop(id);
      sources.delete(id);
    }
    let results: WorkerResult[] = [];
    let sentMs = nowMs();
    for (const job of request.jobs) {
      Atomics.store(setup.running, 0, job.seq);
      // An abort of the wasm heap is thrown from here and ends the thread: the shared word then names the job.
      results.push(run(job));
      Atomics.store(setup.running, 0, 0);
      // A result must not wait noticeably for the jobs after it.
      if (nowMs() - sentMs > 2) {
        post({ kind: "results", results });
        results = [];
        sentMs = nowMs();
      }
    }
    if (results.length > 0) post({ kind: "results", results });
  });
}

/** Where RE2 is; throws when it is not installed. */
export const resolveRe2 = (): string => createRequire(import.meta.url).resolve("re2-wasm/build/wasm/re2");

/** Starts the thread. It never keeps the process alive by itself, and what the wasm build prints goes nowhere. */
export function startRegexWorker(setup: WorkerSetup): Worker {
  const worker = new Worker(`(${workerMain.toString()})(require)`, {
    eval: true,
    workerData: setup,
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  return worker;
}
