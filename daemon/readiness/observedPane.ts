/**
 * One pane under observation: its output is read for marks as it comes, its screen is captured when the output has
 * settled, `PaneClassifier` says what it means, and listeners are notified of changes. A pane without output costs nothing.
 */
import { AppError, isCutShort, toAppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { headOf, type OutputSource } from "../tmux/outputSource.ts";
import { type FeedMember, PaneFeed } from "../panes/paneFeed.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";
import type { Timed, Timer } from "../time/clock.ts";
import { within } from "../time/within.ts";
import type { SharedPace } from "../time/sharedPace.ts";
import type { Verdict } from "./evidence.ts";
import { ProbePacer } from "./probePacer.ts";
import { type Former, PaneClassifier } from "./paneClassifier.ts";
import type { Profile } from "./profile.ts";
import { isNewFor, type Profiles } from "./profiles.ts";
import type { Dialog, HookEvidence, Readiness } from "./readiness.ts";
import type { PaneReaders } from "./whoReads.ts";
import { scanMarks, type StreamMark } from "../panes/vt/streamMarks.ts";
import { trackerOf } from "../panes/vt/vtTracker.ts";

/** Retained output that is read for marks when the observation begins. */
const BACKLOG_BYTES = 65_536;
/** A dialog is drawn this soon after the hook that tells of it, or a second of tmux's own tells of it. */
const DIALOG_WITHIN_MS = 1_500;
/** More often than output that flows is captured: a person waits for it, and it is soon over. */
const DIALOG_LOOK_MS = 45;
/** After a capture that failed: what it was to show is not known yet. */
const RETRY_MS = 250;
/**
 * What a program that ends draws last may look as if it waited. It is then at work until its process is gone, which takes
 * long on a busy machine; one that waits is asleep. So often it is looked at, and for so long at most.
 */
const ENDING_LOOK_MS = 40;
const ENDS_WITHIN_MS = 400;
/** What a title means is known within this, or the screen is one that nobody knows (docs/agentFacts.md 12, 18). */
const SETTLES_WITHIN_MS = 500;

export interface ObservedPaneOptions extends Timed {
  readonly server: TmuxServer;
  readonly pane: PaneId;
  readonly profiles: Profiles;
  /** Of all panes' captures. */
  readonly pace: SharedPace;
  /** A listener threw, or a capture failed for a reason that should not be: for the log. */
  readonly onError: (error: unknown) => void;
  /** As in `ReadinessOptions`. */
  readonly unfollowed: boolean;
}

export class ObservedPane implements FeedMember {
  readonly #options: ObservedPaneOptions;
  #feed: PaneFeed;
  #isUnfollowed: boolean;
  readonly #classifier: PaneClassifier;
  /** Unsubscribes from the source. */
  #unlisten: () => void = () => undefined;
  readonly #pacer: ProbePacer;
  readonly #listeners = new Set<(readiness: Readiness) => void>();
  #source: OutputSource;
  #at: number;
  #isLost = false;
  #dialogs = 0;
  /** Whose dialog was last seen, by `PaneClassifier.programs`. */
  #dialogProgram = 0;
  #current: Readiness;
  #activity = 0;
  #timer: Timer | undefined;
  #dialogTimer: Timer | undefined;
  /** When its program last told of a dialog, and that no other thing has been told since; -Infinity otherwise. */
  #dialogToldMs = -Infinity;
  #outputMs = -Infinity;
  #settledMs = -Infinity;
  /** One was heard since. */
  #hasMark = false;
  /** Of the last capture. */
  #failure: AppError | undefined;
  /** Nothing is known yet, and time or another capture will tell. */
  #isUnsettled = false;
  readonly #unsettled = new Set<() => void>();
  #isClosed = false;

  /**
   * @param former what an earlier observation of the pane knew at its end
   * @throws AppError NOT_FOUND, CONNECTION_LOST
   */
  constructor(options: ObservedPaneOptions, former?: Former) {
    const { server, pane, profiles, clock, pace, nowUnixMs, unfollowed } = options;
    this.#options = options;
    this.#isUnfollowed = unfollowed;
    this.#feed = new PaneFeed(options);
    this.#source = this.#feed.source;
    this.#at = this.#source.outputSeq;
    this.#classifier = new PaneClassifier(
      clock,
      server.processes,
      profiles,
      server.findPane(pane)?.title ?? "",
      former,
    );
    this.#current = {
      state: "unknown",
      source: "none",
      sinceUnixMs: nowUnixMs(),
      position: unfollowed ? undefined : headOf(this.#source),
      profile: this.#classifier.profile.name,
    };
    this.#pacer = new ProbePacer(clock, pace, () => this.#probe());
    this.#feed.add(this);
    this.#begin();
  }

  get current(): Readiness {
    return this.#current;
  }

  /** For callers that need no capture: an agent that was killed may not have printed anything since. */
  checkedNow(): Readiness {
    this.#classifier.checkProcess();
    this.#settle();
    return this.#current;
  }

  /** When an agent was last known to be in front; -Infinity for never. */
  get agentSeenMs(): number {
    this.#settle();
    return this.#classifier.agentSeenMs;
  }

  /** For the next observation. */
  get former(): Former {
    this.#settle();
    return this.#classifier.former;
  }

  /** The pane no longer exists. */
  get isGone(): boolean {
    return this.#feed.ended?.code === "NOT_FOUND";
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  subscribe(listener: (readiness: Readiness) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The profile is this one until what is returned is called. */
  give(profile: Profile): () => void {
    this.#changed(this.#classifier.give(profile));
    return () => this.#changed(this.#classifier.withdraw(profile));
  }

  #changed(isAnother: boolean): void {
    if (!isAnother || this.#isClosed) return;
    this.#settle();
    this.#pacer.soon();
  }

  report({ state, atMs }: HookEvidence): void {
    const nowMs = this.#options.clock.nowMs();
    this.#dialogToldMs = state === "asking" ? nowMs : -Infinity;
    this.#classifier.evidence.say("hook", state, atMs ?? nowMs);
    this.#settle();
  }

  /**
   * From now on its output is followed. What was seen stays: a dialog that is open is the same one.
   * @throws AppError NOT_FOUND, CONNECTION_LOST
   */
  follow(): void {
    if (this.#isUnfollowed && this.#feed.ended === undefined) this.#feedOn(false);
  }

  /** Nobody needs its output any more. */
  unfollow(): void {
    const { isLive, ended } = this.#feed;
    if (this.#isUnfollowed || this.#isClosed || !isLive || ended !== undefined) return;
    try {
      this.#feedOn(true);
    } catch {
      // The connection has just been lost: it stays followed until somebody else has come and gone.
    }
  }

  #feedOn(unfollowed: boolean): void {
    const former = this.#feed;
    this.#feed = new PaneFeed({ ...this.#options, unfollowed });
    this.#isUnfollowed = unfollowed;
    former.remove(this);
    former.close();
    this.#feed.add(this);
    this.#source = this.#feed.source;
    this.#isLost = false;
    this.#listen();
    if (unfollowed) this.#classifier.unfollowed();
    else this.#classifier.missed();
    this.#pacer.soon();
  }

  /** @throws AppError NOT_FOUND, CONNECTION_LOST */
  async probe(): Promise<Readiness> {
    if (this.#feed.ended === undefined) {
      if (this.#isLost) throw new AppError("CONNECTION_LOST", "tmux is being reconnected; try again shortly");
      await this.#pacer.now();
      if (this.#failure !== undefined && this.#feed.ended === undefined) throw this.#failure;
      await this.#settled();
    }
    return this.#current;
  }

  #settled(): Promise<void> {
    if (!this.#isUnsettled || this.#isClosed) return Promise.resolve();
    return within<void>(this.#options.clock, SETTLES_WITHIN_MS, undefined, (done) => {
      this.#unsettled.add(done);
      return () => this.#unsettled.delete(done);
    });
  }

  pump(): void {
    if (this.#isClosed) return;
    const { source, isLive, ended, exit } = this.#feed;
    const wasLost = this.#isLost;
    this.#isLost = !isLive;
    if (source !== this.#source && isLive) {
      this.#source = source;
      this.#begin();
      return;
    }
    if (this.#read()) {
      const { clock, pace } = this.#options;
      const atMs = clock.nowMs();
      this.#classifier.evidence.output(atMs);
      this.#pacer.output(atMs);
      this.#outputMs = atMs;
      // Output alone says little: where hundreds of panes print, the capture that follows it settles.
      const isNews = this.#hasMark || wasLost || ended !== undefined || exit !== undefined;
      if (!isNews && atMs < this.#settledMs + pace.everyMs) return;
    }
    this.#settle();
  }

  resized(): void {
    // A program that redraws produces output, which is noticed.
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#dialogTimer?.cancel();
    this.#feed.remove(this);
    this.#feed.close();
    this.#pacer.close();
    this.#unlisten();
    this.#listeners.clear();
    for (const done of this.#unsettled) done();
  }

  /** A source that was not followed until now: what it retains, the title, and the screen tell where things stand. */
  #begin(): void {
    const { server, pane } = this.#options;
    this.#failure = undefined;
    this.#outputMs = this.#options.clock.nowMs();
    this.#unlisten();
    this.#classifier.restart(server.findPane(pane)?.title ?? "");
    const { tailSeq, outputSeq } = this.#source;
    const mark = (seen: StreamMark): void => this.#classifier.onMark(seen);
    scanMarks(this.#source, Math.max(tailSeq, outputSeq - BACKLOG_BYTES), outputSeq, { mark });
    this.#listen();
    this.#settle();
  }

  #listen(): void {
    this.#unlisten();
    const mark = (seen: StreamMark): void => {
      this.#hasMark = true;
      this.#classifier.onMark(seen);
    };
    this.#unlisten = trackerOf(this.#source).listen({ mark, gap: () => this.#classifier.missed() });
    this.#at = this.#source.outputSeq;
  }

  /** Passes the marks of new output to the judge. True: there was some. */
  #read(): boolean {
    const from = this.#at;
    trackerOf(this.#source).readOn();
    this.#at = this.#source.outputSeq;
    return this.#at > from;
  }

  /** One capture; what it finds is weighed at once. Never rejects. */
  async #probe(): Promise<void> {
    const { server, pane } = this.#options;
    if (this.#isLost || this.#feed.ended !== undefined) return;
    const source = this.#source;
    const start = this.#classifier.beginProbe();
    try {
      const [capture, who] = await Promise.all([
        server.capture(pane, {
          ansi: this.#classifier.profile.dialog.buttons.length > 0,
          unfollowed: this.#isUnfollowed,
        }),
        start.asksWho ? this.#askWho() : undefined,
      ]);
      if (this.#isClosed || source !== this.#source) return;
      if (this.#isUnfollowed && who !== undefined) this.#classifier.foundTitle(who.title);
      this.#failure = undefined;
      const isCurrent = capture.exact && capture.position.outputSeq === source.outputSeq;
      this.#classifier.endProbe(start, capture, who, isCurrent);
    } catch (error) {
      this.#classifier.failProbe(start);
      this.#failure = toAppError(error);
      const isPassing = isCutShort(this.#failure) || this.#failure.code === "NOT_FOUND";
      if (!isPassing) this.#options.onError(error);
    }
    this.#settle();
  }

  async #askWho(): Promise<PaneReaders> {
    const { server, pane } = this.#options;
    const [{ title }, foreground] = await Promise.all([
      server.describePane(pane),
      server.foreground(pane, { atNoCost: true }),
    ]);
    return { ...foreground, title };
  }

  /** Weighs the evidence and tells listeners when something has changed. */
  #settle(): void {
    if (this.#isClosed) return;
    const nowMs = this.#options.clock.nowMs();
    this.#settledMs = nowMs;
    this.#hasMark = false;
    this.#classifier.checkProcess(this.#options.pace.everyMs);
    let verdict = this.#verdict(nowMs);
    if (verdict.state === "idle" && this.#current.state !== "idle") {
      // The last that a program has drawn can look as if it waited.
      this.#classifier.checkNow();
      verdict = this.#verdict(nowMs);
    }
    this.#timer?.cancel();
    this.#timer = undefined;
    const { againAtMs, needsProbe = false } = verdict;
    if (againAtMs !== undefined) this.#timer = this.#options.clock.callAt(againAtMs, () => this.#settle());
    // Of a pane that nobody follows the dialog went up to a second ago: what came after it is known in a moment.
    const isHeldBack = this.#isUnfollowed && verdict.isPassing === true && this.#current.state === "asking";
    const isAtRest = verdict.state === "idle" && verdict.source === "screen" && this.#current.state === "busy";
    const mayBeEnding = this.#isUnfollowed && isAtRest && this.#mayBeEnding(nowMs);
    if (mayBeEnding) this.#timer ??= this.#options.clock.callAt(nowMs + ENDING_LOOK_MS, () => this.#settle());
    else if (!isHeldBack) this.#publish(verdict);
    this.#isUnsettled = mayBeEnding || (verdict.state === "unknown" && (againAtMs !== undefined || needsProbe));
    if (!this.#isUnsettled) for (const done of this.#unsettled) done();
    this.#lookForDialog(verdict, nowMs);
    if (this.#failure !== undefined) {
      this.#timer?.cancel();
      const retryMs = Math.min(nowMs + RETRY_MS, againAtMs ?? Infinity);
      this.#timer = this.#options.clock.callAt(retryMs, () => this.#pacer.soon());
    } else if (this.#classifier.takeRequest() || needsProbe) this.#pacer.soon();
  }

  #mayBeEnding(nowMs: number): boolean {
    const seenForMs = nowMs - this.#classifier.evidence.readMs;
    if (seenForMs < ENDING_LOOK_MS) return true;
    return seenForMs < ENDS_WITHIN_MS && this.#classifier.isProgramOnProcessor;
  }

  /**
   * Its program has told of a dialog: where nobody tells when that is drawn, it is looked for while it may be coming. And
   * one that a script has drawn is looked at again for as long, because nobody tells of an `exec` either.
   */
  #lookForDialog({ state }: Verdict, nowMs: number): void {
    this.#dialogTimer?.cancel();
    this.#dialogTimer = undefined;
    const { evidence, isScriptAsking } = this.#classifier;
    // A dialog that was read before its program told of one may be an earlier one, answered since.
    const isRead = evidence.reading?.state === "asking" && evidence.readMs >= this.#dialogToldMs;
    const isToldOf = this.#isUnfollowed && state === "asking" && !isRead;
    const isComing = isToldOf && nowMs < this.#dialogToldMs + DIALOG_WITHIN_MS;
    const isPassing = isScriptAsking && nowMs < this.#outputMs + DIALOG_WITHIN_MS;
    if (!isComing && !isPassing) return;
    this.#dialogTimer = this.#options.clock.callAt(nowMs + DIALOG_LOOK_MS, () => this.#pacer.soon());
  }

  #verdict(nowMs: number): Verdict {
    const { ended, exit } = this.#feed;
    if (exit !== undefined || ended?.code === "NOT_FOUND") return { state: "dead", source: "exit" };
    if (this.#isLost || ended !== undefined) return { state: "unknown", source: "none" };
    if (this.#classifier.isProgramGone) return { state: "dead", source: "screen" };
    return this.#classifier.evidence.judge(nowMs, this.#current.state);
  }

  #publish({ state, source }: Verdict): void {
    const before = this.#current;
    const dialog = state === "asking" ? this.#dialogSeen() : undefined;
    const { activity } = this.#classifier.evidence;
    const isAnother = state !== before.state || (state === "idle" && activity !== this.#activity);
    this.#activity = activity;
    const { version } = this.#classifier;
    const { name: profile } = this.#classifier.profile;
    const isSame = source === before.source && dialog === before.dialog && profile === before.profile;
    if (!isAnother && isSame && version === before.version) return;
    const isFollowed = !this.#isUnfollowed && !this.#isLost && this.#feed.ended === undefined;
    this.#current = {
      state,
      source,
      sinceUnixMs: isAnother ? this.#options.nowUnixMs() : before.sinceUnixMs,
      position: isAnother ? (isFollowed ? headOf(this.#source) : undefined) : before.position,
      profile,
      ...(version === undefined ? {} : { version, isNewVersion: isNewFor(this.#classifier.profile, version) }),
      ...(dialog === undefined ? {} : { dialog }),
    };
    for (const listener of this.#listeners) {
      try {
        listener(this.#current);
      } catch (error) {
        this.#options.onError(error);
      }
    }
  }

  /** The dialog on the screen; the same object as long as it is the same program's, with the mark in the same place. */
  #dialogSeen(): Dialog | undefined {
    const reading = this.#classifier.evidence.reading;
    if (reading?.state !== "asking") return undefined;
    const { digest, ...seen } = reading.dialog;
    const last = this.#current.dialog;
    const { programs } = this.#classifier;
    const isOpen = last !== undefined && last.id.endsWith(digest) && programs === this.#dialogProgram;
    this.#dialogProgram = programs;
    if (!isOpen) this.#dialogs += 1;
    else if (last.marked === seen.marked && sameOptions(last, seen)) return last;
    return { ...seen, id: `${this.#dialogs}-${digest}` };
  }
}

const sameOptions = (a: Omit<Dialog, "id">, b: Omit<Dialog, "id">): boolean =>
  a.options.every((option, index) => {
    const other = b.options[index];
    return option.keys.join(" ") === other?.keys.join(" ") && option.checked === other.checked;
  });
