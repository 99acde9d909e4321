/**
 * Input to one pane as atomic jobs in a FIFO. A short job is one command line, so tmux executes it in one
 * step and a pane that is gone drops the whole of it. A long job pastes pieces from a buffer and keeps the FIFO until its
 * last reply, with a few pieces under way at a time, so that other panes' commands pass between them. Bytes that tmux's
 * parser cannot carry go by `send-keys -H`. Input is never sent twice: what was written when the connection went is
 * `indeterminate`.
 */
import {
  askInputOff,
  type CommandCondition,
  deleteBuffer,
  joinGroup,
  leaveModes,
  onlyIf,
  pasteBuffer,
  sendBytes,
  sendKeys,
  sendLiteral,
  setBuffer,
} from "../../protocol/command/build.ts";
import { isQuotable } from "../../protocol/command/encode.ts";
import { AppError, isCutShort } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import {
  MAX_INPUT_BYTES,
  MAX_INPUT_JOBS_PER_PANE,
  MAX_SEND_KEYS_BYTES,
  PASTE_PIECE_BYTES,
} from "../../protocol/limits.ts";
import type { Outcome, Settle } from "../connection/commandQueue.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import type { InputOptions, InputPart } from "../tmux/io.ts";
import { isKeyName, nearestKeyName } from "./keys.ts";
import { targetError } from "./paneGone.ts";
import { requirePasteText } from "./pasteText.ts";

/** No session's name, and what tmux says is missing when a part's condition does not hold. */
const PANE_HAS_CHANGED = "tmuxwire pane has changed";
/** Groups of a long job that may wait for their answer at once. */
const GROUPS_UNDER_WAY = 4;

interface Job {
  /** Command lines, each a group; executed in this order. */
  readonly groups: readonly (readonly string[])[];
  /** Buffers the job may leave behind when it fails. */
  readonly buffers: readonly string[];
  readonly beforeWrite: (() => void) | undefined;
  readonly settle: (error: AppError | undefined) => void;
  next: number;
  answered: number;
  failed: AppError | undefined;
}

interface InputQueueOptions {
  readonly pane: PaneId;
  /** @throws AppError CONNECTION_LOST while there is none. */
  readonly connection: () => ControlConnection;
  /** Makes the names of paste buffers unique on the server. */
  readonly bufferName: () => string;
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
   * has begun goes on without its caller.
   * @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT, NOT_FOUND, CONNECTION_LOST
   */
  submit(parts: readonly InputPart[], options: InputOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      options.signal?.throwIfAborted();
      if (this.#jobs.length >= MAX_INPUT_JOBS_PER_PANE) {
        throw new AppError("RESOURCE_LIMIT", `pane ${this.#options.pane} has too many input jobs waiting; slow down`);
      }
      const { pane, bufferName, connection } = this.#options;
      const plan = planInput(pane, parts, bufferName, () => connection().features.pasteNeedsRaw);
      const onAbort = (): void => {
        this.#jobs = this.#jobs.filter((other) => other !== job);
        reject(options.signal?.reason as Error);
      };
      const job: Job = {
        ...plan,
        beforeWrite: options.beforeWrite,
        settle: (error) => {
          options.signal?.removeEventListener("abort", onAbort);
          if (error === undefined) resolve();
          else reject(error);
        },
        next: 0,
        answered: 0,
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
      if (job.groups.length > 1) this.#current = job;
      this.#advance(job);
    }
  }

  #advance(job: Job): void {
    while (job.failed === undefined && job.next < job.groups.length && job.next - job.answered < GROUPS_UNDER_WAY) {
      const group = job.groups[job.next]!;
      try {
        const settle: Settle = (outcome) => {
          const error = failureOf(this.#options.pane, outcome);
          if (error !== undefined) job.failed ??= job.answered === 0 ? error : indeterminate(error);
          job.answered += 1;
          this.#advance(job);
        };
        this.#options.connection().sendGroup(withInputOff(this.#options.pane, group), settle);
        job.next += 1;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        // Nothing of this group was written; earlier ones may have been typed.
        job.failed = job.next === 0 ? error : indeterminate(error);
      }
    }
    const done = job.answered === job.next && (job.failed !== undefined || job.next === job.groups.length);
    if (!done) return;
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
        // No connection: the server went too, or the next start-up meets one leftover buffer.
        return;
      }
    }
  }
}

interface InputPlan {
  readonly groups: readonly (readonly string[])[];
  readonly buffers: readonly string[];
}

/** The message is the contracts'; whoever shows it to people says what was meant as well. */
function unknownKey(key: string): AppError {
  const nearest = nearestKeyName(key);
  const details = nearest === undefined ? {} : { details: { nearest } };
  return new AppError("INVALID_ARGUMENT", `Invalid key token: ${key}`, details);
}

/**
 * @param pasteNeedsRaw of the server that gets the plan; asked when there is something to paste
 * @throws AppError INVALID_ARGUMENT on an unknown key name too much text or a paste that is none: nothing is typed.
 */
