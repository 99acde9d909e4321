/**
 * Whether somebody has typed into the line that a prompt for a shell or a REPL would be typed into, which would execute both.
 * Where the screen does not tell, the line is probed as for `run`, and left as it was. A program whose line is not known
 * counts as empty.
 */
import type { Capture } from "../../tmux/io.ts";
import type { Profile } from "../../readiness/profile.ts";
import { isShellReading } from "../../readiness/whoReads.ts";
import {
  cursorComes,
  isEdited,
  killedByProbe,
  type LineContext,
  PROBE,
  rowOf,
  signsOf,
  textOf,
  UNPROBE,
} from "../../shell/emptyLine.ts";
import { type TypedLine, typedLine } from "../../shell/typedLine.ts";
import type { Work } from "../work.ts";

/** Somebody who types pauses for less than this: until then the line is not probed again. */
const TYPING_MS = 1_000;
/** A prompt that changes by itself may never look as it was probed. */
const MAX_PROBES = 3;

export class LineCheck {
  /** When to look again although nothing has come. */
  againAtMs = Infinity;
  /** The shell's own line editor has the line. */
  isEdited = false;
  readonly #work: Work;
  readonly #profile: Profile;
  #typed = "";
  /** Where the stream ended when a probe had found that out; -1: none has. */
  #probedSeq = -1;
  #probes = 0;

  constructor(work: Work, profile: Profile) {
    this.#work = work;
    this.#profile = profile;
  }

  /** What somebody has typed, "" for nothing that is known of; undefined: the screen is to be captured again. */
  async typed(capture: Capture): Promise<string | undefined> {
    const { server, pane, source, clock, lastOutputMs } = this.#work.watch;
    this.againAtMs = Infinity;
    if (this.#profile.kind === "agent") return "";
    if (this.#probedSeq === source.outputSeq) return this.#typed;
    const who = await server.foreground(pane, { atNoCost: true });
    const signs = signsOf(source);
    const line = typedLine(who.command, capture, signs);
    this.isEdited = line !== undefined && isEdited(line.kind, signs);
    const isRead = line?.isRepl === true || (isShellReading(who) ?? signs.isEditing === true);
    if (line === undefined || !isRead) return (this.#typed = "");
    if (line.typed !== undefined) return (this.#typed = line.typed);
    if (this.#typed === "") return this.#probes < MAX_PROBES ? this.#probe(line, capture) : "";
    const quietMs = lastOutputMs + TYPING_MS;
    if (clock.nowMs() >= quietMs) return this.#probe(line, capture);
    this.againAtMs = quietMs;
    return this.#typed;
  }

  /** The line is as before then, whoever leaves meanwhile. */
  async #probe({ kind }: TypedLine, capture: Capture): Promise<string | undefined> {
    const { watch, keys, leaving, progress } = this.#work;
    const { server, pane, source, clock } = watch;
    const context: LineContext = { server, pane, source, clock };
    const from = source.outputSeq;
    const beforeWrite = (): void => {
      leaving.throwIfAborted();
      progress.isProbing = true;
    };
    let killed: Awaited<ReturnType<typeof killedByProbe>>;
    try {
      if (!(await keys.typeOn(capture, [PROBE], beforeWrite, { cursor: capture.cursor }))) return undefined;
      this.#probes += 1;
      killed = await killedByProbe(context, { kind, before: capture, from });
      const restoredFrom = source.outputSeq;
      await keys.type(killed?.back ?? [UNPROBE]);
      if (killed !== undefined) await cursorComes(context, { at: [capture.cursor], from: restoredFrom });
    } finally {
      progress.isProbing = false;
    }
    const row = rowOf(capture);
    const prompt = row.before.slice(0, row.before.length - (killed?.text.length ?? 0));
    if (killed !== undefined && prompt + killed.text === row.before) {
      signsOf(source).emptyRow = textOf({ ...row, before: prompt });
    }
    this.#typed = killed?.text.trim() ?? "";
    this.#probedSeq = source.outputSeq;
    return this.#typed === "" ? undefined : this.#typed;
  }
}
