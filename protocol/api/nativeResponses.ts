/**
 * What the native API returns (docs/contracts/native.md): schemas for OpenAPI and for tests, types for everyone. Positions
 * are `epoch:outputSeq` texts; ids are tmux's own. Titles, names, paths and screen text are foreign text.
 */
import * as v from "valibot";
import { ERROR_SURFACES, type ErrorCode } from "../errors.ts";
import { readinessSchema } from "./nativeReadiness.ts";
import { count, described, optional } from "./described.ts";

export type { NativeReadiness } from "./nativeReadiness.ts";

const ERROR_CODES = Object.keys(ERROR_SURFACES) as [ErrorCode, ...ErrorCode[]];

export const errorResponseSchema = v.object({
  error: described(
    v.object({
      code: described(v.picklist(ERROR_CODES), "What went wrong: decide by this."),
      message: described(v.string(), "One line for a person that says what to do next."),
      details: optional(v.record(v.string(), v.unknown()), "Details: ids, limits, progress."),
    }),
    "What went wrong.",
  ),
});
export type NativeErrorResponse = v.InferOutput<typeof errorResponseSchema>;

const position = (text: string) => described(v.string(), text);
const ids = (text: string) => described(v.array(v.string()), text);

export const exitSchema = v.object({
  exitCode: optional(v.number(), "Its exit status, when it ended by itself."),
  signal: optional(v.number(), "The number of the signal that ended it."),
});
export type NativeExit = v.InferOutput<typeof exitSchema>;

const gapSchema = v.object({
  from: position("Where the missing output begins."),
  to: position("Where it ends."),
  reason: described(
    v.picklist(["evicted", "paused", "epoch"]),
    "Why: evicted from the daemon's memory, dropped by tmux, or printed between two connections to tmux.",
  ),
});
export type NativeGap = v.InferOutput<typeof gapSchema>;
const gaps = described(v.array(gapSchema), "Output that the wait could not see.");

export const serverStateSchema = v.picklist(["connecting", "ready", "degraded", "closed"]);

export const waiting = v.optional(
  described(
    v.object({
      for: described(v.literal("calm"), "For what."),
      sinceUnixMs: described(v.number(), "Since when: Unix time in milliseconds."),
    }),
    "There while clients of the daemon wait until the server is calm: streams begin then, with a gap.",
  ),
);
export type NativeWaiting = NonNullable<v.InferOutput<typeof waiting>>;

const serverSchema = v.object({
  name: described(v.string(), "Its name in paths."),
  kind: described(v.picklist(["owned", "guest", "stub"]), "The daemon's own, the user's, or one in memory for tests."),
  state: described(serverStateSchema, "Whether tmux responds."),
  epoch: described(v.string(), "Identifies the connection to tmux: positions of another epoch are no longer valid."),
  tmuxVersion: described(v.nullable(v.string()), "As tmux reports it; null when it is not known."),
  socketPath: described(v.nullable(v.string()), "The socket of the tmux server; null when there is none."),
  sessions: count("How many sessions it has."),
  panes: count("How many panes it has."),
  waiting,
});
export type NativeServer = v.InferOutput<typeof serverSchema>;
export const serversSchema = v.object({ servers: described(v.array(serverSchema), "All of them.") });

export const sessionSchema = v.object({
  id: described(v.string(), "Such as $0."),
  name: described(v.string(), "As tmux has it. Foreign text."),
  windows: ids("Ids of its windows, in their order."),
  activePane: described(
    v.nullable(v.string()),
    "The pane that input to the session reaches; null while it is being made or ended.",
  ),
  createdSec: described(v.number(), "When it was made: Unix time in seconds."),
});
export type NativeSession = v.InferOutput<typeof sessionSchema>;
export const sessionsSchema = v.object({ sessions: described(v.array(sessionSchema), "All of them, by name.") });

