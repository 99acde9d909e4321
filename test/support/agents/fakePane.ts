/**
 * A pane below delivery, moved by hand: a screen, a stream, and a program that answers what is typed. Time is a fake clock;
 * `during` lets it pass until a promise is settled.
 */
import { linuxHost } from "../../../daemon/host/linux/linuxHost.ts";
import type { PaneForeground } from "../../../daemon/tmux/processes.ts";
import { PaneStream } from "../../../daemon/panes/paneStream.ts";
import type { Readiness, ReadinessWatcher } from "../../../daemon/readiness/readiness.ts";
import type { Capture, InputOptions, InputPart, InputReceipt } from "../../../daemon/tmux/io.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { FakeClock } from "../clock/fakeClock.ts";
import { PROFILES } from "./agentCatalogue.ts";
import { watchOf } from "./fakeReadiness.ts";

export interface Typed {
  readonly atMs: number;
  readonly paste?: string;
  readonly keys?: readonly string[];
}

export class FakePane {
  readonly clock = new FakeClock();
  readonly pane = "%1" as PaneId;
  readonly stream = new PaneStream({
    id: "%1",
    epoch: "e",
    retainBytes: 65_536,
    clock: this.clock,
    onListenerError: (error) => {
      throw error;
    },
  });
  lines: readonly string[] = [];
  cursor = { col: 2, row: 0 };
  readonly typed: Typed[] = [];
  captures = 0;
  /** Nobody knows of processes. */
  foreground: PaneForeground = { pid: undefined, command: "", processes: undefined };
  /** What the program does with what it is given. */
  answer: (typed: Typed) => void = () => undefined;
  /** After each capture, before whoever asked for it goes on. */
  afterCapture: (count: number) => void = () => undefined;
  state: Readiness;
  readonly #listeners = new Set<(readiness: Readiness) => void>();

  constructor(profile: string) {
    this.state = { state: "idle", source: "screen", sinceUnixMs: 0, position: undefined, profile };
  }

  /** The program draws: the screen is another one and some bytes have come. */
  draw(lines: readonly string[], cursor = this.cursor): void {
    this.lines = lines;
    this.cursor = cursor;
    this.say(".");
  }

  say(text: string): void {
    this.stream.take(Buffer.from(text));
    this.stream.announce();
  }

  become(state: Readiness["state"]): void {
    this.state = { ...this.state, state };
    for (const listener of this.#listeners) listener(this.state);
  }

  /** The program says so itself, at a place of its own in the output. */
  says(state: Readiness["state"], source: Readiness["source"] = "title"): void {
    this.state = { ...this.state, source, position: { epoch: "e", outputSeq: this.stream.outputSeq } };
    this.become(state);
  }

  readonly server = {
    processes: linuxHost().processes,
    output: () => this.stream,
    findPane: () => ({ exit: undefined }),
    status: () => ({ kind: "owned", identity: "1.2", socketPath: "/s" }),
    foreground: async () => this.foreground,
    describePane: async () => ({ title: "" }),
    capture: async (): Promise<Capture> => {
      const { lines, cursor } = this;
      const position = { epoch: "e", outputSeq: this.stream.outputSeq };
      this.captures += 1;
      await Promise.resolve();
      this.afterCapture(this.captures);
      return { lines, cursor, position, exact: true, cols: 80, rows: 24, alternateScreen: false, historyLines: 0 };
    },
    input: async (_pane: PaneId, parts: readonly InputPart[], options: InputOptions = {}): Promise<InputReceipt> => {
      options.beforeWrite?.();
      const position = { epoch: "e", outputSeq: this.stream.outputSeq };
      const at = options.onlyIf?.cursor;
      if (at !== undefined && (at.col !== this.cursor.col || at.row !== this.cursor.row)) {
        throw new AppError("INCONSISTENT_STATE", "the cursor has moved");
      }
      for (const part of parts) {
        const atMs = this.clock.nowMs();
        const typed =
          part.kind === "keys" ? { atMs, keys: part.keys } : { atMs, paste: Buffer.from(part.bytes).toString() };
        this.typed.push(typed);
        this.answer(typed);
      }
      return { position };
    },
  } as unknown as TmuxServer;

  readonly readiness: ReadinessWatcher = {
    profiles: PROFILES,
    known: () => this.state,
    hadAgent: () => false,
    watch: () => watchOf(() => this.state, this.#listeners),
  };

  /** A millisecond at a time until it is settled. */
  async during<Result>(work: Promise<Result>, everyMs: (nowMs: number) => void = () => undefined): Promise<Result> {
    const progress = { isDone: false };
    const mark = (): void => {
      progress.isDone = true;
    };
    work.then(mark, mark);
    for (let steps = 0; ; steps += 1) {
      if (steps > 100_000) throw new Error("never settled");
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (progress.isDone) break;
      this.clock.advanceMs(1);
      everyMs(this.clock.nowMs());
    }
    return work;
  }
}
