/** `tmuxwire host-info`: what a daemon on another machine runs here over ssh to reach the daemon of this one. */
import { OWN_SERVER_NAME } from "../../../daemon/ops/daemonConfig.ts";
import { paneEnvironment } from "../../../daemon/ops/environment.ts";
import { localHost } from "../../../daemon/host/localHost.ts";
import { askVersion } from "../../../daemon/connection/tmuxVersion.ts";
import type { NativeServer } from "../../../protocol/api/native/nativeResponses.ts";
import { OWN_ONLY_HEADER } from "../../../protocol/api/operationRoutes.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { HttpCaller } from "../../client/clientHttp.ts";
import { type HostInfo, hostInfoLine } from "../../remote/hostInfo.ts";
import { isListening } from "../../serving/socketProbe.ts";
import { unixFetch } from "../../serving/unixFetch.ts";
import { daemonAddress } from "../connection/clientConnection.ts";
import { startNative } from "../connection/startNative.ts";

export const hostInfoCommand: CommandSpec = {
  name: "host-info",
  isHidden: true,
  summary: "print how to reach this machine's daemon, for a daemon on another one",
  details: [
    "Starts a daemon if none is running. The line holds its token: whoever runs this may read its file anyway.",
  ],
  positionals: [],
  options: [],
  examples: [{ line: "ssh build tmuxwire host-info", does: "what a daemon runs to reach the one on the host build" }],
  run: async (call: CommandCall): Promise<number> => {
    await call.io.out(hostInfoLine(await hostInfo(call)));
    return 0;
  },
};

/** @throws AppError DAEMON_UNREACHABLE, CONFIGURATION_INVALID */
async function hostInfo(call: CommandCall): Promise<HostInfo> {
  const { io, program } = call;
  const { socketPath } = await daemonAddress(call);
  if (!(await isListening(socketPath))) {
    const tmux = await askVersion("tmux", paneEnvironment(io.env), localHost().clients.run);
    if (tmux === undefined) return { version: program.version(), socketPath, token: null, tmux: null };
    await startNative(io, socketPath);
  }
  const { token } = await daemonAddress(call);
  const http = new HttpCaller({
    url: "http://localhost",
    token,
    fetch: unixFetch(socketPath, { [OWN_ONLY_HEADER]: "1" }),
  });
  const { signal } = io;
  const [{ servers }, { info }] = await Promise.all([
    http.perform<{ servers: readonly NativeServer[] }>("listServers", {}, {}, { signal }),
    // The daemon's own version: it may be older than this program.
    http.json<{ info: { version: string } }>({ method: "GET", path: ["v1", "openapi.json"], signal }),
  ]);
  const own = servers.find(({ name }) => name === OWN_SERVER_NAME);
  return { version: info.version, socketPath, token: token ?? null, tmux: own?.tmuxVersion ?? null };
}