const paneEntries = {
  id: described(v.string(), "Such as %5."),
  window: described(v.string(), "The id of its window, such as @3."),
  sessions: ids("Names of the sessions that have its window. Foreign text."),
  cols: count("Width in columns."),
  rows: count("Height in rows."),
  active: described(v.boolean(), "Whether it is the active pane of its window."),
  pid: described(v.number(), "The process id of its first program."),
  title: described(v.string(), "Set by its program. Foreign text."),
  dead: described(v.boolean(), "Whether its program has ended."),
  exit: described(v.nullable(exitSchema), "How its program ended; null while it runs."),
  position: described(
    v.nullable(v.string()),
    "Its output so far ends here. Null on a guest server, where asking would mean attaching to the session.",
  ),
  readiness: described(
    v.nullable(readinessSchema),
    "What its program is doing. Null in a list when the pane is not watched.",
  ),
};
const paneSchema = v.object(paneEntries);
export type NativePane = v.InferOutput<typeof paneSchema>;
export const panesSchema = v.object({ panes: described(v.array(paneSchema), "All of them.") });

export const paneDetailsSchema = v.object({
  ...paneEntries,
  command: described(v.string(), "The program in its foreground, as tmux calls it. Foreign text."),
  cwd: described(v.string(), "The directory that program is in. Foreign text."),
  tty: described(v.string(), "Its terminal device."),
  historyLines: count("Rows above the screen that tmux keeps."),
  alternateScreen: described(v.boolean(), "Whether a full-screen program shows its own screen."),
  inMode: described(v.boolean(), "Whether it is in one of tmux's modes, such as copy mode."),
  waiting,
});
export type NativePaneDetails = v.InferOutput<typeof paneDetailsSchema>;

export const receiptSchema = v.object({ position: position("The output that it causes is after this.") });
export type NativeReceipt = v.InferOutput<typeof receiptSchema>;

const screenEntries = {
  position: position("The place in the pane's output that the screen shows."),
  exact: described(v.boolean(), "Whether that is exactly the place; else what follows may repeat or miss something."),
  cols: count("Width in columns."),
  rows: count("Height in rows."),
  alternateScreen: described(v.boolean(), "Whether a full-screen program shows its own screen."),
};

export const captureSchema = v.object({
  ...screenEntries,
  lines: described(v.array(v.string()), "One text per row, blanks at its end trimmed. Foreign text."),
  cursor: described(
    v.object({ col: count("Column, from 0."), row: count("Row of the screen, from 0.") }),
    "Where the cursor is.",
  ),
});
export type NativeCapture = v.InferOutput<typeof captureSchema>;

export const snapshotSchema = v.object({
  ...screenEntries,
  data: described(v.string(), "The bytes, in base64, from a full reset on."),
});
export type NativeSnapshot = v.InferOutput<typeof snapshotSchema>;

const elapsedMs = described(v.number(), "How long it took, in milliseconds.");

export const waitResponseSchema = v.object({
  matched: described(
    v.array(
      v.object({
        predicate: described(v.string(), "The name of the predicate that holds."),
        text: optional(v.string(), "The text that matched. Foreign text."),
        on: optional(v.literal("screen"), "It was found on the screen and not in the output, so it has no positions."),
        from: v.optional(position("Where the match begins.")),
        to: v.optional(position("Where the match ends.")),
      }),
    ),
    "What holds.",
  ),
  position: position("The output that was looked at ends here: go on from it."),
  exit: optional(exitSchema, "How the program ended, when it has."),
  elapsedMs,
  gaps,
});
export type NativeWaitResponse = v.InferOutput<typeof waitResponseSchema>;

export const runResponseSchema = v.object({
  output: described(v.string(), "What the command printed: plain text, or base64 with the raw format. Foreign text."),
  exitCode: described(v.nullable(v.number()), "Its exit status; null when the shell did not report one."),
  from: position("Where its output begins."),
  to: position("Where its output ends."),
  gaps,
  method: described(
    v.picklist(["osc133", "marker"]),
    "How the end was detected: by the shell's own marks, or by ours.",
  ),
  elapsedMs,
});
export type NativeRunResponse = v.InferOutput<typeof runResponseSchema>;

export const healthSchema = v.object({
  ok: described(v.boolean(), "Whether every server is ready."),
  servers: described(v.record(v.string(), v.string()), "The state of each server, by name."),
});
export const okSchema = v.object({ ok: described(v.literal(true), "It succeeded.") });
export type NativeOk = v.InferOutput<typeof okSchema>;
