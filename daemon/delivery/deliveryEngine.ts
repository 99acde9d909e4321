/**
 * The delivery engine: one delivery at a time per pane, each with a deadline, each once per idempotency key. What has begun
 * to be typed is brought to its end even when its caller leaves.
 */
import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { AppError, invalidArgument, isCutShort, toAppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { Once } from "../ops/once.ts";
import type { ReadinessWatcher } from "../readiness/readiness.ts";
import type { ProcessMark } from "../tmux/processes.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";
import type { Clock, Timed, Timer } from "../time/clock.ts";
import { within } from "../time/within.ts";
import { type AddresseeRequest, type Arrival, readersNow } from "./pane/addressee.ts";
import { chooseAnswer } from "./answer/chooseAnswer.ts";
import { clearBox, requireNoQuestion } from "./prompt/clearBox.ts";
import type {
  ChooseRequest,
  ClearRequest,
  Delivery,
  DeliveryOutcome,
  Look,
  LookRequest,
  PressRequest,
  SubmitRequest,
  SubmitResult,
  Typing,
} from "./delivery.ts";
import { DEFAULT_DELIVERY_TIMEOUT_MS, MAX_DELIVERY_KEY_CHARS, MAX_EXACT_CAPTURES } from "./deliveryLimits.ts";
import { DeliveryStore, type StoredOutcome } from "./deliveryStore.ts";
import { lookAt } from "./screen/lookAt.ts";
import { takeCapture } from "./screen/screenCapture.ts";
import { PaneMutex, type WhileFree } from "./paneMutex.ts";
import { pressInterrupt } from "./answer/pressInterrupt.ts";
import { PaneKeys } from "./pane/paneKeys.ts";
import { PaneReader } from "./pane/paneReader.ts";
import { PaneWatch } from "./pane/paneWatch.ts";
import { pressSteps } from "./answer/pressSteps.ts";
import { promptText } from "./prompt/promptText.ts";
import { settleState, submitPrompt } from "./prompt/submitPrompt.ts";
import { Progress, resultOf, type Work } from "./work.ts";

export interface DeliveryOptions extends Timed {
  readonly readiness: ReadinessWatcher;
  /** Closed with the engine. Default: one in memory, which a restart forgets. */
  readonly store?: DeliveryStore | undefined;
  /** A prompt was taken by the program in a pane; by which process, if the host knows. Must not throw. */
  readonly onTaken?: ((taken: TakenPrompt) => void) | undefined;
  /**
   * In the turn of a delivery's first write. What it returns is called at the end, with the outcome; undefined: it failed.
   * Neither may throw.
   */
  readonly onTyping?: ((typing: Typing) => (outcome: DeliveryOutcome | undefined) => void) | undefined;
  /** The record of a delivery could not be completed. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

interface TakenPrompt {
  readonly server: TmuxServer;
  readonly pane: PaneId;
  readonly text: string;
  readonly process: ProcessMark | undefined;
}

interface Call extends Pick<
  SubmitRequest,
  "server" | "pane" | "profile" | "addressee" | "timeoutMs" | "signal" | "onStage"
> {
  /** Its keys execute nothing: whatever program reads is meant, as long as it is the same one. */
  readonly isForAnybody?: boolean;
  /** As `signal`, and its caller is left at once. */
  readonly withdrawn?: AbortSignal | undefined;
  readonly typing?: Typing | undefined;
}

/** What a delivery with a key reports while it is under way. */
interface Attempt {
  /** In the turn of the first write. @throws AppError: then nothing may be written */
  readonly beforeFirstWrite: () => void;
  /** Whether something was written; asked when it has failed. */
  readonly wrote: { value: boolean };
}

export class DeliveryEngine implements Delivery {
  readonly #readiness: ReadinessWatcher;
  readonly #onTaken: NonNullable<DeliveryOptions["onTaken"]>;
  readonly #onTyping: NonNullable<DeliveryOptions["onTyping"]>;
  readonly #clock: Clock;
  readonly #store: DeliveryStore;
  readonly #keys: Once<StoredOutcome>;
  readonly #mutex = new PaneMutex();
  /** Deliveries under way. */
  readonly #underWay = new Set<object>();
  /** Set: nothing new is accepted. Called when one has ended. */
  #onEnd: (() => void) | undefined;
  readonly #stopping = new AbortController();
  readonly #closing = new AbortController();

  constructor({ readiness, clock, nowUnixMs, store, onTaken, onTyping, onError = () => undefined }: DeliveryOptions) {
    // Every delivery subscribes to them.
    setMaxListeners(0, this.#stopping.signal, this.#closing.signal);
    this.#readiness = readiness;
    this.#onTaken = onTaken ?? (() => undefined);
    this.#onTyping = onTyping ?? (() => () => undefined);
    this.#clock = clock;
    this.#store = store ?? new DeliveryStore({ path: ":memory:", nowUnixMs });
    this.#keys = new Once({ store: this.#store, onError });
  }

  async submit(request: SubmitRequest): Promise<SubmitResult> {
    const { text, profile, whileBusy, whileTyping, clearFirst, literal, gapMs } = request;
    promptText(text);
    if (profile !== undefined) this.#readiness.profiles.named(profile);
    const what = { kind: "submit", text, profile, whileBusy, whileTyping, clearFirst, literal, gapMs };
    return this.#once(request, what, (attempt, signal) =>
      this.#deliver(
        { ...request, signal, typing: typingOf(request, { kind: "prompt", text }) },
        attempt,
        async (work) => {
          const result = await submitPrompt(work, request);
          const { server, pane } = request;
          if (result.outcome === "submitted") this.#onTaken({ server, pane, text, process: work.reader.process });
          return result;
        },
      ),
    );
  }

  async choose(request: ChooseRequest): Promise<SubmitResult> {
    const { answer, dialogId } = request;
    return this.#once(request, { kind: "choose", answer, dialogId }, (attempt, signal) =>
      this.#deliver(
        { ...request, signal, typing: typingOf(request, { kind: "answer", answer, dialogId }) },
        attempt,
        (work) => chooseAnswer(work, request),
      ),
    );
  }

  async press(request: PressRequest): Promise<SubmitResult> {
    const { signal, steps } = request;
    signal?.throwIfAborted();
    const typing = typingOf(request, { kind: "keys", steps });
    return this.#orLeave(
      this.#deliver({ ...request, typing }, undefined, (work) => pressSteps(work, request)),
      signal,
    );
  }

  interrupt(server: TmuxServer, pane: PaneId, addressee?: AddresseeRequest, by?: string): Promise<void> {
    const press = async (work: Work): Promise<void> => {
      const typed = this.#onTyping({ server, pane, by, what: { kind: "interrupt" } });
      await pressInterrupt(work).finally(() => typed(undefined));
    };
    return this.#settledFor(server, pane, press, addressee);
  }

  clear(server: TmuxServer, pane: PaneId, { only, addressee }: ClearRequest = {}): Promise<void> {
    const press = (work: Work): Promise<void> =>
      only === undefined ? clearOnce(work) : clearBox(work, work.watch.profile, only);
    return this.#settledFor(server, pane, press, addressee);
  }

  async look({ server, pane, text }: LookRequest): Promise<Look> {
    using watch = new PaneWatch({ server, pane, readiness: this.#readiness, clock: this.#clock });
    return await lookAt(watch, text);
  }

  /** Nothing new is accepted, and what was accepted comes to its end. Resolves with how many had not after this time. */
  async drain(withinMs: number): Promise<number> {
    await within<void>(this.#clock, withinMs, undefined, (finish) => {
      this.#onEnd = () => {
        if (this.#underWay.size === 0) finish();
      };
      this.#onEnd();
    });
    return this.#underWay.size;
  }

  /** Nothing new starts: deliveries that have typed nothing end now, those that have may finish. */
  stop(): void {
    this.#stopping.abort(stops());
  }

  /** `stop`, and settles every caller; what is half typed stays so. Safe to call twice. */
  close(): void {
    this.stop();
    this.#closing.abort(stops());
    this.#store.close();
  }

  /** Presses keys for who reads from the pane, once its state is known. */
  async #settledFor(
    server: TmuxServer,
    pane: PaneId,
    press: (work: Work) => Promise<void>,
    addressee?: AddresseeRequest,
  ): Promise<void> {
    const done = this.#deliver({ server, pane, isForAnybody: true }, undefined, async (work) => {
      await settleState(work.watch);
      await work.reader.address(work.watch.profile, addressee);
      await press(work);
      return resultOf(work, "submitted");
    });
    await this.#orLeave(done, undefined);
  }

  /** A delivery with a key goes on without its caller, who may ask again for its result. */
  async #once(
    call: SubmitRequest | ChooseRequest,
    what: unknown,
    deliver: (attempt: Attempt | undefined, signal: AbortSignal | undefined) => Promise<SubmitResult>,
  ): Promise<SubmitResult> {
    const { server, pane, idempotencyKey, signal } = call;
    signal?.throwIfAborted();
    this.#stopping.signal.throwIfAborted();
    if (idempotencyKey === undefined) return this.#orLeave(deliver(undefined, signal), signal);
    requireKey(idempotencyKey);
    const { identity, socketPath, kind } = server.status();
    const key = [identity ?? socketPath ?? kind, pane, idempotencyKey] as const;
    return this.#orLeave(
      this.#withKey(key, what, (attempt) => deliver(attempt, undefined)),
      signal,
    );
  }

  /**
   * What typed nothing is not kept, so that the same request may succeed later.
   * @throws AppError ALREADY_EXISTS when the key belongs to another request
   */
  async #withKey(
    key: readonly [scope: string, pane: PaneId, key: string],
    request: unknown,
    deliver: (attempt: Attempt) => Promise<SubmitResult>,
  ): Promise<SubmitResult> {
    const requestHash = createHash("sha256").update(JSON.stringify(request)).digest("hex");
    const earlier = this.#keys.earlier(key, requestHash);
    if (earlier !== undefined) return resultAgain(await earlier);
    let isBegun = false;
    let thrown: unknown;
    const wrote = { value: false };
    const first = async (begin: () => void): Promise<StoredOutcome> => {
      const beforeFirstWrite = (): void => {
        begin();
        isBegun = true;
      };
      try {
        return { kind: "result", result: await deliver({ beforeFirstWrite, wrote }) };
      } catch (error) {
        if (!isBegun) throw error;
        thrown = error;
        const { code, message, details } = toAppError(error);
        return { kind: "error", code, message, details };
      }
    };
    const keeps = ({ kind }: StoredOutcome): boolean => isBegun && (kind === "result" || wrote.value);
    const outcome = await this.#keys.run(key, requestHash, first, keeps);
    if (outcome.kind === "result") return outcome.result;
    throw thrown;
  }

  /** Counted until it has ended. */
  async #deliver(call: Call, attempt: Attempt | undefined, work: (work: Work) => Promise<SubmitResult>) {
    if (this.#onEnd !== undefined) throw stops();
    this.#underWay.add(work);
    return this.#typed(call, attempt, work).finally(() => {
      this.#underWay.delete(work);
      this.#onEnd?.();
    });
  }

  /** Holds the pane for the work. A signal counts until something is written, the deadline for waiting counts here. */
  async #typed(call: Call, attempt: Attempt | undefined, work: (work: Work) => Promise<SubmitResult>) {
    const { server, pane, profile, timeoutMs = DEFAULT_DELIVERY_TIMEOUT_MS, signal, withdrawn, onStage, typing } = call;
    let ended: ReturnType<NonNullable<DeliveryOptions["onTyping"]>> | undefined;
    const startedMs = this.#clock.nowMs();
    const deadlineMs = startedMs + timeoutMs;
    const arrival = this.#arrival(call);
    const patience = new AbortController();
    const arm = (): Timer => this.#clock.callAt(deadlineMs, () => patience.abort(turnTimedOut(pane, timeoutMs)));
    let timer = arm();
    const left = AbortSignal.any([this.#stopping.signal, ...(withdrawn === undefined ? [] : [withdrawn])]);
    const leaving = AbortSignal.any([left, patience.signal, ...(signal === undefined ? [] : [signal])]);
    const progress = new Progress();
    try {
      const done = this.#mutex.run(server, pane, leaving, async (free) => {
        timer.cancel();
        const whileFree: WhileFree = async (wait) => {
          timer = arm();
          await free(wait);
          timer.cancel();
        };
        using watch = new PaneWatch({ server, pane, readiness: this.#readiness, clock: this.#clock, profile });
        const reader = new PaneReader(watch, arrival);
        const keys = new PaneKeys(watch, reader);
        const beforeFirstWrite = (): void => {
          leaving.throwIfAborted();
          attempt?.beforeFirstWrite();
          onStage?.("typing");
          if (typing !== undefined) ended = this.#onTyping(typing);
        };
        const beforeEnter = (): void => onStage?.("entering");
        const result = await outcomeOf(
          { watch, reader, keys, startedMs, deadlineMs, leaving, beforeFirstWrite, beforeEnter, progress, whileFree },
          attempt,
          work,
        ).catch((error: unknown) => {
          ended?.(undefined);
          throw error;
        });
        ended?.(result.outcome);
        return result;
      });
      return await orLeave(done, left, () => progress.firstByteMs === undefined && !progress.isProbing);
    } finally {
      timer.cancel();
    }
  }

  /** Nothing has been awaited since the request: who reads later may be somebody else. */
  #arrival({ server, pane, profile, addressee, isForAnybody = false }: Call): Arrival {
    const source = server.output(pane);
    return {
      source,
      outputSeq: source.outputSeq,
      readers: addressee?.isLate === true ? undefined : (addressee?.readers ?? readersNow(server, pane)),
      isNamed: profile !== undefined || isForAnybody,
      hadAgent: this.#readiness.hadAgent(server, pane),
    };
  }

  /** The result, or the reason for which the caller leaves or is left; the work goes on without it. */
  #orLeave<Result>(done: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
    return orLeave(done, signal === undefined ? this.#closing.signal : AbortSignal.any([this.#closing.signal, signal]));
  }
}

