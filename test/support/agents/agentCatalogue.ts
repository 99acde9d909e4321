/** The catalogue, as a daemon has it that nobody gave profiles of their own. */
import { profilesOf } from "../../../adapters/agents/agentProfiles.ts";
import { readAgents } from "../../../adapters/agents/catalogue.ts";
import type { Profile } from "../../../daemon/readiness/profile.ts";
import { Profiles } from "../../../daemon/readiness/profiles.ts";

export const AGENTS = readAgents();
export const PROFILES = new Profiles(profilesOf(AGENTS));
export const profileNamed = (name: string): Profile => PROFILES.named(name);
