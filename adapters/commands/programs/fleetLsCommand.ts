/** `tmuxwire ls` with `--nats` as well: what daemons have published, each server under its host's name. */
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { usageError } from "../../cli/parseCommand.ts";
import { printable } from "../../cli/textTable.ts";
import { isFromNats } from "../connection/natsOptions.ts";
import { drawn, lsCommand, only } from "../operations/lsCommand.ts";

export const fleetLsCommand: CommandSpec = {
  ...lsCommand,
  run: (call) => (isFromNats(call) ? listFleet(call) : lsCommand.run(call)),
};

async function listFleet(call: CommandCall): Promise<number> {
  const {
    io,
    options,
    positionals: [session],
  } = call;
  if (options.flag("watch")) throw usageError("--watch cannot be combined with --nats");
  const { withFleet } = await import("../connection/fleetConnection.ts");
  return withFleet(call, async (client) => {
    const wanted = options.text("server");
    const servers = (await client.servers()).filter(({ server }) => wanted === undefined || server === wanted);
    if (options.flag("json")) {
      await io.out(
        `${JSON.stringify({ servers: servers.map((one) => ({ ...one, tree: only(one.tree, session) })) })}\n`,
      );
      return 0;
    }
    for (const { host, server, tree, readiness, toldUnixMs, ended } of servers) {
      const states = new Map(Object.entries(readiness).map(([pane, { state }]) => [pane, state]));
      const told = `${ended ? "ended, " : ""}told ${new Date(toldUnixMs).toISOString()}`;
      await io.out(`${printable(`${host} ${server}`)} (${told})\n${drawn(only(tree, session), states, undefined)}`);
    }
    return 0;
  });
}
