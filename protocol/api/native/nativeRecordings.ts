/** Recordings in the native API: the request that starts one, and the description of one (docs/contracts/native.md §13). */
import * as v from "valibot";
import { MAX_RECORDING_BYTES, MAX_RECORDING_SEC, MIN_RECORDING_BYTES } from "../../limits.ts";
import { described, named, optional, whole } from "../described.ts";
import { unreachable } from "./nativeHosts.ts";

export const startRecordingSchema = v.strictObject({
  version: optional(whole(2, 3), "The version of the asciicast format; default 2, which every player supports."),
  maxBytes: optional(
    whole(MIN_RECORDING_BYTES, MAX_RECORDING_BYTES),
    "Stop when the file has this many bytes; default 64 MiB.",
  ),
  maxSeconds: optional(whole(1, MAX_RECORDING_SEC), "Stop after this many seconds; default 28800, 8 hours."),
  input: optional(
    v.boolean(),
    "Also record input typed through the daemon, including passwords, which the screen does not show; default false.",
  ),
});
export type NativeStartRecording = v.InferInput<typeof startRecordingSchema>;

export const recordingSchema = v.object({
  id: named(v.string(), "Its id, as used in paths."),
  server: named(v.string(), "The server of its pane."),
  pane: described(v.string(), "The recorded pane, such as %5."),
  path: described(v.string(), "The file, on the daemon's machine."),
  version: described(v.picklist([2, 3]), "The version of the asciicast format."),
  input: described(v.boolean(), "Whether it also holds typed input."),
  startedUnixMs: described(v.number(), "When it started: Unix time in milliseconds."),
  recording: described(v.boolean(), "Whether it is still being recorded."),
  durationMs: described(v.nullable(v.number()), "Its length in milliseconds; null if an earlier daemon recorded it."),
  bytes: described(v.number(), "The size of its file."),
  gaps: described(
    v.nullable(v.number()),
    "The number of gaps, each with a marker; null if an earlier daemon recorded it.",
  ),
  endedBy: described(
    v.nullable(v.picklist(["pane", "stopped", "size", "age", "daemon", "connection", "failed"])),
    "Why it ended: the pane closed, a request, a limit, the daemon, its file; null while it is being recorded, or if an earlier daemon recorded it.",
  ),
});
export type NativeRecording = v.InferOutput<typeof recordingSchema>;
export const recordingsSchema = v.object({
  recordings: described(v.array(recordingSchema), "All recordings that the daemon has, oldest first."),
  unreachable,
});
