/** Recordings over the native API: what starts one, and what is told of it (docs/contracts/native.md §13). */
import * as v from "valibot";
import { MAX_RECORDING_BYTES, MAX_RECORDING_SEC, MIN_RECORDING_BYTES } from "../limits.ts";
import { described } from "./described.ts";

const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

export const startRecordingSchema = v.strictObject({
  version: v.optional(described(whole(2, 3), "Of the asciicast format; default 2, which every player reads.")),
  maxBytes: v.optional(
    described(
      whole(MIN_RECORDING_BYTES, MAX_RECORDING_BYTES),
      "It ends when its file has so many bytes; default 64 MiB.",
    ),
  ),
  maxSeconds: v.optional(
    described(whole(1, MAX_RECORDING_SEC), "It ends after so many seconds; default 28800, 8 hours."),
  ),
  input: v.optional(
    described(
      v.boolean(),
      "Record what is typed through the daemon as well, passwords included, which the screen does not show; default false.",
    ),
  ),
});
export type NativeStartRecording = v.InferInput<typeof startRecordingSchema>;

export const recordingSchema = v.object({
  id: described(v.string(), "Its name in paths."),
  server: described(v.string(), "The server of its pane."),
  pane: described(v.string(), "The pane that it shows, such as %5."),
  path: described(v.string(), "The file, on the daemon's machine."),
  version: described(v.picklist([2, 3]), "Of the asciicast format."),
  input: described(v.boolean(), "Whether it holds what was typed as well."),
  startedUnixMs: described(v.number(), "When it began: Unix time in milliseconds."),
  recording: described(v.boolean(), "Whether it is under way."),
  durationMs: described(v.nullable(v.number()), "How long it is; null for one of an earlier daemon."),
  bytes: described(v.number(), "How large its file is."),
  gaps: described(v.nullable(v.number()), "Holes in it, each a mark; null for one of an earlier daemon."),
  endedBy: described(
    v.nullable(v.picklist(["pane", "stopped", "size", "age", "daemon", "connection", "failed"])),
    "Why it ended: the pane is gone, a request, a bound, the daemon, its file; null while it is under way, and for one of an earlier daemon.",
  ),
});
export type NativeRecording = v.InferOutput<typeof recordingSchema>;
export const recordingsSchema = v.object({
  recordings: described(v.array(recordingSchema), "All that the daemon has, the oldest first."),
});
