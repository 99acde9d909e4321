/** The doctor's checks of NATS: reachable, with JetStream, and with streams that readers can use. Changes nothing. */
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { messageOf } from "../../protocol/errors.ts";
import { type Check, type Finding, ok, warn } from "../serving/findings.ts";
import { streamWith } from "./fetchKept.ts";
import { callableOperations } from "./fleetCalls.ts";
import type { FleetConfig, NatsAccess } from "./fleetConfig.ts";
import { daemonSubject, hostStream, STATE_STREAM } from "./fleetSubjects.ts";
import { daemonStateOf } from "./hostClaim.ts";
import { connectNats } from "./natsConnection.ts";
import { codeOf } from "./natsLink.ts";

export function fleetChecks(config: FleetConfig): readonly Check[] {
  const { access } = config;
  if (access === undefined) return [];
  return [
    { name: "nats", probe: () => connected(access, (nc) => serverCheck(nc, access, config)) },
    { name: "nats streams", probe: () => connected(access, (nc) => streamsCheck(nc, access, config)) },
  ];
}

async function connected(access: NatsAccess, probe: (nc: NatsConnection) => Promise<Finding>): Promise<Finding> {
  const nc = await connectNats(access, "tmuxwire doctor");
  try {
    return await probe(nc);
  } finally {
    await nc.close();
  }
}

async function serverCheck(nc: NatsConnection, { domain }: NatsAccess, { host, calls }: FleetConfig): Promise<Finding> {
  callableOperations(calls);
  const { version = "of an unknown version", jetstream } = nc.info ?? {};
  if (jetstream !== true && domain === undefined)
    return warn(
      "nats",
      "the server keeps no streams",
      "start nats-server with JetStream (`-js`), or name the domain (`nats.domain`) of the servers whose leaf node it is",
    );
  const jsm = await jetstreamManager(nc, { ...(domain === undefined ? {} : { domain }), checkAPI: false });
  // A server of 2.9 can end when it is asked for a message of a stream that is just being made (docs/fleet.md).
  const made = await streamWith(jsm, STATE_STREAM.subjects[0] ?? "");
  const last =
    made === undefined
      ? null
      : await jsm.streams.getMessage(made.name, { last_by_subj: daemonSubject(host) }).catch(() => null);
  const holder = last === null ? undefined : daemonStateOf(last.data);
  const as =
    holder === undefined || holder.ended === true
      ? `nothing is published as ${host}`
      : `a daemon publishes as ${host} since ${new Date(holder.startedUnixMs).toISOString()}`;
  return ok("nats", `nats-server ${version}; ${as}`);
}

async function streamsCheck(nc: NatsConnection, { domain }: NatsAccess, { host }: FleetConfig): Promise<Finding> {
  const jsm = await jetstreamManager(nc, { ...(domain === undefined ? {} : { domain }), checkAPI: false });
  const { name, subjects, republish } = hostStream(host);
  let found;
  try {
    for await (const { config } of jsm.streams.list(subjects[0])) found ??= config;
  } catch (error) {
    const reason = messageOf(error);
    return warn(
      "nats streams",
      `they cannot be listed: ${reason} (${codeOf(error) ?? "no answer"})`,
      "ask for the right to $JS.API.>",
    );
  }
  if (found === undefined) return ok("nats streams", `${name} will be made on the first start`);
  if (!found.allow_direct || found.republish?.dest !== republish?.dest) {
    return warn(
      "nats streams",
      `readers cannot use ${found.name}: it lacks allow_direct or the republishing from ${republish?.src} to ${republish?.dest}`,
      `add both with \`nats stream edit ${found.name}\`, or remove it so that tmuxwire makes it`,
    );
  }
  const hours = found.max_age === 0 ? "for ever" : `for ${found.max_age / 60e9} minutes`;
  return ok(
    "nats streams",
    `${found.name} keeps output ${hours}, at most ${found.max_bytes} bytes, on ${found.num_replicas} servers`,
  );
}
