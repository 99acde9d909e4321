/**
 * Plays a recording on a page's terminal, at any speed, from any time. Page and terminal are passed in. A seek shows the
 * screen that all output before that time would produce; it skips output before a full reset, which our recordings have
 * before each snapshot.
 */
import { castSize, CastReader, type CastSize, type RecordedEvent } from "../../protocol/text/castReader.ts";

export interface Cast {
  readonly size: CastSize;
  readonly events: readonly RecordedEvent[];
  readonly lengthSec: number;
}

/** @param name for error messages @throws AppError INVALID_ARGUMENT if the text is not a recording */
export function parseCast(text: string, name: string): Cast {
  const reader = new CastReader(name);
  const lines = text.replace(/\n$/, "").split("\n");
  const events = lines.flatMap((line) => reader.take(line) ?? []);
  reader.end();
  return { size: reader.size, events, lengthSec: events.at(-1)?.atSec ?? 0 };
}

/** A terminal, such as xterm.js. */
export interface PlayerScreen {
  /** Clears it completely and sets its size. */
  reset(size: CastSize): void;
  resize(size: CastSize): void;
  /** Resolves when it is ready for more. */
  write(text: string): Promise<void>;
}

export interface PlayerState {
  readonly atSec: number;
  readonly lengthSec: number;
  readonly isPlaying: boolean;
}

interface PlayerOptions {
  readonly cast: Cast;
  readonly screen: PlayerScreen;
  readonly onChange: (state: PlayerState) => void;
  /** Calls back once at the next frame, like `requestAnimationFrame`. */
  readonly nextFrame: (draw: (nowMs: number) => void) => unknown;
}

const FULL_RESET = "\u001bc";
/** Characters per write. */
const PIECE_CHARACTERS = 262_144;

export class CastPlayer {
  readonly #options: PlayerOptions;
  #speed = 1;
  /** Number of events shown, and the time up to which they are shown. */
  #shown = 0;
  #atSec = 0;
  #isPlaying = false;
  #lastMs: number | undefined;
  /** Incremented by every jump, which stops earlier work. */
  #jumps = 0;
  #work: Promise<void> = Promise.resolve();

  constructor(options: PlayerOptions) {
    this.#options = options;
    this.seek(0);
  }

  get state(): PlayerState {
    const { lengthSec } = this.#options.cast;
    return { atSec: this.#atSec, lengthSec, isPlaying: this.#isPlaying };
  }

  /** 1 is the recorded pace. */
  set speed(speed: number) {
    if (speed > 0) this.#speed = speed;
  }

  /** Starts from the beginning if playback has ended. */
  play(): void {
    if (this.#isPlaying) return;
    if (this.#atSec >= this.state.lengthSec) this.seek(0);
    this.#isPlaying = true;
    this.#lastMs = undefined;
    this.#tell();
    this.#options.nextFrame((nowMs) => void this.#step(nowMs));
  }

  /** Safe to call twice. */
  pause(): void {
    this.#isPlaying = false;
    this.#tell();
  }

  /** Continues from there if playback is running. */
  seek(toSec: number): void {
    this.#atSec = Math.min(Math.max(0, toSec), this.state.lengthSec);
    this.#jumps += 1;
    const jump = this.#jumps;
    this.#tell();
    // After the write in progress.
    this.#work = this.#work.then(() => (jump === this.#jumps ? this.#redraw(jump) : undefined));
  }

  /** Stops drawing for good. */
  close(): void {
    this.#isPlaying = false;
    this.#jumps += 1;
  }

  async #redraw(jump: number): Promise<void> {
    const { cast, screen } = this.#options;
    const end = eventsUpTo(cast.events, this.#atSec);
    const start = lastBefore(cast.events, end, startsAnew) ?? 0;
    const resized = lastBefore(cast.events, start, ({ code }) => code === "r");
    screen.reset((resized === undefined ? undefined : castSize(cast.events[resized]!.data)) ?? cast.size);
    this.#shown = start;
    await this.#show(jump);
  }

  /** Shows events up to the current time, which may advance meanwhile. */
  async #show(jump: number): Promise<void> {
    const { cast, screen } = this.#options;
    let text = "";
    for (;;) {
      const event = cast.events[this.#shown];
      const isDue = event !== undefined && event.atSec <= this.#atSec;
      if (text !== "" && (!isDue || event.code === "r" || text.length >= PIECE_CHARACTERS)) {
        // oxlint-disable-next-line no-await-in-loop -- in order
        await screen.write(text);
        text = "";
        if (jump !== this.#jumps) return;
      }
      if (!isDue) return;
      this.#shown += 1;
      if (event.code === "o") text += event.data;
      const size = event.code === "r" ? castSize(event.data) : undefined;
      if (size !== undefined) screen.resize(size);
    }
  }

  async #step(nowMs: number): Promise<void> {
    if (!this.#isPlaying) return;
    const passedSec = ((nowMs - (this.#lastMs ?? nowMs)) / 1_000) * this.#speed;
    this.#lastMs = nowMs;
    this.#atSec = Math.min(this.state.lengthSec, this.#atSec + passedSec);
    const jump = this.#jumps;
    this.#work = this.#work.then(() => (jump === this.#jumps ? this.#show(jump) : undefined));
    await this.#work;
    if (!this.#isPlaying) return;
    if (this.#atSec >= this.state.lengthSec) {
      this.pause();
      return;
    }
    this.#tell();
    this.#options.nextFrame((next) => void this.#step(next));
  }

  #tell(): void {
    this.#options.onChange(this.state);
  }
}

const startsAnew = ({ code, data }: RecordedEvent): boolean => code === "o" && data.startsWith(FULL_RESET);

function lastBefore<Event>(events: readonly Event[], end: number, fits: (event: Event) => boolean): number | undefined {
  for (let at = end - 1; at >= 0; at -= 1) if (fits(events[at]!)) return at;
  return undefined;
}

/** Number of events at or before this time. */
function eventsUpTo(events: readonly RecordedEvent[], sec: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle]!.atSec <= sec) low = middle + 1;
    else high = middle;
  }
  return low;
}
