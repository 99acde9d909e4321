/** What it means to submit a prompt to a program, and what became of it: the vocabulary of the delivery engine. */
import type { PaneId } from "../../protocol/ids.ts";
import type { Position } from "../../protocol/position.ts";
import type { Readiness } from "../readiness/readiness.ts";
import type { AddresseeRequest } from "./pane/addressee.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";

/**
 * `submitted`: the program took it (a hook, its title or its screen says that it works, its history shows the text, a shell
 * wrote) and goes on. `queued`: it is busy and keeps it for later. `echoed_unconfirmed`: seen on the screen and Enter
 * pressed, nothing more is known, or the screen says that it came to nothing (`details.screenNote`), or the program ends.
 * `not_echoed`: never seen, so Enter was never pressed. `indeterminate`: the connection was lost in between; nothing is sent
 * again.
 */
export type DeliveryOutcome = "submitted" | "queued" | "echoed_unconfirmed" | "not_echoed" | "indeterminate";

/** What every request for the program in a pane has. */
interface PaneRequest {
  readonly server: TmuxServer;
  readonly pane: PaneId;
  /** What else must hold of the process that takes it; an agent's profile alone demands that it is no shell. */
  readonly addressee?: AddresseeRequest | undefined;
  /** For all of it, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Who gives it, for whoever keeps a history (`DeliveryOptions.onTyping`). */
  readonly by?: string | undefined;
}

export interface SubmitRequest extends PaneRequest {
  /** Any text without NUL. Line ends stay inside the one prompt. At most `MAX_INPUT_BYTES` as UTF-8. */
  readonly text: string;
  /** Overrides the pane's profile. */
  readonly profile?: string | undefined;
  /** While the program is busy: `queue` types anyhow where the profile says that the program queues; default `refuse`. */
  readonly whileBusy?: "refuse" | "queue" | undefined;
  /** While somebody's text stands in the box: `wait` until it is empty, as long as `timeoutMs` lasts; default `refuse`. */
  readonly whileTyping?: "refuse" | "wait" | undefined;
  /** While an agent's screen shows nothing that its profile knows: `type` types anyhow; default `refuse`. */
  readonly whileUnknown?: "refuse" | "type" | undefined;
  /** Empties the box first (the profile's keys, usually `C-u`). Never done while a dialog is open. */
  readonly clearFirst?: boolean | undefined;
  /** A text that the program would take for more than text (`/`, `!`, `#`, `@`) is made plain text, or refused. */
  readonly literal?: boolean | undefined;
  /** Least time between the text and Enter in milliseconds, instead of the profile's. */
  readonly gapMs?: number | undefined;
  /** A repeated key for the same pane returns what the first request did and types nothing; keys survive a restart. */
  readonly idempotencyKey?: string | undefined;
  /** Withdraws it as long as nothing has been typed, also while it is under way under its key, which `signal` does not. */
  readonly withdrawn?: AbortSignal | undefined;
  /**
   * `held`: somebody's text stands in the box, and it waits. `typing`: in the turn of the first write, once the beginning is
   * on record; what it throws keeps the text from being typed. `entering`: in the turn in which Enter is written, for the
   * first time or again after the program has dropped the text; what it throws keeps Enter from being pressed.
   */
  readonly onStage?: ((stage: "held" | "typing" | "entering") => void) | undefined;
}

export interface SubmitResult {
  readonly outcome: DeliveryOutcome;
  /** The pane's position when the text was written. */
  readonly position: Position | undefined;
  /** From the request to the outcome. */
  readonly latencyMs: number;
  /** From the request to the moment at which the text was written to tmux; undefined when nothing was. */
  readonly firstByteMs: number | undefined;
  /** From the request to Enter; undefined when it was not pressed. */
  readonly enterMs: number | undefined;
  readonly enterPresses: number;
  /** What showed that it was taken. */
  readonly confirmedBy?: "readiness" | "screen" | "output" | undefined;
  readonly details?: DeliveryDetails | undefined;
  /** An earlier request with this key had this result; nothing was typed now. */
  readonly repeated?: boolean | undefined;
}

