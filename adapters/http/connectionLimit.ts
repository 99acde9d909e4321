/**
 * How many connections a listener accepts: the limit of the table, or fewer where the process has few descriptors, so that
 * idle clients never starve the connections to tmux and the files it needs.
 */
import { descriptorLimit } from "../../daemon/host/descriptorLimit.ts";
import { MAX_CONNECTIONS } from "./httpLimits.ts";

/** One listener's share of the descriptors: two listeners have half, everything else the other half. */
const SHARE = 1 / 4;

/** The table's limit where the system's is unknown. */
export const connectionLimit = (): number =>
  Math.min(MAX_CONNECTIONS, Math.floor((descriptorLimit() ?? Number.POSITIVE_INFINITY) * SHARE));
