/**
 * Finds the echo of what was typed in the output and hides it, and nothing else (contracts: "echo of the sent text is
 * excluded").
 *
 * What is hidden: for each typed line, in order, the first place where output shows that line as its own: at the start
 * of a row (or of the wait), or after a prompt (anything but a letter or digit), up to the end of the row. It may come
 * in any chunks, wrapped by readline (` \r`), coloured, with the prompt drawn again before it, or written and
 * overwritten character by character as zle and fish do. While a row ends in a prefix of the line it is held back,
 * shown as soon as it continues differently, and hidden when it is complete. A line typed ahead is echoed twice, by the
 * tty and later by the shell's editor: when the first came without a line editor (`?2004h`), one more after the next
 * `?2004h` is hidden too.
 *
 * A last line without Enter stays in the editor and is hidden each time it is redrawn (C-l, completions, a resize),
 * until the editor (`?2004h`) ends.
 *
 * Where a shell's editor reads what is typed, up to an Enter, all that it draws until it ends (`?2004l`) is hidden: the
 * line as it has completed it, lists, what it finds in its history, suggestions. A command's output comes after that.
 *
 * What is not hidden: anything after the last typed line was found, so `cat`'s own copy or a program that prints the
 * command is output; the line with more text after it on its row; text that only begins like it; without a
 * shell's editor an echo that was changed (completion, history expansion, tabs); text more than `windowBytes` after the last line found.
 *
 * How the output is cut into chunks decides nothing, and nothing is hidden that was shown before.
 *
 * What cannot be told apart: without any echo, output that is exactly the typed line on a row of its own is taken for it.
 */
import { EchoScreen } from "../../panes/vt/echoScreen.ts";
import { EchoRow } from "./echoRow.ts";
import { type Attention, type ExpectedLine, isWord, TypedProgress } from "./typedLines.ts";

interface EchoMaskOptions {
  /** The bytes sent, control keys and line ends among them. */
  readonly typed: Uint8Array;
  /** Source position at which they were sent. */
  readonly start: number;
  /** The row in which typing begins, as far as it was printed before. */
  readonly row: Uint8Array;
  /** A line editor is reading (`?2004h`): later lines are echoed only after its prompts. */
  readonly isLineEditor: boolean;
  /** It is a shell's, and what was typed goes to it whole or up to an Enter: what it draws is no output. */
  readonly isShellEditor: boolean;
  readonly windowBytes: number;
}

/** A prefix that stalls this long is output: an echo comes in one go, unless the machine is on its knees. */
const STALL_MS = 2_000;
/** A shell's editor that is silent this long has ended without saying so: completions take seconds at most. */
const EDITOR_STALL_MS = 10_000;
/** Of what such an editor has drawn, this much is kept for that case. */
const MAX_EDITOR_BYTES = 65_536;

export class EchoMask {
  readonly #typed: TypedProgress;
  readonly #windowBytes: number;
  readonly #screen: EchoScreen;
  readonly #shown: ShownRanges;
  readonly #held = new HeldEcho();
  #attention: Attention = "looking";
  #row: EchoRow;
  #lastFound: number;
  #position: number;
  /** Up to here all is decided: shown, hidden, or held back. What is held back from now on begins no earlier. */
  #seenTo: number;
  /** The row before the typing is being taken in. */
  #isPriming = false;

