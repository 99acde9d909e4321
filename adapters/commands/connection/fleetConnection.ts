/** How a client command reads from NATS instead of a daemon. */
import { OWN_SERVER_NAME } from "../../../daemon/ops/daemonConfig.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import { isPaneId } from "../../../protocol/ids.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { FleetClient, type FleetServer } from "../../fleet/fleetClient.ts";
import { loadNatsAccess, NATS_SETTINGS } from "../../fleet/fleetConfig.ts";
import { connectNats } from "../../fleet/natsConnection.ts";
import type { PaneAddress } from "../../fleet/fleetSubjects.ts";
import { readConfigFile } from "./configFile.ts";

/** Closes the connection when `use` has ended. @throws AppError CONFIGURATION_INVALID, DAEMON_UNREACHABLE, UNAUTHORIZED */
export async function withFleet<Result>(
  { io, options }: CommandCall,
  use: (fleet: FleetClient) => Promise<Result>,
): Promise<Result> {
  const access = loadNatsAccess({
    options: options.all,
    env: io.env,
    file: readConfigFile(io.env, io.homeDir),
    cwd: io.cwd,
    homeDir: io.homeDir,
  });
  if (access === undefined)
    throw new AppError("CONFIGURATION_INVALID", `name the NATS servers with ${NATS_SETTINGS.servers}`);
  const nc = await connectNats(access, "tmuxwire command");
  try {
    return await use(new FleetClient(nc, { domain: access.domain }));
  } finally {
    await nc.close();
  }
}

/** A pane by its id, by its session's or by its agent's name, as in the daemon's own commands. @throws AppError NOT_FOUND, AMBIGUOUS_TARGET */
export async function paneInFleet(
  fleet: FleetClient,
  call: CommandCall,
  word: string | undefined,
): Promise<PaneAddress> {
  const { options, io } = call;
  if (word === undefined) throw invalidArgument("missing PANE: with --nats it must be given");
  const server = options.text("server") ?? io.env["TMUXWIRE_SERVER"] ?? OWN_SERVER_NAME;
  const given = options.text("host");
  if (given !== undefined && isPaneId(word)) return { host: given, server, pane: word };
  const found = serverIn(await fleet.servers(), given, server);
  const pane = isPaneId(word) ? word : paneCalled(found, word);
  return { host: found.host, server, pane };
}

function serverIn(servers: readonly FleetServer[], host: string | undefined, server: string): FleetServer {
  const candidates = servers.filter((one) => one.server === server && (host === undefined || one.host === host));
  const [first, second] = candidates;
  if (first === undefined) {
    const known = servers.map((one) => `${one.server} of ${one.host}`).join(", ");
    throw new AppError(
      "NOT_FOUND",
      `nothing is published for the server ${JSON.stringify(server)}; known: ${known === "" ? "nothing" : known}`,
    );
  }
  if (second === undefined) return first;
  throw new AppError(
    "AMBIGUOUS_TARGET",
    `several hosts have a server ${JSON.stringify(server)}: choose one with --host ${candidates.map((one) => one.host).join(", ")}`,
  );
}

function paneCalled({ tree, agents, host, server }: FleetServer, name: string): string {
  const session = tree.sessions.find((one) => one.name === name || one.id === name);
  const window = tree.windows.find(({ id }) => id === session?.activeWindow);
  if (window?.activePane !== undefined && window.activePane !== null) return window.activePane;
  const agent = agents.find((one) => one.name === name || one.id === name);
  if (agent?.pane !== undefined && agent.state !== "ended") return agent.pane;
  throw new AppError(
    "NOT_FOUND",
    `there is no pane, session or agent ${JSON.stringify(name)} on ${server} of ${host}: run \`tmuxwire ls --nats URL\``,
  );
}
