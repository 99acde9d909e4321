/** `tmuxwire ls` with `--nats` as well: what daemons have published, each server under its host's name. */
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import type { FleetServer } from "../../fleet/fleetClient.ts";
import { printable } from "../../cli/textTable.ts";
import { isFromNats } from "../connection/natsOptions.ts";
import { CLEAR, drawn, HOME_AND_CLEAR, lsCommand, only } from "../operations/lsCommand.ts";

export const fleetLsCommand: CommandSpec = {
  ...lsCommand,
  run: (call) => (isFromNats(call) ? listFleet(call) : lsCommand.run(call)),
};

async function listFleet(call: CommandCall): Promise<number> {
  const { io, options } = call;
  const { withFleet } = await import("../connection/fleetConnection.ts");
  return withFleet(call, async (client) => {
    if (!options.flag("watch")) {
      await io.out(shown(call, await client.servers()));
      return 0;
    }
    const redraws = io.colour && !options.flag("json");
    let last: string | undefined;
    for await (const servers of client.changes({ host: options.text("host"), signal: io.signal })) {
      const text = shown(call, servers);
      if (text === last) continue;
      await io.out(redraws ? `${last === undefined ? CLEAR : ""}${HOME_AND_CLEAR}${text}` : text);
      last = text;
    }
    return 0;
  });
}

function shown({ options, positionals: [session] }: CommandCall, all: readonly FleetServer[]): string {
  const wanted = options.text("server");
  const chosen = options.text("host");
  const servers = all.filter(
    ({ host, server }) => (wanted === undefined || server === wanted) && (chosen === undefined || host === chosen),
  );
  if (options.flag("json")) {
    return `${JSON.stringify({ servers: servers.map((one) => ({ ...one, tree: only(one.tree, session) })) })}\n`;
  }
  const texts = servers.map(({ host, server, tree, readiness, toldUnixMs, ended }) => {
    const states = new Map(Object.entries(readiness).map(([pane, { state }]) => [pane, state]));
    // What is watched changes by itself; a time in it would change with every message.
    const told = options.flag("watch") ? [] : [`told ${new Date(toldUnixMs).toISOString()}`];
    const notes = [...(ended ? ["ended"] : []), ...told].join(", ");
    const title = printable(`${host} ${server}`) + (notes === "" ? "" : ` (${notes})`);
    return `${title}\n${drawn(only(tree, session), states, undefined)}`;
  });
  return texts.join("");
}
