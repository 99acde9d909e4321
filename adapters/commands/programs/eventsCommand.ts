/** `tmuxwire events`: a tmux server's events. */
import { CLIENT_OPTIONS, connect } from "../connection/clientConnection.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";

export const eventsCommand: CommandSpec = {
  name: "events",
  summary: "print what happens to sessions, windows and panes",
  details: [
    "Each line is JSON: an event and its id, the whole tree first. Reconnects when the connection is lost, without " +
      "repeating an event; if too much has happened meanwhile, the whole tree is sent again.",
  ],
  positionals: [],
  options: [
    {
      name: "after",
      type: "text",
      value: "ID",
      description: "resume after this event, or after the event id of a tree",
    },
    { name: "readiness", type: "flag", description: "report what the programs are doing as well" },
    { name: "agents", type: "flag", description: "report the coding agents as well" },
    { name: "no-resume", type: "flag", description: "end when the connection is lost instead of reconnecting" },
    ...CLIENT_OPTIONS,
  ],
  examples: [{ line: "tmuxwire events | jq .event.type", does: "what happens, as it happens" }],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options } = call;
    const events = (await connect(call)).events({
      after: options.text("after"),
      resume: !options.flag("no-resume"),
      ...(options.flag("readiness") ? { readiness: true } : {}),
      ...(options.flag("agents") ? { agents: true } : {}),
      signal: io.signal,
    });
    for await (const event of events) await io.out(`${JSON.stringify(event)}\n`);
    return 0;
  },
};
