/**
 * What a program in a pane is doing, as far as can be known, and the evidence for it. The vocabulary of the readiness engine, of
 * delivery and of every surface that shows or waits for a state.
 */
import type { NativeReadiness, READINESS_STATE_NAMES } from "../../protocol/api/native/nativeReadiness.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { Position } from "../../protocol/position.ts";
import type { Profiles } from "./profiles.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";

/** `idle`: takes a prompt. `busy`: works on one. `asking`: a dialog or question is open, and stray input could answer it. */
export type ReadinessState = (typeof READINESS_STATE_NAMES)[number];

/**
 * What says so, strongest first; newer evidence beats older of the same or a weaker kind. `exit`: tmux. `hook`: the program
 * itself, through a surface. `osc7501`, `osc133`: marks in its output. `title`: OSC 0 or 2. `bracketedPaste`: `?2004h` and
 * `?2004l` of a shell. `screen`: a profile's pattern on the bottom rows. `none`: nothing yet.
 */
export type ReadinessSource = NativeReadiness["source"];

/** One of a dialog's numbered or listed options, from the top. */
export interface DialogOption {
  /** From 0. */
  readonly index: number;
  /** As the program shows it, `1` for `1. Yes`; absent for a list without numbers. */
  readonly number?: string | undefined;
  /** Foreign text, one line, trimmed. */
  readonly label: string;
  /** Of a dialog in which several may be chosen: whether this one is. */
  readonly checked?: boolean | undefined;
  /**
   * Key names (tmux) that choose it from where the dialog's mark stands now, Enter included when it is needed. Each is a
   * write of its own to a program that takes what comes in one read for one key. Empty when none are known.
   */
  readonly keys: readonly string[];
}

/** A question that is on the screen and waits for an answer. */
export interface Dialog {
  /** Foreign text: the rows above the options, trimmed, without frame characters; at most a few lines. */
  readonly text: string;
  readonly options: readonly DialogOption[];
  /** The option behind which free text is taken ("other", "no, and tell …"), when the profile knows one here. */
  readonly otherIndex?: number | undefined;
  /** Where the mark stands: the option that Enter would choose. Undefined when nothing shows it. */
  readonly marked?: number | undefined;
  /** Several may be chosen: an option's keys switch it, Enter goes on. */
  readonly multi: boolean;
  /** Changes when another dialog takes its place, so that an answer to the one before cannot reach it. */
  readonly id: string;
}

export interface Readiness {
  readonly state: ReadinessState;
  readonly source: ReadinessSource;
  /** When this state began. */
  readonly sinceUnixMs: number;
  /** The pane's position when this state began; undefined when no output was followed then. */
  readonly position: Position | undefined;
  /** The profile that judged: an agent's name, `shell` or `generic`. */
  readonly profile: string;
  /** Of the agent's program; undefined if unknown, and for other programs. Foreign text of digits, letters and `.+-`. */
  readonly version?: string | undefined;
  /** It is newer than all that its profile was tested with. */
  readonly isNewVersion?: boolean | undefined;
  /** With `asking`, once it has been read from the screen. */
  readonly dialog?: Dialog | undefined;
}

/** What a program says of itself through a surface (an agent's hook). */
export interface HookEvidence {
  readonly state: "starting" | "idle" | "busy" | "asking";
  /** When it was reported (`clock.nowMs`), so that older output does not overrule it. Default: now. */
  readonly atMs?: number | undefined;
}

/** One pane under observation; it is observed as long as anyone holds one of these. */
export interface PaneReadiness extends Disposable {
  readonly current: Readiness;
  /** At every change of state, source or dialog; not called for what already holds. Returns the unsubscribe function. */
  subscribe(listener: (readiness: Readiness) => void): () => void;
  report(evidence: HookEvidence): void;
  /**
   * Captures and judges the screen now: for a caller that has to know before it types. Again where the first capture does
   * not settle what a title means.
   */
  probe(): Promise<Readiness>;
}

export interface ReadinessOptions {
  /** A profile's name. Default: by the program's name (`pane_current_command`) and title, `generic` when unknown. */
  readonly profile?: string | undefined;
  /**
   * Enough for a program that itself tells what it does (`report`): its output is followed only while somebody else who
   * observes the pane needs that. What the program does not tell is seen a second later, on a guest.
   */
  readonly unfollowed?: boolean | undefined;
}

export interface ReadinessWatcher {
  /** Those that it judges by. */
  readonly profiles: Profiles;
  /**
   * Begins to observe a pane or joins those who do; a profile that is given replaces a guessed one for all, for as long as
   * what is returned is held.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT (no such profile)
   */
  watch(server: TmuxServer, pane: PaneId, options?: ReadinessOptions): PaneReadiness;
  /**
   * The state of a pane someone observes; undefined for others.
   * @param isFollowed only where its output is followed: else it may be a second or two behind
   */
  known(server: TmuxServer, pane: PaneId, isFollowed?: boolean): Readiness | undefined;
  /** Whether an agent was seen in front of the pane within the last seconds, or is. */
  hadAgent(server: TmuxServer, pane: PaneId): boolean;
}
