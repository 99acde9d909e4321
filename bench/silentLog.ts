/** For what has nowhere to write. */
import { createLog, type Log } from "../daemon/ops/log.ts";

export const silentLog: Log = createLog({ level: "error", write: () => {}, nowUnixMs: () => 0 });
