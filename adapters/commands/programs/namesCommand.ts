/** `tmuxwire names`: the names that completions offer. It fails silently, because an error would disturb completion. */
import type { ServerClient } from "../../client/client.ts";
import type { OperationName } from "../../../protocol/api/operationRoutes.ts";
import { connect, CLIENT_OPTIONS } from "../connection/clientConnection.ts";
import { type CommandCall, type CommandSpec, NAME_KINDS, type NameKind } from "../../cli/commandTypes.ts";

/** Names that need no quoting in a shell; others are left out. */
const PLAIN = /^[\w%][\w%@.+-]*$/;

export const namesCommand: CommandSpec = {
  name: "names",
  summary: "print names of panes, sessions, agents, servers or hosts",
  details: [
    "One per line, for completions. Prints nothing if no daemon is running, and omits names that a shell would have to quote.",
  ],
  positionals: [{ name: "KIND", description: "which names to print", choices: NAME_KINDS }],
  options: CLIENT_OPTIONS.filter(({ name }) => name !== "json"),
  examples: [{ line: "tmuxwire names pane", does: "sessions and panes, as PANE takes them" }],
  run: async (call: CommandCall): Promise<number> => {
    const names = await namesOf(call).catch(() => []);
    await call.io.out(
      names
        .filter((name) => PLAIN.test(name))
        .map((name) => `${name}\n`)
        .join(""),
    );
    return 0;
  },
};

type Listed<Member extends string> = Readonly<Record<Member, readonly { readonly name: string }[]>>;

const listed = <Member extends string>(
  client: ServerClient,
  operation: OperationName,
  signal: AbortSignal,
): Promise<Listed<Member>> => client.perform<Listed<Member>>(operation, {}, {}, { signal });

/** An older daemon has none. */
async function agentNames(client: ServerClient, signal: AbortSignal): Promise<readonly string[]> {
  const { agents } = await listed<"agents">(client, "listAgents", signal).catch(() => ({ agents: [] }));
  return agents.map(({ name }) => name);
}

async function namesOf(call: CommandCall): Promise<readonly string[]> {
  const { signal } = call.io;
  const client = await connect(call);
  switch (call.positionals[0] as NameKind) {
    case "pane": {
      const [{ sessions, panes }, agents] = await Promise.all([client.tree({ signal }), agentNames(client, signal)]);
      return [...new Set([...sessions.map(({ name }) => name), ...agents, ...panes.map(({ id }) => id)])];
    }
    case "agent":
      return agentNames(client, signal);
    case "session":
      return (await client.sessions({ signal })).map(({ name }) => name);
    case "server": {
      const { servers } = await listed<"servers">(client, "listServers", signal);
      return [...new Set([...servers.map(({ name }) => name), "default"])];
    }
    case "host":
      return (await listed<"hosts">(client, "listHosts", signal)).hosts.map(({ name }) => name);
  }
}
