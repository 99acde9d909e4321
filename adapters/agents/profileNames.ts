/** The names of profiles, for completions and help. In bundles they are known when they are made (`bundleFacts.mjs`). */
import { readAgents } from "./catalogue.ts";

/** Likely ones: a person's own are the daemon's to know. */
export const PROFILE_NAMES: readonly string[] = [
  ...readAgents().flatMap(({ name, profile }) => (profile === undefined ? [] : [name])),
  "shell",
  "generic",
];
