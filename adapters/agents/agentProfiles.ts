/** The agents' profiles: apart from the catalogue, because commands that only want names would load their schema. */
import { loadProfile, type Profile } from "../../daemon/readiness/profile.ts";
import type { Agent } from "./catalogue.ts";

/** In the order of the agents. @throws Error that names the field at fault */
export const profilesOf = (agents: readonly Agent[]): readonly Profile[] =>
  agents.flatMap(({ profile }) => (profile === undefined ? [] : [loadProfile(profile)]));
