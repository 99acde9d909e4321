/**
 * How many connections a listener takes: the limit of the table, or fewer where the system gives the process few
 * descriptors, so that the connections to tmux and the files it needs are never starved by clients that only sit there.
 */
import { descriptorLimit } from "../../daemon/host/descriptorLimit.ts";
import { MAX_CONNECTIONS } from "./httpLimits.ts";

/** Of the descriptors, what one listener may use: two listeners and the rest share the other half. */
const SHARE = 1 / 4;

/** Where the system does not tell its limit, the table's stands. */
export const connectionLimit = (): number =>
  Math.min(MAX_CONNECTIONS, Math.floor((descriptorLimit() ?? Number.POSITIVE_INFINITY) * SHARE));