  constructor(options: EchoMaskOptions) {
    this.#typed = new TypedProgress(options.typed, options.isLineEditor);
    this.#windowBytes = options.windowBytes;
    this.#shown = new ShownRanges(options.start);
    this.#lastFound = options.start;
    this.#position = options.start;
    this.#seenTo = options.start;
    this.#row = new EchoRow(options.start);
    this.#screen = new EchoScreen({
      put: (character, at, end) => this.#put(character, at, end),
      move: (columns) => this.#moving().move(columns),
      column: (column) => this.#moving().column(column),
      erase: (which) => this.#moving().erase(which),
      shift: (columns) => this.#moving().shift(columns),
      style: () => (this.#row.isStyled = true),
      lineFeed: (at, end) => this.#endRow(at, end, true),
      leave: (at, end) => this.#endRow(at, end, false),
      editor: (isOn, end) => this.#editor(isOn, end),
    });
    if (options.isShellEditor) {
      this.#held.hold(options.start);
      this.#attend("editing");
    }
    // Later cursor columns count from what is already on the row.
    if (this.#attention === "looking") {
      this.#isPriming = true;
      this.#screen.feed(options.row, options.start - options.row.length);
      this.#isPriming = false;
      this.#row.begin();
    }
  }

  /** No echo is expected any longer. */
  get isOver(): boolean {
    return this.#attention === "over";
  }

  /** A shell's editor is at work: it draws, and no command has run yet. */
  get isEditing(): boolean {
    return this.#attention === "editing";
  }

  /** Where the stretch that is shown now begins. */
  get openFrom(): number {
    return this.#shown.openFrom;
  }

  /** Where the last echo that was hidden ends; 0 before the first. */
  get hiddenTo(): number {
    return this.#shown.hiddenTo;
  }

  /** Text from here on may be echo. */
  get visibleTo(): number {
    return this.#held.from;
  }

  feed(bytes: Uint8Array, source: number): void {
    if (this.#attention === "over") return;
    const from = Math.max(0, this.#position - source);
    if (from >= bytes.length) return;
    if (this.#held.isHolding) this.#shown.noteHeld();
    const end = source + bytes.length;
    const fresh = bytes.subarray(from);
    this.#screen.feed(fresh, source + from);
    this.#position = end;
    if (this.isEditing) this.#hideDrawn(end - MAX_EDITOR_BYTES);
    if (this.#attention === "looking") this.#giveUp(end);
  }

  /** Stretches to search that no shared search has shown: before an echo, or held back until now. */
  takeShown(end: number): readonly SourceRange[] {
    return this.#shown.take(Math.min(end, this.visibleTo));
  }

  /** No output for this long. Returns when to ask again, in milliseconds of quiet. */
  settle(quietMs: number): number | undefined {
    const held = this.#held;
    if (!held.isHolding) return undefined;
    if (this.isEditing) {
      if (quietMs < EDITOR_STALL_MS) return EDITOR_STALL_MS;
      this.#show();
      this.#attend("over");
      return undefined;
    }
    const { line } = this.#typed;
    const conforming = line === undefined ? undefined : this.#row.beginningOf(line);
    if (conforming === undefined) {
      if (held.fullEnd === undefined) this.#show();
      else this.#hide(held.from, held.fullEnd);
      return undefined;
    }
    // A whole line is an echo that waits for its line end, however long.
    if (held.fullEnd !== undefined) return undefined;
    if (quietMs < STALL_MS) return STALL_MS;
    this.#show();
    return undefined;
  }

  /** Output is missing up to here: a half-seen echo is not one. */
  gap(to: number): void {
    // Before the typing.
    if (to <= this.#position) return;
    if (this.isEditing) {
      this.#hide(this.#shown.openFrom, to);
      this.#attend("over");
    }
    this.#show();
    this.#screen.reset();
    this.#row = new EchoRow(to);
    this.#shown.hide(to, to);
    this.#position = to;
    this.#seenTo = to;
  }

  #moving(): EchoRow {
    this.#held.cursorMoved();
    return this.#row;
  }

  #put(character: string, at: number, end: number): void {
    const { line } = this.#typed;
    if (this.#isPriming) this.#row.put(character, at);
    if (line === undefined || this.#attention !== "looking" || this.#isPriming || this.#giveUp(end - 1)) return;
    const held = this.#held;
    if (held.fullEnd !== undefined && !held.hasMoved && !this.#row.isStyled && character !== " ") {
      if (line.hasEnter || isWord(character)) {
        // The row continues where the echo would have ended: it was output.
        held.reopen();
      } else {
        this.#hide(held.from, held.fullEnd);
        this.#put(character, at, end);
        return;
      }
    }
    this.#row.put(character, at);
    this.#updateHold(line, end);
    this.#seenTo = end;
  }

  #endRow(at: number, end: number, isLineFeed: boolean): void {
    if (this.#isPriming) {
      this.#newRow(this.#position);
      return;
    }
    if (this.#attention !== "looking" || this.#giveUp(end - 1)) return;
    const { line } = this.#typed;
    const held = this.#held;
    const begin = line !== undefined && this.#typed.isAllowed ? this.#row.endsWith(line) : undefined;
    if (begin !== undefined) {
      this.#holdFrom(begin);
      this.#hide(held.from, isLineFeed ? end : at);
      // The editor leaves the row without a line feed: it will draw what was typed once more (a paste loses its colour).
      if (line?.hasEnter === true && !isLineFeed && this.#typed.startAgain()) this.#attend("looking");
    } else if (held.fullEnd !== undefined && held.hasMoved) {
      this.#hide(held.from, held.fullEnd);
    } else if (isLineFeed && held.isHolding && line !== undefined && this.#isWrap(line)) {
      this.#wrap();
      return;
    } else {
      this.#show();
      this.#typed.pass();
      this.#rest();
    }
    this.#newRow(end);
  }

  /** Until a line editor comes, nothing needs reading byte by byte. */
  #rest(): void {
    if (this.#typed.needsEditor && !this.#typed.isAllowed) this.#attend("dormant");
  }

  /** The row ends within the typed line: the line end may be the edge of the screen. */
  #isWrap(line: ExpectedLine): boolean {
    const beginning = this.#row.beginningOf(line);
    return beginning !== undefined && beginning.length < line.characters.length && beginning.length > 1;
  }

  #wrap(): void {
    const next = new EchoRow(this.#row.start);
    next.continueFrom(this.#row);
    this.#row = next;
  }

  #newRow(start: number): void {
    this.#row = new EchoRow(start);
  }

  #editor(isOn: boolean, end: number): void {
    if (this.#attention === "over" || this.#isPriming || (this.#attention === "dormant" && !isOn)) return;
    if (this.#attention === "looking" && this.#giveUp(end - 1)) return;
    if (this.isEditing) {
      if (isOn) return;
      this.#hide(this.#shown.openFrom, end);
      if (this.isOver) return;
    }
    // zle ends before its line does.
    if (!isOn) this.#endLine(end);
    // Its prompt follows on the row of what the tty has echoed.
    else if (this.#held.fullEnd !== undefined) this.#hide(this.#held.from, this.#held.fullEnd);
    if (this.isOver) return;
    // The line was sent, or given up: what comes now does not redraw it.
    if (!isOn && this.#typed.isRedrawn) {
      this.#show();
      this.#attend("over");
      return;
    }
    if (isOn) this.#attend("looking");
    this.#typed.editor(isOn);
    if (!this.#held.isHolding) this.#newRow(end);
    if (!isOn) this.#rest();
  }

  /** The editor ends with the whole line on its row. */
  #endLine(end: number): void {
    const { line } = this.#typed;
    const begin = line !== undefined && this.#typed.isAllowed ? this.#row.endsWith(line) : undefined;
    if (begin === undefined) return;
    this.#holdFrom(begin);
    this.#hide(this.#held.from, end);
  }

  /** After each character: how output is cut into chunks decides nothing. */
  #updateHold(line: ExpectedLine, end: number): void {
    if (this.#row.isTooLong(line.characters.length)) {
      this.#show();
      this.#newRow(end);
      return;
    }
    const held = this.#held;
    const beginning = this.#typed.isAllowed ? this.#row.beginningOf(line) : undefined;
    if (beginning !== undefined) {
      this.#holdFrom(beginning.at);
      if (beginning.length >= line.shownLength) held.complete(end);
    } else if (held.isHolding && held.fullEnd === undefined && !this.#isDrawn && !this.#row.mayWrap(line)) {
      this.#show();
    }
  }

  /** An editor is drawing the row: what it shows meanwhile need not be the line, or a beginning of it. */
  get #isDrawn(): boolean {
    return this.#row.hasMoved || this.#row.isStyled;
  }

  /** The line begins here, or where the row was drawn before; what is held before it otherwise is output. */
  #holdFrom(from: number): void {
    const earliest = this.#held.isHolding ? this.#held.from : this.#seenTo;
    if (this.#held.from < from && !this.#isDrawn) this.#show();
    this.#held.hold(Math.max(from, earliest));
  }

  /** Whether no echo is expected at this position any longer. */
  #giveUp(at: number): boolean {
    const isLongAgo = this.#typed.isBounded && at - this.#lastFound > this.#windowBytes;
    if (this.#held.isHolding || !isLongAgo) return false;
    this.#attend("over");
    return true;
  }

  /** The held text is output after all. */
  #show(): void {
    if (!this.#held.isHolding) return;
    // The search of this chunk sees what was held only within it.
    if (this.#held.from < this.#position) this.#shown.noteHeld();
    this.#held.drop();
  }

  /** `[from, to)` is the echo of the line: the wait sees what was before it and continues after it. */
  #hide(from: number, to: number): void {
    this.#shown.hide(from, to);
    this.#held.drop();
    this.#lastFound = to;
    this.#seenTo = Math.max(this.#seenTo, to);
    this.#newRow(to);
    this.#attend(this.#typed.advance());
  }

  /** A shell's editor drew this, whatever happens. */
  #hideDrawn(to: number): void {
    if (to <= this.#shown.openFrom) return;
    this.#shown.hide(this.#shown.openFrom, to);
    this.#held.drop();
    this.#held.hold(to);
  }

  /** Dormant: everything was echoed once without an editor; one that comes shows again what was typed ahead. */
  #attend(attention: Attention): void {
    this.#attention = attention;
    this.#screen.isDormant = attention === "dormant" || attention === "editing";
  }
}

/**
 * Text that is held back because it may be the echo: from where, and whether the whole typed line has been seen.
 */
class HeldEcho {
  /** Infinity while nothing is held. */
  from = Infinity;
  /** Where the whole line had been seen; undefined before. */
  fullEnd: number | undefined;
  /** The cursor moved after that: a line editor is at work on it. */
  hasMoved = false;

  get isHolding(): boolean {
    return this.from !== Infinity;
  }

  /** What begins here may be the line. */
  hold(from: number): void {
    this.from = Math.min(this.from, from);
  }

  /** The whole line has been seen, up to `end`. */
  complete(end: number): void {
    this.fullEnd = end;
    this.hasMoved = false;
  }

  /** It continues past its end: it was not the whole line. */
  reopen(): void {
    this.fullEnd = undefined;
  }

  cursorMoved(): void {
    if (this.fullEnd !== undefined) this.hasMoved = true;
  }

  drop(): void {
    this.from = Infinity;
    this.fullEnd = undefined;
    this.hasMoved = false;
  }
}

interface SourceRange {
  readonly from: number;
  readonly to: number;
}

/** Which stretches of a source a wait may see while an echo is expected in it, and which of them it has not seen. */
class ShownRanges {
  /** Where the stretch that is shown now begins: at the end of the last echo, or where typing began. */
  openFrom: number;
  /** Where the last hidden range ends; 0 before the first. Text before it does not exist for the wait. */
  hiddenTo = 0;
  #closed: SourceRange[] = [];
  #hasLate = false;

  constructor(start: number) {
    this.openFrom = start;
  }

  /** `[from, to)` is hidden for good: what was before it is a stretch of its own, and a new one begins after it. */
  hide(from: number, to: number): void {
    if (from > this.openFrom) this.#closed.push({ from: this.openFrom, to: from });
    this.openFrom = Math.max(this.openFrom, to);
    this.hiddenTo = this.openFrom;
  }

  /** Something was held back: when it is shown, no search has seen it. */
  noteHeld(): void {
    this.#hasLate = true;
  }

  /** Stretches that no search has seen whole, once. */
  take(end: number): readonly SourceRange[] {
    const ranges = this.#closed;
    this.#closed = [];
    if (this.#hasLate || ranges.length > 0) ranges.push({ from: this.openFrom, to: end });
    this.#hasLate = false;
    return ranges.filter((range) => range.to > range.from);
  }
}
