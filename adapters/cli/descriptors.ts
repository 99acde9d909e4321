/**
 * Whether this process may open enough files to serve anything: checked at the start, because a process that runs out
 * later fails at any point.
 */
import { descriptorLimit } from "../../daemon/host/descriptorLimit.ts";
import { AppError } from "../../protocol/errors.ts";

/** Each pane, connection and subscriber takes some; systems give at least a thousand. */
export const ENOUGH_DESCRIPTORS = 1_024;
/** Loading everything takes a hundred at once, an idle daemon keeps fifty, and clients need some as well. */
const LEAST_DESCRIPTORS = 256;

/** @throws AppError CONFIGURATION_INVALID */
export function requireDescriptors(limit = descriptorLimit()): void {
  if (limit === undefined || limit >= LEAST_DESCRIPTORS) return;
  throw new AppError(
    "CONFIGURATION_INVALID",
    `this process may have ${limit} files open, and needs ${LEAST_DESCRIPTORS} at least: ` +
      `raise the limit with ulimit -n ${ENOUGH_DESCRIPTORS}, or LimitNOFILE of its service`,
  );
}
