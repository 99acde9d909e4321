/** Real NATS servers of a test's own on the loopback interface: one, or a cluster of three that keeps streams three times. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";
import { eventually } from "../clock/eventually.ts";

/** `nats-server` of the PATH; undefined where there is none, which a test then says. */
export const natsVersion = /v(\d+\.\d+\.\d+)/.exec(
  spawnSync("nats-server", ["--version"], { encoding: "utf8" }).stdout ?? "",
)?.[1];
export const NO_NATS = "no nats-server on the PATH (apt-get install nats-server)";

/** By which leaf nodes reach the streams in tests. */
export const DOMAIN = "hub";

interface NatsOptions {
  readonly nodes?: 1 | 3;
  /** More lines of each server's configuration. */
  readonly config?: string;
  /** How the test itself connects then. */
  readonly own?: NodeConnectionOptions;
  /** How JetStream of each server is limited; default: not. */
  readonly jetstream?: string;
  readonly websocket?: boolean;
  /** Leaf nodes reach its streams by this name. */
  readonly domain?: string;
  /** It keeps nothing, and is a leaf node of the server at this URL, whose streams are in `DOMAIN` then. */
  readonly leafOf?: string;
}

export interface NatsServers extends AsyncDisposable {
  /** For `--nats`. */
  readonly urls: readonly string[];
  readonly pids: () => readonly (number | undefined)[];
  /** Port of the first one's WebSocket. */
  readonly websocketPort: number;
  /** Where leaf nodes connect to the first one. */
  readonly leafUrl: string;
  /** SIGKILL, or another signal; resolves when it is gone, or at once when it only stops. */
  kill(node: number, signal?: NodeJS.Signals): Promise<void>;
  /** With what it had on disk. Resolves when it takes part again. */
  start(node: number): Promise<void>;
  /** What it had on disk is gone, as that of a container without a volume. Call while it does not run. */
  forget(node: number): void;
  connect(node?: number): Promise<NatsConnection>;
  /** Other lines of configuration from now on, without a restart. */
  configure(config: string): void;
}

export async function natsServers({
  nodes = 1,
  config = "",
  own = credentialsIn(config),
  jetstream = "",
  websocket = false,
  domain,
  leafOf,
}: NatsOptions = {}): Promise<NatsServers> {
  const directory = mkdtempSync(join(tmpdir(), "tw-nats-"));
  const ports = await freePorts(3 * nodes + 1);
  const clients = ports.slice(0, nodes);
  const routes = ports.slice(nodes, 2 * nodes);
  const [websocketPort = 0] = ports.slice(2 * nodes);
  const leafPort = ports.at(-1);
  const running: (ChildProcess | undefined)[] = [];
  const connections: NatsConnection[] = [];
  const cluster = `routes: [${routes.map((port) => `"nats://127.0.0.1:${port}"`).join(", ")}]`;
  const configure = (node: number, lines: string): void =>
    writeFileSync(
      join(directory, `${node}.conf`),
      [
        `server_name: node${node}`,
        `listen: "127.0.0.1:${clients[node]}"`,
        leafOf === undefined
          ? `jetstream { store_dir: ${JSON.stringify(join(directory, String(node)))}, ${jetstream} ${domain === undefined ? "" : `domain: ${domain}`} }`
          : `leafnodes { remotes: [{ url: "${leafOf}" }] }`,
        ...(leafOf === undefined && node === 0 ? [`leafnodes { listen: "127.0.0.1:${leafPort}" }`] : []),
        ...(nodes > 1 ? [`cluster { name: test, listen: "127.0.0.1:${routes[node]}", ${cluster} }`] : []),
        ...(websocket && node === 0 ? [`websocket { listen: "127.0.0.1:${websocketPort}", no_tls: true }`] : []),
        lines,
      ].join("\n"),
    );
  for (let node = 0; node < nodes; node += 1) configure(node, config);
  const begin = (node: number): void => {
    running[node] = spawn("nats-server", ["-c", join(directory, `${node}.conf`)], { stdio: "ignore" });
  };
  const url = (node: number): string => `nats://127.0.0.1:${clients[node]}`;
  const connectTo = async (node: number): Promise<NatsConnection> => {
    const nc = await connect({
      servers: url(node),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 50,
      ...own,
    });
    connections.push(nc);
    return nc;
  };
  /** It answers, and knows who leads. */
  const isReady = async (node: number): Promise<boolean> => {
    try {
      const nc = await connect({ servers: url(node), reconnect: false, timeout: 500, ...own });
      try {
        const within = leafOf === undefined ? {} : { domain: DOMAIN };
        await (await jetstreamManager(nc, { ...within, timeout: 1_000 })).getAccountInfo();
        return true;
      } finally {
        await nc.close();
      }
    } catch {
      return false;
    }
  };
  const end = async (child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    if (signal !== "SIGSTOP" && signal !== "SIGCONT") await gone;
  };
  // A test that is ended from outside ends its servers as well.
  const killAll = (): void => running.forEach((child) => child?.kill("SIGKILL"));
  process.once("exit", killAll);
  for (let node = 0; node < nodes; node += 1) begin(node);
  for (let node = 0; node < nodes; node += 1) await eventually(() => isReady(node));
  return {
    urls: clients.map((_, node) => url(node)),
    pids: () => running.map((child) => child?.pid),
    websocketPort,
    leafUrl: `nats-leaf://127.0.0.1:${leafPort}`,
    kill: (node, signal = "SIGKILL") => end(running[node], signal),
    start: async (node) => {
      begin(node);
      await eventually(() => isReady(node));
    },
    forget: (node) => rmSync(join(directory, String(node)), { recursive: true, force: true }),
    connect: (node = 0) => connectTo(node),
    configure: (lines) => {
      for (const [node, child] of running.entries()) {
        configure(node, lines);
        child?.kill("SIGHUP");
      }
    },
    [Symbol.asyncDispose]: async () => {
      process.off("exit", killAll);
      await Promise.all(connections.map((nc) => nc.close()));
      for (const child of running) {
        child?.kill("SIGCONT");
        await end(child, "SIGKILL");
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Of a configuration with a user and a password for everybody. */
function credentialsIn(config: string): { readonly user?: string; readonly pass?: string } {
  const [, user, pass] = /user: (\w+), password: (\w+)/.exec(config) ?? [];
  return user === undefined || pass === undefined ? {} : { user, pass };
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { readonly port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