interface DeliveryDetails {
  /** What the screen says since, where that speaks against the prompt or nothing speaks for it. Foreign text, one line. */
  readonly screenNote?: string | undefined;
}

/** An answer to the dialog that is open. */
export type DialogAnswer =
  | { readonly kind: "option"; readonly index: number }
  /** Through the dialog's own free-text option. */
  | { readonly kind: "other"; readonly text: string }
  /** In order, for a dialog of several questions: keys down, spaces where several may be chosen, Enter. */
  | { readonly kind: "multi"; readonly answers: readonly (readonly number[])[] };

export interface ChooseRequest extends PaneRequest {
  readonly answer: DialogAnswer;
  /** The dialog meant; another one on the screen refuses with WRONG_STATE. Default: the one that is open. */
  readonly dialogId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** One step of `press`: a key (tmux's name), or text that is pasted. */
export type PressStep =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "paste"; readonly text: string };

/** Keys and text in an order that the caller knows, for a program whose screen nobody can read. */
export interface PressRequest extends PaneRequest {
  readonly steps: readonly PressStep[];
  /** Between two steps, in milliseconds: what comes in one read is one key, or a paste, to some programs. */
  readonly gapMs: number;
}

/** What is typed into a pane for somebody, from its first write on. */
export interface Typing {
  readonly server: TmuxServer;
  readonly pane: PaneId;
  readonly by: string | undefined;
  /** The request's. */
  readonly idempotencyKey?: string | undefined;
  readonly what:
    | { readonly kind: "prompt"; readonly text: string }
    | { readonly kind: "answer"; readonly answer: DialogAnswer; readonly dialogId: string | undefined }
    | { readonly kind: "keys"; readonly steps: readonly PressStep[] }
    | { readonly kind: "interrupt" };
}

export interface ClearRequest {
  /** Empties a box of any number of lines, as long as it holds this text, or what is left of it, and nothing else. */
  readonly only?: string | undefined;
  readonly addressee?: AddresseeRequest | undefined;
}

export interface LookRequest {
  readonly server: TmuxServer;
  readonly pane: PaneId;
  /** What may stand there. */
  readonly text?: string | undefined;
}

/** What a pane shows, for who has to know what became of a prompt. All of it is foreign text. */
export interface Look {
  readonly readiness: Readiness;
  /** What somebody has typed into the prompt box, without the program's hints; undefined where no box is drawn. */
  readonly typed: string | undefined;
  /** The box holds the text, or the word that stands for it, and nothing else. */
  readonly holds: boolean;
  /** The text stands above the box, on the screen or in its history. */
  readonly shows: boolean;
  /** What stands between it and the box; undefined where it is not shown. */
  readonly since: string | undefined;
}

/** Every call holds the pane: ours never interleave, and a person who types in it is not disturbed. */
export interface Delivery {
  /** @throws AppError WRONG_STATE (asking, busy, dead, starting, unknown), NOT_FOUND, INVALID_ARGUMENT, RESOURCE_LIMIT, CONNECTION_LOST */
  submit(request: SubmitRequest): Promise<SubmitResult>;
  /** @throws AppError WRONG_STATE (no dialog, another dialog, no such option, no way for free text), NOT_FOUND, CONNECTION_LOST */
  choose(request: ChooseRequest): Promise<SubmitResult>;
  /**
   * Types each step for itself, for the addressee alone; nothing is captured in between, so the outcome is never more than
   * `echoed_unconfirmed`. All steps are checked before the first is typed.
   * @throws AppError WRONG_STATE (dead, another program; `details.textWritten` when some steps were typed), INVALID_ARGUMENT
   */
  press(request: PressRequest): Promise<SubmitResult>;
  /** The profile's keys that stop a turn (usually Escape). */
  interrupt(server: TmuxServer, pane: PaneId, addressee?: AddresseeRequest, by?: string): Promise<void>;
  /** The profile's keys that empty the box; WRONG_STATE while a dialog is open, or where `only` forbids it. */
  clear(server: TmuxServer, pane: PaneId, request?: ClearRequest): Promise<void>;
  /** Captured now; types nothing. @throws AppError NOT_FOUND, CONNECTION_LOST */
  look(request: LookRequest): Promise<Look>;
}