export function planInput(
  pane: PaneId,
  parts: readonly InputPart[],
  bufferName: () => string,
  pasteNeedsRaw: () => boolean,
): InputPlan {
  const groups: (readonly string[])[] = [];
  const buffers: string[] = [];
  let line = [leaveModes(pane)];
  let totalBytes = 0;
  const typing = (command: string, condition: CommandCondition | undefined): readonly string[] =>
    condition === undefined ? [command] : onlyIf(pane, condition, command, PANE_HAS_CHANGED);
  for (const part of parts) {
    // The second block of a condition is the last of its group, and what came after it would not know that it failed.
    if (part.kind !== "text" && part.onlyIf !== undefined && part !== parts.at(-1)) {
      throw new AppError("INVALID_ARGUMENT", "a part with a condition comes last");
    }
    if (part.kind === "keys") {
      const unknown = part.keys.find((key) => !isKeyName(key));
      if (unknown !== undefined) throw unknownKey(unknown);
      if (part.keys.length === 0) continue;
      line.push(...typing(sendKeys(pane, part.keys), part.onlyIf));
      continue;
    }
    const condition = part.kind === "paste" ? part.onlyIf : undefined;
    totalBytes += part.bytes.length;
    if (totalBytes > MAX_INPUT_BYTES) {
      throw new AppError("INVALID_ARGUMENT", `one input job holds at most ${MAX_INPUT_BYTES} bytes; split the text`);
    }
    if (part.bytes.length === 0) continue;
    if (part.kind === "paste") requirePasteText(part.bytes);
    if (part.kind === "text" && part.bytes.length <= MAX_SEND_KEYS_BYTES) {
      line.push(isPrintable(part.bytes) ? sendLiteral(pane, part.bytes) : sendBytes(pane, part.bytes));
      continue;
    }
    for (const run of quotableRuns(part.bytes)) {
      if (isQuotable(run)) {
        const name = bufferName();
        buffers.push(name);
        for (let at = 0; at < run.length; at += PASTE_PIECE_BYTES) {
          line.push(setBuffer(name, run.subarray(at, at + PASTE_PIECE_BYTES), at > 0));
          if (at + PASTE_PIECE_BYTES < run.length) {
            groups.push(line);
            line = [];
          }
        }
        line.push(
          ...typing(pasteBuffer(pane, name, { bracketed: part.kind === "paste", raw: pasteNeedsRaw() }), condition),
        );
      } else {
        line.push(...typing(sendBytes(pane, run), condition));
      }
      if (condition !== undefined || joinedLength(line) > PASTE_PIECE_BYTES) {
        groups.push(line);
        line = [];
      }
    }
  }
  if (line.length > 0) groups.push(line);
  return { groups, buffers };
}

/** Cuts bytes so that each run either can be quoted or consists of NUL and 0xFF only; the latter at most 1 KiB long. */
function* quotableRuns(bytes: Uint8Array): Generator<Uint8Array> {
  let from = 0;
  while (from < bytes.length) {
    const special = isSpecial(bytes[from]!);
    const limit = special ? Math.min(bytes.length, from + MAX_SEND_KEYS_BYTES) : bytes.length;
    let to = from + 1;
    while (to < limit && isSpecial(bytes[to]!) === special) to += 1;
    yield bytes.subarray(from, to);
    from = to;
  }
}

const isSpecial = (byte: number): boolean => byte === 0 || byte === 0xff;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Printable UTF-8 without a control character: `send-keys -l` types it as it stands. */
function isPrintable(bytes: Uint8Array): boolean {
  let ascii = true;
  for (const byte of bytes) {
    if (byte < 0x20 || byte === 0x7f) return false;
    if (byte >= 0x80) ascii = false;
  }
  if (ascii) return true;
  try {
    return !/[\u0080-\u009f]/.test(utf8.decode(bytes));
  } catch {
    return false;
  }
}

const joinedLength = (commands: readonly string[]): number => joinGroup(commands).length;

function indeterminate(error: AppError): AppError {
  return new AppError(error.code, `${error.message}; look at the pane before typing again`, {
    details: { ...error.details, delivery: "indeterminate" },
    cause: error,
  });
}

/** In the same step as what is typed; behind it, where no empty command has to be the last (`onlyIf`). */
const withInputOff = (pane: PaneId, group: readonly string[]): readonly string[] =>
  group.at(-1) === "" ? [askInputOff(pane), ...group] : [...group, askInputOff(pane)];

function failureOf(pane: PaneId, outcome: Outcome): AppError | undefined {
  if ("error" in outcome) return inputError(pane, outcome.error);
  // Nothing else in a group of ours prints anything.
  if (!outcome.replies.some(({ body }) => body[0] === 0x31)) return undefined;
  const message = `input to pane ${pane} is turned off, nothing was typed; turn it on with: tmux select-pane -e -t ${pane}`;
  return new AppError("INCONSISTENT_STATE", message, { details: { reason: "input_off" } });
}

function inputError(pane: PaneId, error: AppError): AppError {
  if (error.code === "TMUX_COMMAND_FAILED" && error.message.includes(PANE_HAS_CHANGED)) {
    return new AppError("INCONSISTENT_STATE", `pane ${pane} has changed since it was captured; capture it again`, {
      cause: error,
    });
  }
  return isCutShort(error) ? indeterminate(error) : targetError(pane, error);
}