const typingOf = (
  { server, pane, by, idempotencyKey }: Pick<SubmitRequest, "server" | "pane" | "by" | "idempotencyKey">,
  what: Typing["what"],
): Typing => ({ server, pane, by, idempotencyKey, what });

/** `done`, or the signal's reason if one may leave when it aborts. */
function orLeave<Result>(done: Promise<Result>, signal: AbortSignal, mayLeave = (): boolean => true): Promise<Result> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      if (mayLeave()) reject(signal.reason as Error);
    };
    signal.addEventListener("abort", leave);
    void done.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

function requireKey(key: string): void {
  if (key.length <= MAX_DELIVERY_KEY_CHARS && /^[\u0021-\u007e]+$/.test(key)) return;
  throw invalidArgument(
    `an idempotency key is 1 to ${MAX_DELIVERY_KEY_CHARS} printable ASCII characters without blanks, such as a UUID`,
  );
}

/** @throws AppError the one that the first request got, with `details.repeated` */
function resultAgain(outcome: StoredOutcome): SubmitResult {
  if (outcome.kind === "result") return { ...outcome.result, repeated: true };
  const { code, message, details } = outcome;
  throw new AppError(code, message, { details: { ...details, repeated: true } });
}

const stops = (): AppError =>
  new AppError("SHUTTING_DOWN", "the daemon is stopping; look at the pane before typing again");

