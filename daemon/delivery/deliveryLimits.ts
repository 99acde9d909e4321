/** Every bound of delivery: the unit in the name, the reason beside the number. */

/** For one delivery when the caller does not say: a slow program echoes within seconds, a person waits no longer. */
export const DEFAULT_DELIVERY_TIMEOUT_MS = 10_000;
/** Deliveries waiting for one pane. Each holds it for about 150 ms, so the last waits a few seconds. */
export const MAX_DELIVERIES_WAITING = 32;
/** A program that shows what it takes shows it within this; longer texts get more, see `ECHO_BYTES_PER_MS`. */
export const ECHO_WITHIN_MS = 3_000;
/** What a longer text gets on top: 5 s for 100 KB, on a busy machine. */
export const ECHO_BYTES_PER_MS = 20;
/** Least time between two captures of a screen that keeps changing: a frame comes in a few writes. */
export const CAPTURE_INTERVAL_MS = 4;
/** Programs draw 30 times a second at least: what is drawn in parts is whole after this. */
export const FRAME_MS = 40;
/** A program that is never quiet (spinners, clocks) is waited for no longer than this; the capture stays exact. */
export const QUIET_WITHIN_MS = 1_000;
/** The sign that a prompt was taken comes within tens of milliseconds; after this it is unconfirmed. */
export const CONFIRM_WITHIN_MS = 2_000;
/** A box that is empty again, or away, without a word: on a busy machine an agent's first turn shows seconds later. */
export const EMPTIED_WITHIN_MS = 5_000;
/** For a program that says when it has started: extensions that ask a server take a second or two. */
export const STARTED_WITHIN_MS = 5_000;
/** A program that runs for less than this may still be starting, on a busy machine and with slow extensions. */
export const NEW_MS = 20_000;
/**
 * Output so soon after a program's start may be its predecessor's: Linux counts a start in steps of 10 ms, and output is
 * seen a moment after it was printed. No agent draws its box within that time.
 */
export const START_MARGIN_MS = 30;
/** Of a text in the box, in an answer. */
export const MAX_BOX_CHARS = 500;
/** A turn ends within this after the keys that stop it: one whose model is silent takes seconds to say so. */
export const INTERRUPT_WITHIN_MS = 8_000;
/** A program takes Enter within this if it takes it at all; pressing again sooner could be a second Enter. */
export const ENTER_RETRY_MS = 450;
/** One that is at work all that time after it has read it is taken to have missed it; less than `CONFIRM_WITHIN_MS`. */
export const ENTER_RETRY_LATEST_MS = 1_500;
/** One that gets no time on a busy machine waits for a key within this; one that still does not is never idle. */
export const WAITS_WITHIN_MS = 600;
/** A program that has begun to exit is gone within this: the slowest known takes up to 1.3 s (docs/agentFacts.md, *Told to end*). */
export const ENDS_WITHIN_MS = 2_000;
/** The system does not report that a program exits: it is polled at this interval while one does, and only then. */
export const ENDING_PROBE_MS = 20;
/** Signs of an end, and of a turn that was stopped at once, come within this of the frame that lacks what was asked or typed. */
export const STAYS_MS = 100;
/** The same for a program that took longer to show what Enter did: as long as that, and no longer than this. */
export const SLOW_STAYS_MS = 400;
/** First press and two more. */
export const MAX_ENTER_PRESSES = 3;
/** A menu redraws a step of its mark within this; the dialog has gone or changed within it after the last key. */
export const DIALOG_STEP_MS = 1_000;
/** Steps through one dialog: more options than any has. */
export const MAX_DIALOG_STEPS = 64;
/** Three presses per line of a box; boxes with more lines than 40 are not emptied. */
export const MAX_CLEAR_PRESSES = 120;
/** Of a shell's line, besides the one that the cursor is in. */
export const MAX_CLEARED_ROWS = 40;
/** Captures until one is exact, for a key that must not meet a dialog; past it the pane is too busy to press it safely. */
export const MAX_EXACT_CAPTURES = 200;

/** How long the result of a key is remembered. A page that retries does so within minutes. */
export const DELIVERY_KEPT_MS = 86_400_000;
/** Deliveries remembered at once; the oldest go first. About 300 bytes each. */
export const MAX_DELIVERIES_KEPT = 20_000;
/** Longest key a caller may give. */
export const MAX_DELIVERY_KEY_CHARS = 255;
