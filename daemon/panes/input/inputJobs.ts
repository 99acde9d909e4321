/**
 * Input to one pane as atomic jobs in a FIFO. A short job is one command line, so tmux executes it in one
 * step and a pane that is gone drops the whole of it. A long job pastes pieces from a buffer and keeps the FIFO until its
 * last reply, with a few pieces under way at a time, so that other panes' commands pass between them. Input is never sent
 * twice: what was written when the connection was lost is `indeterminate`. `inputPlan.ts` makes the commands of a job.
 */
import { askInputOff, deleteBuffer } from "../../../protocol/command/build.ts";
import { AppError, isCutShort } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { MAX_INPUT_JOBS_PER_PANE } from "../../../protocol/limits.ts";
import type { Outcome, Settle } from "../../connection/commandQueue.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { ByteBudget } from "../../ops/byteBudget.ts";
import type { InputOptions, InputPart } from "../../tmux/io.ts";
import { costOf, PANE_HAS_CHANGED, planInput } from "./inputPlan.ts";
import { targetError } from "../paneGone.ts";

/** Groups of a long job that may wait for their reply at once. */
const GROUPS_UNDER_WAY = 4;

interface Job {
  readonly groups: Generator<readonly string[], void>;
  /** Buffers the job may leave behind when it fails. */
  readonly buffers: readonly string[];
  readonly beforeWrite: (() => void) | undefined;
  /** Groups that may wait for their reply at once: behind one whose condition does not hold no other is written. */
  readonly underWay: number;
  readonly settle: (error: AppError | undefined) => void;
  /** Command lines, each a group, that have been written. */
  written: number;
  replied: number;
  /** The group to be written next; undefined: all have been. */
  next: readonly string[] | undefined;
  failed: AppError | undefined;
}

interface InputQueueOptions {
  readonly pane: PaneId;
  /** @throws AppError CONNECTION_LOST while there is none. */
  readonly connection: () => ControlConnection;
  /** Makes the names of paste buffers unique on the server. */
  readonly bufferName: () => string;
  /** What the jobs of all panes come to, until tmux has taken them. */
  readonly budget: ByteBudget;
  /** Called when tmux has taken a job, before the output that it causes. */
  readonly onTyped: (parts: readonly InputPart[]) => void;
}

export class InputQueue {
  readonly #options: InputQueueOptions;
  #jobs: Job[] = [];
  #current: Job | undefined;

  constructor(options: InputQueueOptions) {
    this.#options = options;
  }