/** If the connection is lost after something was written, the outcome is unknown; nothing is sent again. */
async function outcomeOf(
  work: Work,
  attempt: Attempt | undefined,
  run: (work: Work) => Promise<SubmitResult>,
): Promise<SubmitResult> {
  const { progress } = work;
  try {
    return await run(work);
  } catch (error) {
    if (toAppError(error).details?.["delivery"] === "indeterminate") progress.hasWritten = true;
    if (isCutShort(error) && progress.hasWritten) return resultOf(work, "indeterminate");
    throw error;
  } finally {
    if (attempt !== undefined) attempt.wrote.value = progress.hasWritten;
  }
}

async function clearOnce({ watch, keys, deadlineMs }: Work): Promise<void> {
  const profile = watch.profile;
  for (let tries = 0; tries < MAX_EXACT_CAPTURES && watch.clock.nowMs() < deadlineMs; tries += 1) {
    const now = await takeCapture(watch, profile);
    requireNoQuestion(watch, now);
    if (await keys.press(profile.keys.clear, now.capture)) return;
  }
  throw new AppError("TIMEOUT", "the pane kept changing, so the clear keys were not pressed; try again");
}

const turnTimedOut = (pane: PaneId, timeoutMs: number): AppError =>
  new AppError("TIMEOUT", `pane ${pane} was not free within ${timeoutMs} ms; nothing was typed`);
