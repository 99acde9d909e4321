/** The doctor's checks of what the native API needs to start. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { readToken } from "../../daemon/ops/tokenFile.ts";
import { prepareSocketPath } from "../../daemon/host/socketPath.ts";
import { urlHost } from "../kit/peers/addresses.ts";
import { runtimePaths } from "../../daemon/ops/runtimePaths.ts";
import type { NativeCheckedHost } from "../../protocol/api/native/nativeHosts.ts";
import type { NativeDaemon } from "../../protocol/api/native/nativeRestart.ts";
import { HttpCaller, TmuxwireError } from "../client/clientHttp.ts";
import { readChannels } from "../agents/notify/channelBook.ts";
import type { NativeChannel } from "../../protocol/api/native/nativeNotifications.ts";
import type { OperationName } from "../../protocol/api/operationRoutes.ts";
import { readHosts } from "../remote/hostBook.ts";
import { unixFetch } from "../serving/unixFetch.ts";
import { type Check, type CheckInputs, type Finding, ok, warn } from "../serving/findings.ts";
import { isHealth, portCheck } from "../serving/listenerChecks.ts";
import { isListening } from "../serving/socketProbe.ts";
import { packageVersion } from "../serving/version.ts";
import { guestCheck, ownTmuxChecks } from "../serving/tmuxChecks.ts";
import { NATIVE_SETTINGS, type NativeConfig } from "./nativeConfig.ts";

export const nativeChecks = (config: NativeConfig, { daemon, env }: CheckInputs): readonly Check[] => [
  ...ownTmuxChecks("tmux socket", config.tmuxSocketPath, NATIVE_SETTINGS.tmuxSocket, env),
  ...daemon.guests.map((guest) => guestCheck(guest, env)),
  { name: "unix socket", probe: () => unixSocketCheck(config.socketPath) },
  { name: "daemon", probe: () => daemonCheck(config) },
  portCheck({
    name: "native port",
    host: config.host,
    port: config.port,
    settings: NATIVE_SETTINGS,
    remote: config.allowedHosts.length > 0,
    url: `http://${urlHost(config.host)}:${config.port}/livez`,
    isOurs: isHealth,
  }),
  { name: "token", probe: () => tokenCheck(config.tokenPath) },
  ...hostChecks(config, env),
  ...notificationChecks(config, env),
];

/** One for each machine that is served; the running daemon has the connection. As they are: another login might be one too many. */
const hostChecks = (config: NativeConfig, env: CheckInputs["env"]): readonly Check[] =>
  listedChecks({
    title: ["host", "hosts"],
    read: () => readHosts(runtimePaths(env, homedir()).hostsPath),
    list: async () => (await ask<{ readonly hosts: readonly NativeCheckedHost[] }>(config, "listHosts"))?.hosts,
    finding: hostFinding,
  });

/** One for each channel; nothing is sent. */
const notificationChecks = (config: NativeConfig, env: CheckInputs["env"]): readonly Check[] =>
  listedChecks({
    title: ["notifications", "notifications"],
    read: () => readChannels(runtimePaths(env, homedir()).notificationsPath),
    list: async () => (await ask<{ readonly channels: readonly NativeChannel[] }>(config, "listChannels"))?.channels,
    finding: channelFinding,
  });

interface Listed<Item> {
  /** Of one, and of the list. */
  readonly title: readonly [string, string];
  readonly read: () => readonly { readonly name: string }[];
  /** Undefined: no daemon runs. */
  readonly list: () => Promise<readonly Item[] | undefined>;
  readonly finding: (check: string, item: Item) => Finding;
}

/** Of what a file lists, as the running daemon knows it, which is asked once. */
function listedChecks<Item extends { readonly name: string }>({
  title: [one, all],
  read,
  list,
  finding,
}: Listed<Item>): readonly Check[] {
  let names: readonly { readonly name: string }[];
  try {
    names = read();
  } catch (error) {
    return [{ name: all, probe: () => Promise.reject(error) }];
  }
  let listed: Promise<readonly Item[] | undefined> | undefined;
  return names.map(({ name }) => ({
    name: `${one} ${name}`,
    probe: async () => {
      const check = `${one} ${name}`;
      const items = await (listed ??= list());
      if (items === undefined) return ok(check, "not checked: no daemon runs");
      const item = items.find((each) => each.name === name);
      return item === undefined
        ? ok(check, "not checked: the daemon that runs does not serve it")
        : finding(check, item);
    },
  }));
}

const ask = async <Output extends object>(config: NativeConfig, operation: OperationName) =>
  (await running(config))?.perform<Output>(operation, {});

/** Undefined: no daemon runs. */
async function running({ socketPath, tokenPath }: NativeConfig): Promise<HttpCaller | undefined> {
  if (!existsSync(socketPath) || !(await isListening(socketPath))) return undefined;
  const token = await readToken(tokenPath);
  return new HttpCaller({ url: "http://localhost", token, fetch: unixFetch(socketPath) });
}

/** The daemon that runs may be of the version before an update. */
async function daemonCheck(config: NativeConfig): Promise<Finding> {
  const caller = await running(config);
  if (caller === undefined) return ok("daemon", "none runs");
  const own = packageVersion();
  try {
    const { version, startedUnixMs } = await caller.json<NativeDaemon>({ method: "GET", path: ["v1", "daemon"] });
    if (version === own) return ok("daemon", `tmuxwire ${version}, since ${new Date(startedUnixMs).toISOString()}`);
    return warn("daemon", `tmuxwire ${version} runs, and ${own} is installed`, "run `tmuxwire restart`");
  } catch (error) {
    if (!(error instanceof TmuxwireError) || error.code !== "NOT_FOUND") throw error;
    return warn("daemon", `one older than ${own} runs`, "stop it, and start it again");
  }
}

function channelFinding(check: string, { name, failingSinceUnixMs, why, waiting }: NativeChannel): Finding {
  if (failingSinceUnixMs === null) return ok(check, waiting === 0 ? "all are sent" : `${waiting} wait`);
  const since = new Date(failingSinceUnixMs).toISOString();
  return warn(check, `nothing can be sent since ${since}: ${why}`, `run \`tmuxwire notify test ${name}\``);
}

function hostFinding(check: string, host: NativeCheckedHost): Finding {
  const beside = host.agentless ? "without tmuxwire" : `tmuxwire ${host.version}`;
  if (host.state === "connected") return ok(check, `connected, ${beside}, tmux ${host.tmuxVersion}`);
  return warn(
    check,
    `${host.state} since ${new Date(host.sinceUnixMs).toISOString()}`,
    host.why ?? "run `tmuxwire hosts`",
  );
}

async function unixSocketCheck(path: string): Promise<Finding> {
  if (!existsSync(dirname(path))) return ok("unix socket", `${path} will be created`);
  prepareSocketPath(path, { setting: NATIVE_SETTINGS.socket });
  if (!existsSync(path)) return ok("unix socket", `${path} is free`);
  if (await isListening(path)) return ok("unix socket", `a daemon listens on ${path}`);
  return ok("unix socket", `${path} was left behind by a dead daemon; the next start replaces it`);
}

async function tokenCheck(path: string): Promise<Finding> {
  const token = await readToken(path);
  return ok(
    "token",
    token === undefined ? `${path} will be created on the first start` : `${path}, readable only by you`,
  );
}