  /**
   * Resolves when tmux has taken the whole job. A caller that aborts a job that has not begun withdraws it; a job that
   * has begun continues without its caller.
   * @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT, NOT_FOUND, CONNECTION_LOST
   */
  submit(parts: readonly InputPart[], options: InputOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      options.signal?.throwIfAborted();
      const { pane, bufferName, connection, budget } = this.#options;
      const condition = options.onlyIf;
      const pasteNeedsRaw = (): boolean => connection().features.pasteNeedsRaw;
      const plan = planInput(pane, parts, { condition, bufferName, pasteNeedsRaw });
      const cost = costOf(parts);
      if (this.#jobs.length >= MAX_INPUT_JOBS_PER_PANE || !budget.hold(this, cost)) {
        throw new AppError("RESOURCE_LIMIT", `pane ${pane} has too much input waiting; try again in a moment`);
      }
      const onAbort = (): void => {
        if (this.#jobs.includes(job)) budget.release(this, cost);
        this.#jobs = this.#jobs.filter((other) => other !== job);
        reject(options.signal?.reason as Error);
      };
      const job: Job = {
        ...plan,
        beforeWrite: options.beforeWrite,
        underWay: condition === undefined ? GROUPS_UNDER_WAY : 1,
        settle: (error) => {
          options.signal?.removeEventListener("abort", onAbort);
          budget.release(this, cost);
          if (error === undefined) this.#options.onTyped(parts);
          if (error === undefined) resolve();
          else reject(error);
        },
        written: 0,
        replied: 0,
        next: undefined,
        failed: undefined,
      };
      options.signal?.addEventListener("abort", onAbort, { once: true });
      this.#jobs.push(job);
      this.#run();
    });
  }

  /** Settles every job that has not begun; what has begun is settled by its connection. */
  close(error: AppError): void {
    const jobs = this.#jobs;
    this.#jobs = [];
    for (const job of jobs) job.settle(error);
  }

  /** Begins jobs: a one-group job frees the FIFO as soon as it is written, because tmux executes lines in order. */
  #run(): void {
    while (this.#current === undefined) {
      const job = this.#jobs.shift();
      if (job === undefined) return;
      try {
        job.beforeWrite?.();
      } catch (error) {
        job.settle(error instanceof AppError ? error : new AppError("INTERNAL_ERROR", "beforeWrite", { cause: error }));
        continue;
      }
      this.#current = job;
      this.#advance(job);
      if (this.#current === job && job.written === 1 && job.next === undefined) this.#current = undefined;
    }
  }

  #advance(job: Job): void {
    try {
      if (job.written === 0) job.next = nextOf(job);
      while (job.failed === undefined && job.next !== undefined && job.written - job.replied < job.underWay) {
        const settle: Settle = (outcome) => {
          const error = failureOf(this.#options.pane, outcome);
          if (error !== undefined) job.failed ??= job.replied > 0 || isCutShort(error) ? indeterminate(error) : error;
          job.replied += 1;
          this.#advance(job);
        };
        this.#options.connection().sendGroup(withInputOff(this.#options.pane, job.next), settle);
        job.written += 1;
        job.next = nextOf(job);
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // Nothing of this group was written; earlier ones may have been typed.
      job.failed = job.written === 0 ? error : indeterminate(error);
    }
    if (job.replied < job.written) return;
    if (job.failed !== undefined) this.#deleteBuffers(job);
    job.settle(job.failed);
    if (this.#current === job) {
      this.#current = undefined;
      this.#run();
    }
  }

  #deleteBuffers(job: Job): void {
    for (const name of job.buffers) {
      try {
        this.#options.connection().send(deleteBuffer(name), "none", () => undefined);
      } catch {
        // No connection: the server is gone too, or the next start-up finds a leftover buffer.
        return;
      }
    }
  }
}

/** @throws AppError CONNECTION_LOST when making it needs the server. */
const nextOf = ({ groups }: Job): readonly string[] | undefined => groups.next().value ?? undefined;

function indeterminate(error: AppError): AppError {
  return new AppError(error.code, `${error.message}; look at the pane before typing again`, {
    details: { ...error.details, delivery: "indeterminate" },
    cause: error,
  });
}

/** In the same step as the input; after it, unless that is conditional: its last commands stand in the condition (`onlyIf`). */
const withInputOff = (pane: PaneId, group: readonly string[]): readonly string[] =>
  group.at(-1) === "" ? [askInputOff(pane), ...group] : [...group, askInputOff(pane)];

function failureOf(pane: PaneId, outcome: Outcome): AppError | undefined {
  if ("error" in outcome) return inputError(pane, outcome.error);
  // Only `askInputOff` prints anything in our groups.
  if (!outcome.replies.some(({ body }) => body[0] === 0x31)) return undefined;
  const message = `input to pane ${pane} is turned off, nothing was typed; turn it on with: tmux select-pane -e -t ${pane}`;
  return new AppError("INCONSISTENT_STATE", message, { details: { reason: "input_off" } });
}

function inputError(pane: PaneId, error: AppError): AppError {
  if (error.message.includes(PANE_HAS_CHANGED)) {
    return new AppError("INCONSISTENT_STATE", `pane ${pane} has changed since it was looked at; look again`, {
      cause: error,
    });
  }
  return targetError(pane, error);
}
