/** The daemon itself: which version runs since when, and its restart (docs/contracts/native.md §19). */
import * as v from "valibot";
import { described, optional, whole } from "../described.ts";

export const DEFAULT_DRAIN_SEC = 30;
const MAX_DRAIN_SEC = 600;
const MAX_PATH_CHARS = 4_096;

export const daemonSchema = v.object({
  version: described(v.string(), "Its version."),
  node: described(v.string(), "The version of its Node."),
  pid: described(v.number(), "Its process."),
  startedUnixMs: described(v.number(), "When it started: Unix time in milliseconds. Another value is another daemon."),
});
export type NativeDaemon = v.InferOutput<typeof daemonSchema>;

const path = (text: string) => optional(v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_PATH_CHARS)), text);

export const restartSchema = v.strictObject({
  node: path("The file of Node for the new daemon; default: that of this one."),
  script: path("The file of tmuxwire's executable; default: that of this daemon, as it is installed now."),
  timeoutSec: optional(
    whole(0, MAX_DRAIN_SEC),
    `How long deliveries under way may take before the daemon ends, in seconds; default ${DEFAULT_DRAIN_SEC}.`,
  ),
});

export const restartingSchema = v.object({
  from: described(v.string(), "The version that ends."),
  to: described(v.string(), "The version that starts."),
  unfinished: described(v.number(), "Deliveries that had not ended in time: their outcome is told as with any stop."),
  by: described(
    v.picklist(["itself", "service"]),
    "Who starts the new one: this process, or the service manager that opened its listeners.",
  ),
});
export type NativeRestarting = v.InferOutput<typeof restartingSchema>;
