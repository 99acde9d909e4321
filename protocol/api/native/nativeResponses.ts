/**
 * The responses of the native API (docs/contracts/native.md): schemas for OpenAPI and tests, and types. Positions are
 * `epoch:outputSeq` strings; ids are tmux's own. Titles, names, paths and screen text are foreign text.
 */
import * as v from "valibot";
import { ERROR_SURFACES, type ErrorCode } from "../../errors.ts";
import { readinessSchema } from "./nativeReadiness.ts";
import { count, described, named, optional } from "../described.ts";
import { unreachable } from "./nativeHosts.ts";

export type { NativeReadiness } from "./nativeReadiness.ts";

const ERROR_CODES = Object.keys(ERROR_SURFACES) as [ErrorCode, ...ErrorCode[]];

export const errorResponseSchema = v.object({
  error: described(
    v.object({
      code: described(v.picklist(ERROR_CODES), "The error's code; decide by this."),
      message: described(v.string(), "One line for people: what is wrong, and what to do."),
      details: optional(v.record(v.string(), v.unknown()), "Details: ids, limits, progress."),
    }),
    "The error.",
  ),
});
export type NativeErrorResponse = v.InferOutput<typeof errorResponseSchema>;

const position = (text: string) => described(v.string(), text);
const ids = (text: string) => described(v.array(v.string()), text);

export const exitSchema = v.object({
  exitCode: optional(v.number(), "Its exit status, if it exited by itself."),
  signal: optional(v.number(), "The number of the signal that ended it."),
});
export type NativeExit = v.InferOutput<typeof exitSchema>;

const gapSchema = v.object({
  from: position("Where the missing output starts."),
  to: position("Where it ends."),
  reason: described(
    v.picklist(["evicted", "paused", "epoch"]),
    "Why it is missing: evicted from the daemon's memory, dropped by tmux, or printed between two connections to tmux.",
  ),
});
export type NativeGap = v.InferOutput<typeof gapSchema>;
const gaps = described(v.array(gapSchema), "Output that the wait could not see.");

export const serverStateSchema = v.picklist(["connecting", "ready", "degraded", "closed"]);

export const waiting = v.optional(
  described(
    v.object({
      for: described(v.literal("calm"), "What the clients wait for."),
      sinceUnixMs: described(v.number(), "Since when: Unix time in milliseconds."),
    }),
    "Present while the daemon's clients wait for sessions and clients to stop changing; streams then start with a gap.",
  ),
);
export type NativeWaiting = NonNullable<v.InferOutput<typeof waiting>>;

const serverSchema = v.object({
  name: named(v.string(), "Its name in paths."),
  kind: described(
    v.picklist(["owned", "guest", "stub"]),
    "The daemon's own server, the user's, or one in memory for tests.",
  ),
  state: described(serverStateSchema, "Whether tmux responds."),
  epoch: described(v.string(), "Identifies the connection to tmux; positions of another epoch are not valid."),
  tmuxVersion: described(v.nullable(v.string()), "The version that tmux reports; null if unknown."),
  socketPath: described(v.nullable(v.string()), "The socket of the tmux server; null if there is none."),
  sessions: count("Number of sessions."),
  panes: count("Number of panes."),
  waiting,
});
export type NativeServer = v.InferOutput<typeof serverSchema>;
export const serversSchema = v.object({ servers: described(v.array(serverSchema), "All of them."), unreachable });

export const sessionSchema = v.object({
  id: described(v.string(), "Such as $0."),
  name: described(v.string(), "Its name in tmux. Foreign text."),
  windows: ids("Ids of its windows, in order."),
  activePane: described(
    v.nullable(v.string()),
    "The pane that gets input sent to the session; null while it is being created or killed.",
  ),
  createdSec: described(v.number(), "When it was created: Unix time in seconds."),
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
    "Where its output currently ends. Null on a guest server, where this would require attaching to the session.",
  ),
  readiness: described(
    v.nullable(readinessSchema),
    "What its program is doing. Null in lists if the pane is not being watched.",
  ),
};
const paneSchema = v.object(paneEntries);
export type NativePane = v.InferOutput<typeof paneSchema>;
export const panesSchema = v.object({ panes: described(v.array(paneSchema), "All of them.") });

export const paneDetailsSchema = v.object({
  ...paneEntries,
  command: described(v.string(), "The name of the foreground program, from tmux. Foreign text."),
  cwd: described(v.string(), "That program's working directory. Foreign text."),
  tty: described(v.string(), "Its terminal device."),
  historyLines: count("Rows of history above the screen."),
  alternateScreen: described(v.boolean(), "Whether a full-screen program shows its own screen."),
  inMode: described(v.boolean(), "Whether it is in one of tmux's modes, such as copy mode."),
  waiting,
});
export type NativePaneDetails = v.InferOutput<typeof paneDetailsSchema>;

export const receiptSchema = v.object({ position: position("The effect of the input comes after this.") });
export type NativeReceipt = v.InferOutput<typeof receiptSchema>;

const screenEntries = {
  position: position("The position in the pane's output that the screen shows."),
  exact: described(
    v.boolean(),
    "Whether the position is exact; if not, the output that follows may repeat or miss something.",
  ),
  cols: count("Width in columns."),
  rows: count("Height in rows."),
  alternateScreen: described(v.boolean(), "Whether a full-screen program shows its own screen."),
};

export const captureSchema = v.object({
  ...screenEntries,
  lines: described(v.array(v.string()), "One string per row, without trailing spaces. Foreign text."),
  cursor: described(
    v.object({ col: count("Column, from 0."), row: count("Row of the screen, from 0.") }),
    "The cursor's position.",
  ),
});
export type NativeCapture = v.InferOutput<typeof captureSchema>;

export const snapshotSchema = v.object({
  ...screenEntries,
  data: described(v.string(), "The bytes in base64, beginning with a full reset."),
});
export type NativeSnapshot = v.InferOutput<typeof snapshotSchema>;

const elapsedMs = described(v.number(), "How long it took, in milliseconds.");

export const waitResponseSchema = v.object({
  matched: described(
    v.array(
      v.object({
        predicate: described(v.string(), "The name of the predicate."),
        text: optional(v.string(), "The text that matched. Foreign text."),
        on: optional(v.literal("screen"), "Found on the screen, not in the output, so there are no positions."),
        from: v.optional(position("Where the match starts.")),
        to: v.optional(position("Where the match ends.")),
      }),
    ),
    "The predicates that hold.",
  ),
  position: position("Where the examined output ends; continue from here."),
  exit: optional(exitSchema, "How the program ended, if it has."),
  elapsedMs,
  gaps,
});
export type NativeWaitResponse = v.InferOutput<typeof waitResponseSchema>;

export const runResponseSchema = v.object({
  output: described(v.string(), "The command's output: plain text, or base64 in raw format. Foreign text."),
  exitCode: described(v.nullable(v.number()), "Its exit status; null if the shell did not report one."),
  from: position("Where its output starts."),
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
