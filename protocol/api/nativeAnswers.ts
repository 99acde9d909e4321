/**
 * What the native API answers (docs/contracts/native.md): schemas for OpenAPI and for tests, types for everyone. Positions
 * are `epoch:outputSeq` texts; ids are tmux's own. Titles, names, paths and screen text are whatever a program made them.
 */
import * as v from "valibot";
import { ERROR_SURFACES, type ErrorCode } from "../errors.ts";
import { readinessSchema } from "./nativeReadiness.ts";
import { told } from "./told.ts";

export type { NativeReadiness } from "./nativeReadiness.ts";

const ERROR_CODES = Object.keys(ERROR_SURFACES) as [ErrorCode, ...ErrorCode[]];

export const errorAnswerSchema = v.object({
  error: told(
    v.object({
      code: told(v.picklist(ERROR_CODES), "What went wrong: decide by this."),
      message: told(v.string(), "One line for a person that says what to do next."),
      details: v.optional(told(v.record(v.string(), v.unknown()), "Facts about it: ids, limits, progress.")),
    }),
    "What went wrong.",
  ),
});
export type NativeErrorAnswer = v.InferOutput<typeof errorAnswerSchema>;

const position = (text: string) => told(v.string(), text);
const count = (text: string) => told(v.pipe(v.number(), v.integer(), v.minValue(0)), text);
const ids = (text: string) => told(v.array(v.string()), text);

export const exitSchema = v.object({
  exitCode: v.optional(told(v.number(), "Its exit status, when it ended by itself.")),
  signal: v.optional(told(v.number(), "The number of the signal that ended it.")),
});
export type NativeExit = v.InferOutput<typeof exitSchema>;

const gapSchema = v.object({
  from: position("Where the missing output begins."),
  to: position("Where it ends."),
  reason: told(
    v.picklist(["evicted", "paused", "epoch"]),
    "Why: evicted from the daemon's memory, dropped by tmux, or printed between two connections to tmux.",
  ),
});
export type NativeGap = v.InferOutput<typeof gapSchema>;
const gaps = told(v.array(gapSchema), "Output that was not seen.");

export const serverStateSchema = v.picklist(["connecting", "ready", "degraded", "closed"]);

const serverSchema = v.object({
  name: told(v.string(), "Its name in paths."),
  kind: told(v.picklist(["owned", "guest", "stub"]), "The daemon's own, the user's, or one in memory for tests."),
  state: told(serverStateSchema, "Whether tmux answers."),
  epoch: told(v.string(), "Of the connection: positions of another one are of the past."),
  tmuxVersion: told(v.nullable(v.string()), "As tmux tells it; null when it is not known."),
  socketPath: told(v.nullable(v.string()), "The socket of the tmux server; null when there is none."),
  sessions: count("How many sessions it has."),
  panes: count("How many panes it has."),
});
export type NativeServer = v.InferOutput<typeof serverSchema>;
export const serversSchema = v.object({ servers: told(v.array(serverSchema), "All of them.") });

export const sessionSchema = v.object({
  id: told(v.string(), "Such as $0."),
  name: told(v.string(), "As tmux has it. Foreign text."),
  windows: ids("Ids of its windows, in their order."),
  activePane: told(
    v.nullable(v.string()),
    "The pane that input to the session reaches; null while it is being made or ended.",
  ),
  createdSec: told(v.number(), "When it was made: Unix time in seconds."),
});
export type NativeSession = v.InferOutput<typeof sessionSchema>;
export const sessionsSchema = v.object({ sessions: told(v.array(sessionSchema), "All of them, by name.") });

