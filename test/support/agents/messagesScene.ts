/**
 * An agent program that the directory finds (it runs under its profile's name), and a daemon's part for messages to it: made
 * anew as often as a test ends it, on the same files.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AgentMessages } from "../../../adapters/agents/messages/agentMessages.ts";
import type { Message } from "../../../adapters/agents/messages/messageStore.ts";
import { AgentDirectory } from "../../../adapters/agents/running/agentDirectory.ts";
import { AgentStore } from "../../../adapters/agents/running/agentStore.ts";
import type { RunningAgent } from "../../../adapters/agents/running/runningAgent.ts";
import { Timeline } from "../../../adapters/agents/timeline/timeline.ts";
import { Transcripts } from "../../../adapters/agents/start/transcripts.ts";
import { createLog } from "../../../daemon/ops/log.ts";
import { silentLog } from "../../../bench/silentLog.ts";
import type { Typing } from "../../../daemon/delivery/delivery.ts";
import { DeliveryEngine } from "../../../daemon/delivery/deliveryEngine.ts";
import { DeliveryStore } from "../../../daemon/delivery/deliveryStore.ts";
import { localHost } from "../../../daemon/host/localHost.ts";
import { ReadinessEngine } from "../../../daemon/readiness/engine.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { WaitManager } from "../../../daemon/waits/waitManager.ts";
import { eventually } from "../clock/eventually.ts";
import { ownedFixture, type PrivateSocket } from "../tmux/ownedFixture.ts";
import { AGENTS, PROFILES } from "./agentCatalogue.ts";
import { AGENT_DIRECTORY, AgentChannel, type AgentName } from "./agentPrograms.ts";

/** What a daemon has for its agents. */
interface Desk extends Disposable {
  readonly agents: AgentDirectory;
  readonly delivery: DeliveryEngine;
  readonly messages: AgentMessages;
  readonly timeline: Timeline;
  readonly waits: WaitManager;
  readonly errors: readonly unknown[];
}

interface MessagesScene extends AsyncDisposable {
  readonly server: TmuxServer;
  readonly socket: PrivateSocket;
  /** Another daemon, on the files of the one before. */
  desk(): Desk;
  /** The program in a session of its own, by a shell that stays; resolves when it takes prompts. */
  start(
    session: string,
    program: AgentName,
    options?: Readonly<Record<string, string | number>>,
  ): Promise<AgentChannel>;
}

const CLAUDE = `#!${process.execPath}
void import(process.env.FIXTURE);
`;

export async function messagesScene(): Promise<MessagesScene> {
  const fixture = await ownedFixture();
  const { server, socket } = fixture;
  const { directory } = socket;
  const channels: AgentChannel[] = [];
  return {
    server,
    socket,
    desk: () => desk(server, join(directory, "state")),
    start: async (session, program, options) => {
      const channel = await AgentChannel.open(directory);
      channels.push(channel);
      const line = `clear; ${claudeLine(directory, channel, program, options)}`;
      const known = server.findSession(session);
      if (known === undefined) {
        await server.createSession({ name: session, command: ["sh", "-c", `${line}; exec sh`], cols: 100, rows: 30 });
      } else await server.input(known.activePane!, [{ kind: "text", bytes: Buffer.from(`${line}\n`) }]);
      await channel.next("ready");
      return channel;
    },
    [Symbol.asyncDispose]: async () => {
      await fixture[Symbol.asyncDispose]();
      for (const channel of channels) await channel[Symbol.asyncDispose]();
    },
  };
}

/** What to type into a shell: the program under the profile's name, by which the directory finds it. */
export function claudeLine(
  directory: string,
  channel: AgentChannel,
  program: AgentName,
  options?: Readonly<Record<string, string | number>>,
): string {
  const claude = join(directory, "bin", "claude");
  mkdirSync(join(directory, "bin"), { recursive: true });
  writeFileSync(claude, CLAUDE);
  chmodSync(claude, 0o755);
  const [, file = "", ...words] = channel.argv(program, options);
  return [`FIXTURE=${join(AGENT_DIRECTORY, file.slice(file.lastIndexOf("/") + 1))}`, claude, ...words].join(" ");
}

function desk(server: TmuxServer, directory: string): Desk {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const common = { clock: systemClock, nowUnixMs: Date.now, onError };
  const readiness = new ReadinessEngine({ ...common, profiles: PROFILES });
  const deliveries = new DeliveryStore({ path: join(directory, "deliveries.db"), nowUnixMs: Date.now });
  const store = new AgentStore({ path: join(directory, "agents.db"), nowUnixMs: Date.now, log: silentLog });
  const agents = new AgentDirectory({ ...common, catalogue: AGENTS, readiness, store });
  const timeline = new Timeline({
    ...common,
    agents,
    log: createLog({ level: "warn", write: onError, nowUnixMs: Date.now }),
  });
  const onTyping = (typing: Typing) => timeline.typing(typing);
  const delivery = new DeliveryEngine({ ...common, readiness, store: deliveries, onTyping });
  const waits = new WaitManager({ clock: systemClock });
  const { processes } = localHost();
  const transcripts = new Transcripts({ transcripts: new Map(), agents, nowUnixMs: Date.now });
  const messages = new AgentMessages({ ...common, agents, delivery, waits, transcripts, processes });
  agents.addServer("main", server);
  let isClosed = false;
  return {
    agents,
    delivery,
    messages,
    timeline,
    waits,
    errors,
    [Symbol.dispose]: () => {
      if (isClosed) return;
      isClosed = true;
      messages.close();
      waits.close();
      delivery.close();
      timeline.close();
      agents.close();
      readiness.close();
    },
  };
}

/** Once the directory has found it and it takes a prompt. */
export async function agentIn({ agents }: Desk, server: TmuxServer, session: string): Promise<RunningAgent> {
  const pane = server.findSession(session)?.activePane;
  if (pane === undefined) throw new Error(`no session ${session}`);
  await eventually(() => agents.inPane(server, pane) !== undefined);
  return agents.inPane(server, pane)!;
}

export const told = (text: string, more: { readonly when?: Message["when"]; readonly ttlSec?: number } = {}) => ({
  text,
  when: more.when ?? ("idle" as const),
  ttlSec: more.ttlSec ?? 3_600,
});
