/** The options of commands that can read from NATS. What reads is loaded only then. */
import { NATS_CREDENTIALS_FLAG, NATS_FLAG } from "../../fleet/natsFlags.ts";
import type { CommandCall, OptionSpec } from "../../cli/commandTypes.ts";
import { usageError } from "../../cli/parseCommand.ts";

/** The URLs, or undefined. `--nats` alone chooses it: `TMUXWIRE_NATS` is for a daemon as well. */
export const isFromNats = ({ options }: CommandCall): boolean => options.text("nats") !== undefined;

export const NATS_OPTIONS: readonly OptionSpec[] = [
  {
    ...NATS_FLAG,
    description: "read from NATS at these URLs instead of a daemon, such as nats://127.0.0.1:4222",
    default: undefined,
  },
  NATS_CREDENTIALS_FLAG,
];

export const HOST_OPTION: OptionSpec = {
  name: "host",
  type: "text",
  value: "HOST",
  description: "with --nats: the host, as its daemon's --nats-host names it",
  default: "the only one, or all of them in a list",
};

/** For what asks a daemon. */
export function refuseHost({ options }: CommandCall): void {
  if (options.text("host") !== undefined)
    throw usageError("--host is for --nats; without it a host is in the server's name");
}
