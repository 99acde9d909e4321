/**
 * What the native API answers (docs/contracts/native.md): schemas for OpenAPI and for tests, types for everyone. Positions
 * are `epoch:outputSeq` texts; ids are tmux's own. Titles, names, paths and screen text are whatever a program made them.
 */
import * as v from "valibot";
import { ERROR_SURFACES, type ErrorCode } from "../errors.ts";
import { readinessSchema } from "./nativeReadiness.ts";

export type { NativeReadiness } from "./nativeReadiness.ts";

const ERROR_CODES = Object.keys(ERROR_SURFACES) as [ErrorCode, ...ErrorCode[]];

export const errorAnswerSchema = v.object({
  error: v.object({
    code: v.picklist(ERROR_CODES),
    message: v.string(),
    details: v.optional(v.record(v.string(), v.unknown())),
  }),
});
export type NativeErrorAnswer = v.InferOutput<typeof errorAnswerSchema>;

const position = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const exitSchema = v.object({ exitCode: v.optional(v.number()), signal: v.optional(v.number()) });
export type NativeExit = v.InferOutput<typeof exitSchema>;

export const gapSchema = v.object({
  from: position,
  to: position,
  reason: v.picklist(["evicted", "paused", "epoch"]),
});
export type NativeGap = v.InferOutput<typeof gapSchema>;

export const serverSchema = v.object({
  name: v.string(),
  kind: v.picklist(["owned", "guest", "stub"]),
  state: v.picklist(["connecting", "ready", "degraded", "closed"]),
  epoch: v.string(),
  tmuxVersion: v.nullable(v.string()),
  socketPath: v.nullable(v.string()),
  sessions: count,
  panes: count,
});
export type NativeServer = v.InferOutput<typeof serverSchema>;
export const serversSchema = v.object({ servers: v.array(serverSchema) });

export const sessionSchema = v.object({
  id: v.string(),
  name: v.string(),
  windows: v.array(v.string()),
  activePane: v.nullable(v.string()),
  createdSec: v.number(),
});
export type NativeSession = v.InferOutput<typeof sessionSchema>;
export const sessionsSchema = v.object({ sessions: v.array(sessionSchema) });

const paneEntries = {
  id: v.string(),
  window: v.string(),
  sessions: v.array(v.string()),
  cols: count,
  rows: count,
  active: v.boolean(),
  pid: v.number(),
  title: v.string(),
  dead: v.boolean(),
  exit: v.nullable(exitSchema),
  /** Its output so far ends here. Null on a guest server, where asking would mean attaching to the session. */
  position: v.nullable(position),
  /** What its program is doing. Null in a list for a pane that nobody watches. */
  readiness: v.nullable(readinessSchema),
};
export const paneSchema = v.object(paneEntries);
export type NativePane = v.InferOutput<typeof paneSchema>;
export const panesSchema = v.object({ panes: v.array(paneSchema) });

export const paneDetailsSchema = v.object({
  ...paneEntries,
  command: v.string(),
  cwd: v.string(),
  tty: v.string(),
  historyLines: count,
  alternateScreen: v.boolean(),
  inMode: v.boolean(),
});
export type NativePaneDetails = v.InferOutput<typeof paneDetailsSchema>;

export const receiptSchema = v.object({ position });
export type NativeReceipt = v.InferOutput<typeof receiptSchema>;

const screenEntries = { position, exact: v.boolean(), cols: count, rows: count, alternateScreen: v.boolean() };

export const captureSchema = v.object({
  ...screenEntries,
  lines: v.array(v.string()),
  cursor: v.object({ col: count, row: count }),
});
export type NativeCapture = v.InferOutput<typeof captureSchema>;

export const snapshotSchema = v.object({ ...screenEntries, data: v.string() });
export type NativeSnapshot = v.InferOutput<typeof snapshotSchema>;

export const waitAnswerSchema = v.object({
  matched: v.array(
    v.object({
      predicate: v.string(),
      text: v.optional(v.string()),
      /** The screen showed it and the output did not: it has no positions. */
      on: v.optional(v.literal("screen")),
      from: v.optional(position),
      to: v.optional(position),
    }),
  ),
  position,
  exit: v.optional(exitSchema),
  elapsedMs: v.number(),
  gaps: v.array(gapSchema),
});
export type NativeWaitAnswer = v.InferOutput<typeof waitAnswerSchema>;

export const runAnswerSchema = v.object({
  /** Plain text, or base64 with `format: "raw"`. */
  output: v.string(),
  exitCode: v.nullable(v.number()),
  /** The output's place in the pane's stream. */
  from: position,
  to: position,
  gaps: v.array(gapSchema),
  /** How the end was told: by the shell's own marks, or by ours. */
  method: v.picklist(["osc133", "marker"]),
  elapsedMs: v.number(),
});
export type NativeRunAnswer = v.InferOutput<typeof runAnswerSchema>;

export const healthSchema = v.object({ ok: v.boolean(), servers: v.record(v.string(), v.string()) });
export const okSchema = v.object({ ok: v.literal(true) });
export type NativeOk = v.InferOutput<typeof okSchema>;
