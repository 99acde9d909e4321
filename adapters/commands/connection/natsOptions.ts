/** The options of commands that can read from NATS. What reads is loaded only then. */
import type { CommandCall, OptionSpec } from "../../cli/commandTypes.ts";

/** The URLs, or undefined. `--nats` alone chooses it: `TMUXWIRE_NATS` is for a daemon as well. */
export const isFromNats = ({ options }: CommandCall): boolean => options.text("nats") !== undefined;

export const NATS_OPTIONS: readonly OptionSpec[] = [
  {
    name: "nats",
    type: "text",
    value: "URLS",
    description: "read from NATS at these URLs instead of a daemon, such as nats://127.0.0.1:4222",
  },
  {
    name: "nats-creds",
    type: "text",
    value: "PATH",
    description: "file with credentials for NATS, as `nsc` writes it",
    default: "TMUXWIRE_NATS_CREDS, else none",
    complete: "file",
  },
];

export const HOST_OPTION: OptionSpec = {
  name: "host",
  type: "text",
  value: "HOST",
  description: "with --nats: the host, as its daemon's --nats-host names it",
  default: "the only one",
};
