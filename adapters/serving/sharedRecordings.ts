/** The daemon's recordings, opened once by the first part that serves them; that repairs what an earlier daemon left. */
import { homedir } from "node:os";
import type { Log } from "../../daemon/ops/log.ts";
import { runtimePaths } from "../../daemon/ops/runtimePaths.ts";
import { RecordingBook } from "../../daemon/recordings/recordingBook.ts";
import { systemClock } from "../../daemon/time/clock.ts";

export function sharedRecordings(
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
): () => Promise<RecordingBook> {
  let opened: Promise<RecordingBook> | undefined;
  return () => {
    const folder = runtimePaths(env, homedir()).recordingsPath;
    opened ??= RecordingBook.open({ folder, clock: systemClock, nowUnixMs: Date.now, log });
    return opened;
  };
}