const paneEntries = {
  id: told(v.string(), "Such as %5."),
  window: told(v.string(), "The id of its window, such as @3."),
  sessions: ids("Names of the sessions that have its window. Foreign text."),
  cols: count("Width in columns."),
  rows: count("Height in rows."),
  active: told(v.boolean(), "Whether it is the active pane of its window."),
  pid: told(v.number(), "The process id of its first program."),
  title: told(v.string(), "Set by its program. Foreign text."),
  dead: told(v.boolean(), "Whether its program has ended."),
  exit: told(v.nullable(exitSchema), "How its program ended; null while it runs."),
  position: told(
    v.nullable(v.string()),
    "Its output so far ends here. Null on a guest server, where asking would mean attaching to the session.",
  ),
  readiness: told(
    v.nullable(readinessSchema),
    "What its program is doing. Null in a list for a pane that nobody watches.",
  ),
};
const paneSchema = v.object(paneEntries);
export type NativePane = v.InferOutput<typeof paneSchema>;
export const panesSchema = v.object({ panes: told(v.array(paneSchema), "All of them.") });

export const paneDetailsSchema = v.object({
  ...paneEntries,
  command: told(v.string(), "The program in its foreground, as tmux calls it. Foreign text."),
  cwd: told(v.string(), "The directory that program is in. Foreign text."),
  tty: told(v.string(), "Its terminal device."),
  historyLines: count("Rows above the screen that tmux keeps."),
  alternateScreen: told(v.boolean(), "Whether a full-screen program shows its own screen."),
  inMode: told(v.boolean(), "Whether it is in one of tmux's modes, such as copy mode."),
});
export type NativePaneDetails = v.InferOutput<typeof paneDetailsSchema>;

export const receiptSchema = v.object({ position: position("The output that it causes is after this.") });
export type NativeReceipt = v.InferOutput<typeof receiptSchema>;

const screenEntries = {
  position: position("The place in the pane's output that the screen shows."),
  exact: told(v.boolean(), "Whether that is exactly the place; else what follows may repeat or miss something."),
  cols: count("Width in columns."),
  rows: count("Height in rows."),
  alternateScreen: told(v.boolean(), "Whether a full-screen program shows its own screen."),
};

export const captureSchema = v.object({
  ...screenEntries,
  lines: told(v.array(v.string()), "One text per row, blanks at its end trimmed. Foreign text."),
  cursor: told(
    v.object({ col: count("Column, from 0."), row: count("Row of the screen, from 0.") }),
    "Where the cursor is.",
  ),
});
export type NativeCapture = v.InferOutput<typeof captureSchema>;

export const snapshotSchema = v.object({
  ...screenEntries,
  data: told(v.string(), "The bytes, in base64, from a full reset on."),
});
export type NativeSnapshot = v.InferOutput<typeof snapshotSchema>;

const elapsedMs = told(v.number(), "How long it took, in milliseconds.");

export const waitAnswerSchema = v.object({
  matched: told(
    v.array(
      v.object({
        predicate: told(v.string(), "The name of the predicate that holds."),
        text: v.optional(told(v.string(), "The text that matched. Foreign text.")),
        on: v.optional(told(v.literal("screen"), "The screen showed it and the output did not: it has no positions.")),
        from: v.optional(position("Where the match begins.")),
        to: v.optional(position("Where the match ends.")),
      }),
    ),
    "What holds.",
  ),
  position: position("The output that was looked at ends here: go on from it."),
  exit: v.optional(told(exitSchema, "How the program ended, when it has.")),
  elapsedMs,
  gaps,
});
export type NativeWaitAnswer = v.InferOutput<typeof waitAnswerSchema>;

export const runAnswerSchema = v.object({
  output: told(v.string(), "What the command printed: plain text, or base64 with the raw format. Foreign text."),
  exitCode: told(v.nullable(v.number()), "Its exit status; null when the shell did not tell it."),
  from: position("Where its output begins."),
  to: position("Where its output ends."),
  gaps,
  method: told(v.picklist(["osc133", "marker"]), "What told the end: the shell's own marks, or ours."),
  elapsedMs,
});
export type NativeRunAnswer = v.InferOutput<typeof runAnswerSchema>;

export const healthSchema = v.object({
  ok: told(v.boolean(), "Whether every server is ready."),
  servers: told(v.record(v.string(), v.string()), "The state of each server, by name."),
});
export const okSchema = v.object({ ok: told(v.literal(true), "It is done.") });
export type NativeOk = v.InferOutput<typeof okSchema>;
