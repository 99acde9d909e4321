/** The daemon's recordings, opened once by the first part that serves them; that repairs what an earlier daemon left. */
import { homedir } from "node:os";
import type { Log } from "../../daemon/ops/log.ts";
import { runtimePaths } from "../../daemon/ops/runtimePaths.ts";
import { RecordingRegistry } from "../../daemon/recordings/recordingRegistry.ts";
import { systemClock } from "../../daemon/time/clock.ts";

export function sharedRecordings(
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
): () => Promise<RecordingRegistry> {
  let opened: Promise<RecordingRegistry> | undefined;
  return () => {
    const folder = runtimePaths(env, homedir()).recordingsPath;
    opened ??= RecordingRegistry.open({ folder, clock: systemClock, nowUnixMs: Date.now, log });
    return opened;
  };
}
