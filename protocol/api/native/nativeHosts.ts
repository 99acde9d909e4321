/**
 * Other machines whose tmux servers are served from here, over ssh (docs/hosts.md). What a machine says about itself is
 * foreign text.
 */
import * as v from "valibot";
import { described, filled, optional, orNull } from "../described.ts";

/** In a name such as `main@build`. */
const HOST_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

const HOST_STATES = [
  "connecting",
  "connected",
  "unreachable",
  "auth_needed",
  "host_key_new",
  "host_key_changed",
  "refused",
  "no_tmuxwire",
  "no_tmux",
  "version",
] as const;
const hostState = v.picklist(HOST_STATES);

const hostEntries = {
  name: described(v.string(), "Its name here: what stands behind the `@`."),
  destination: described(v.string(), "What ssh connects to."),
  sshConfig: orNull(v.string(), "The configuration file that ssh is given; null: its own."),
  program: orNull(v.string(), "The file of tmuxwire on that machine (agentless: of tmux); null: the one on its PATH."),
  agentless: described(v.boolean(), "No tmuxwire runs there: its tmux is used over ssh alone."),
  state: described(hostState, "Whether it can be used."),
  sinceUnixMs: described(v.number(), "When the state began: Unix time in milliseconds."),
  why: orNull(v.string(), "What is wrong, and what to do about it; null while it is connected."),
  version: orNull(v.string(), "The daemon's version there; null if unknown, or agentless."),
  tmuxVersion: orNull(v.string(), "The version of its tmux; null if unknown. Foreign text."),
};
const hostSchema = v.object(hostEntries);
export type NativeHost = v.InferOutput<typeof hostSchema>;

export const checkedHostSchema = v.object({
  ...hostEntries,
  roundTripMs: orNull(v.number(), "Milliseconds until its daemon responded; null unless it is connected."),
  servers: orNull(v.number(), "Number of its tmux servers; null unless it is connected."),
  agents: orNull(v.number(), "Number of its agents; null unless it is connected, and agentless."),
});
export type NativeCheckedHost = v.InferOutput<typeof checkedHostSchema>;
export const hostsSchema = v.object({ hosts: described(v.array(checkedHostSchema), "By name.") });

export const addHostSchema = v.strictObject({
  name: described(
    v.pipe(v.string(), v.regex(HOST_NAME, "must be up to 64 letters, digits, `.`, `_` and `-`")),
    "Its name here, such as `build`.",
  ),
  destination: described(
    filled(512),
    "What ssh connects to: `build`, `me@build.example` or `ssh://me@build.example:2222`.",
  ),
  sshConfig: optional(
    v.pipe(filled(4_096), v.startsWith("/", "must be an absolute path")),
    "The configuration file that ssh is given.",
  ),
  program: optional(
    filled(4_096),
    "The file of tmuxwire on that machine (agentless: of tmux), where it is not on its PATH.",
  ),
  agentless: optional(
    v.boolean(),
    "Use its tmux over ssh alone: no tmuxwire is needed there, and agents are not found.",
  ),
});
export type NativeAddHost = v.InferInput<typeof addHostSchema>;

/** Of lists over all machines. */
export const unreachable = v.optional(
  described(
    v.array(v.string()),
    "Hosts that could not be asked: what they have is not in the list. Absent if all responded.",
  ),
);
