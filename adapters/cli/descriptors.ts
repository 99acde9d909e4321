/**
 * Checks at the start that this process may open enough files, because a process that runs out of descriptors later fails
 * at arbitrary points.
 */
import { descriptorLimit } from "../../daemon/host/descriptorLimit.ts";
import { AppError } from "../../protocol/errors.ts";

/** Each pane, connection and subscriber takes some; systems usually allow at least a thousand. */
export const ENOUGH_DESCRIPTORS = 1_024;
/** Loading the modules takes a hundred at once, an idle daemon keeps fifty, and clients need some as well. */
const LEAST_DESCRIPTORS = 256;

/** @throws AppError CONFIGURATION_INVALID */
export function requireDescriptors(limit = descriptorLimit()): void {
  if (limit === undefined || limit >= LEAST_DESCRIPTORS) return;
  throw new AppError(
    "CONFIGURATION_INVALID",
    `the limit of ${limit} open files is too low, at least ${LEAST_DESCRIPTORS} are needed: ` +
      `run \`ulimit -n ${ENOUGH_DESCRIPTORS}\`, or set LimitNOFILE of the service`,
  );
}
