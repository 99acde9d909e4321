/**
 * The other machines and their agents, as server-sent events for one page: how each machine is, and while it is connected what
 * its daemon says of its agents. Nothing is kept here but which agents were named, so that their number is bounded; whoever
 * reads keeps the rest. What a machine says is foreign: it is checked, cut, and read no faster than a page can draw it.
 */
import { type NativeAgentEvent, agentEventSchema } from "../../protocol/api/native/nativeAgentEvents.ts";
import type { HostAgent, HostEvent, HostMessage } from "../../protocol/api/dashboardHosts.ts";
import { type NativeMessage, messageSchema } from "../../protocol/api/native/nativeAgentMessages.ts";
import { agentSchema, type NativeAgent } from "../../protocol/api/native/nativeAgents.ts";
import { tryParse } from "../../protocol/api/parse.ts";
import { toAppError } from "../../protocol/errors.ts";
import { parseJson } from "../../protocol/text/jsonObject.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { sleep } from "../../daemon/time/within.ts";
import { retryDelayMs } from "../client/clientEvents.ts";
import { SseFollower } from "../client/sseFollower.ts";
import type { EventReader } from "../kit/streams/eventLog.ts";
import { sseEvent, type SseWriter } from "../kit/streams/sseWriter.ts";
import { nameOn, withNames } from "./hostNames.ts";
import { isWorthRetrying, openThere, SILENCE_MS } from "./hostStreams.ts";
import { asAppError, type RemoteHost } from "./remoteHost.ts";

/** Of one machine; a page with more could not be read. */
export const MAX_HOST_AGENTS = 500;
/** Of one machine: an honest one then sends the latest of each agent. */
const MAX_EVENTS_PER_SEC = 200;
/** The agents of a machine with `MAX_HOST_AGENTS` of the usual size are a quarter of this. */
const MAX_EVENT_CHARS = 4_194_304;
const MAX_NAME_CHARS = 256;
const MAX_PATH_CHARS = 4_096;
/** A task or last words on a card: some lines. */
const MAX_TEXT_CHARS = 600;
const MAX_QUESTION_CHARS = 16_384;
/** As many as an answer can name. */
const MAX_OPTIONS = 64;
const MAX_MESSAGES = 2_000;

interface HostAgentsOptions {
  readonly hosts: {
    all(): readonly RemoteHost[];
    subscribe(listener: (name: string) => void): () => void;
  };
  readonly clock: Clock;
  readonly out: Pick<SseWriter, "room" | "write">;
}

export class HostAgents implements EventReader {
  readonly #options: HostAgentsOptions;
  readonly #unsubscribe: () => void;
  /** Machines whose state is to be told. */
  readonly #changed = new Set<string>();
  readonly #follows = new Map<RemoteHost, Follow>();
  #hasBegun = false;
  /** Called when there is room. */
  #waiting: (() => void)[] = [];

  constructor(options: HostAgentsOptions) {
    this.#options = options;
    this.#unsubscribe = options.hosts.subscribe((name) => {
      this.#changed.add(name);
      this.pump();
    });
  }

  pump(): void {
    const { out, hosts } = this.#options;
    if (out.room() <= 0) return;
    const all = hosts.all();
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#changed.clear();
      this.#write({ type: "hosts", hosts: all.map((host) => host.describe()) });
    }
    for (const name of this.#changed) {
      this.#changed.delete(name);
      const host = all.find((one) => one.name === name);
      if (host === undefined) this.#write({ type: "host_removed", host: name });
      else this.#write({ type: "host", host: host.describe() });
    }
    for (const host of all) this.#follow(host);
    for (const [host, follow] of this.#follows) {
      if (all.includes(host) && host.link.state.kind === "connected") continue;
      follow.close();
      this.#follows.delete(host);
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  close(): void {
    this.#unsubscribe();
    for (const follow of this.#follows.values()) follow.close();
    this.#follows.clear();
    for (const go of this.#waiting) go();
  }

  #follow(host: RemoteHost): void {
    if (this.#follows.has(host) || host.link.state.kind !== "connected") return;
    const { clock, out } = this.#options;
    const follow = new Follow(host, clock, async (event) => {
      while (out.room() <= 0 && !follow.isClosed) {
        // oxlint-disable-next-line no-await-in-loop -- until there is room for this one
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
      if (!follow.isClosed) this.#write(event);
    });
    this.#follows.set(host, follow);
    void follow.run();
  }

  #write(event: HostEvent): void {
    this.#options.out.write(sseEvent(event.type, JSON.stringify(event)));
  }
}

/** One machine while it is connected. */
class Follow {
  readonly #host: RemoteHost;
  readonly #clock: Clock;
  readonly #tell: (event: HostEvent) => Promise<void>;
  readonly #closing = new AbortController();
  /** Ids of agents that were told of and have not ended. */
  #named = new Set<string>();
  #problem: string | undefined;
  /** Events since then. */
  #sinceMs = -Infinity;
  #count = 0;

  constructor(host: RemoteHost, clock: Clock, tell: (event: HostEvent) => Promise<void>) {
    this.#host = host;
    this.#clock = clock;
    this.#tell = tell;
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  close(): void {
    this.#closing.abort();
  }

  async run(): Promise<void> {
    const follower = new SseFollower<never>({
      open: (_after, signal) => openThere(this.#host, ["v1", "agent-events"], signal),
      decode: async ({ data }) => {
        await this.#relay(data);
        return undefined;
      },
      clock: this.#clock,
      silenceMs: SILENCE_MS,
      steadyMs: 0,
      maxEventChars: MAX_EVENT_CHARS,
      pauseMs: (loss, tries) => (isWorthRetrying(loss) ? retryDelayMs(tries) : undefined),
      signal: this.#closing.signal,
    });
    try {
      // `decode` takes all of them: this only ends.
      await follower.events().next();
    } catch (error) {
      if (this.isClosed) return;
      const { code, message } = toAppError(asAppError(error));
      await this.#wrong(
        code === "NOT_FOUND"
          ? "its agents cannot be shown: install the same version of tmuxwire on both machines"
          : `its agents cannot be shown: ${message.slice(0, MAX_TEXT_CHARS)}`,
      );
    }
  }

  /** A machine that floods is read more slowly; what it has not sent then waits there. */
  async #pace(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#sinceMs >= 1_000) {
      this.#sinceMs = nowMs;
      this.#count = 0;
    }
    this.#count += 1;
    if (this.#count > MAX_EVENTS_PER_SEC) {
      await sleep(this.#clock, this.#sinceMs + 1_000 - nowMs, this.#closing.signal).catch(() => undefined);
    }
  }

  async #relay(data: string): Promise<void> {
    await this.#pace();
    const parsed = tryParse(agentEventSchema, parseJson(data));
    if (!parsed.success) return this.#notAll();
    const event: NativeAgentEvent = parsed.output;
    const host = this.#host.name;
    switch (event.type) {
      case "agents": {
        this.#named = new Set();
        this.#problem = undefined;
        const agents = event.agents.flatMap((agent) => this.#agent(agent));
        await this.#tell({ type: "host_agents", host, agents, messages: this.#messages(event.messages) });
        return agents.length < event.agents.length ? this.#notAll() : undefined;
      }
      case "agent": {
        const [agent] = this.#agent(event.agent);
        if (agent === undefined) return this.#notAll();
        if (agent.state === "ended") this.#named.delete(agent.id);
        return this.#tell({ type: "host_agent", host, agent });
      }
      case "messages":
        return this.#tell({ type: "host_messages", host, messages: this.#messages(event.messages) });
      // It is opened again, or its end is told.
      case "closed":
        return;
    }
  }

  #notAll(): Promise<void> {
    return this.#wrong(
      this.#named.size >= MAX_HOST_AGENTS
        ? `only ${MAX_HOST_AGENTS} of its agents are shown`
        : "some of its agents cannot be shown: install the same version of tmuxwire on both machines",
    );
  }

  /** Once. */
  async #wrong(problem: string): Promise<void> {
    if (this.#problem === problem) return;
    this.#problem = problem;
    await this.#tell({ type: "host_problem", host: this.#host.name, problem });
  }

  /** Empty: no more are taken, or it is called what no agent is. */
  #agent(sent: NativeAgent): readonly HostAgent[] {
    const agent = this.#renamed(agentSchema, sent);
    if (!/^agent-[0-9a-f]{12}$/.test(sent.id) || !/^%\d{1,10}$/.test(sent.pane)) return [];
    if (!this.#named.has(agent.id) && this.#named.size >= MAX_HOST_AGENTS) return [];
    this.#named.add(agent.id);
    const { task, lastMessage, question } = agent;
    return [
      {
        id: agent.id,
        name: agent.name.slice(0, MAX_NAME_CHARS),
        agent: agent.agent.slice(0, MAX_NAME_CHARS),
        version: cut(agent.version, MAX_NAME_CHARS),
        state: agent.state,
        sinceUnixMs: agent.sinceUnixMs,
        why: agent.why.slice(0, MAX_TEXT_CHARS),
        task: task === null ? null : { ...task, text: task.text.slice(0, MAX_TEXT_CHARS) },
        lastMessage: cut(lastMessage, MAX_TEXT_CHARS),
        question:
          question === null
            ? null
            : {
                ...question,
                id: question.id.slice(0, MAX_NAME_CHARS),
                text: question.text.slice(0, MAX_QUESTION_CHARS),
                options: question.options.slice(0, MAX_OPTIONS).map((option) => ({
                  ...option,
                  number: option.number?.slice(0, 8),
                  label: option.label.slice(0, MAX_TEXT_CHARS),
                  keys: option.keys.slice(0, MAX_OPTIONS).map((key) => key.slice(0, 16)),
                })),
              },
        cwd: cut(agent.cwd, MAX_PATH_CHARS),
        branch: cut(agent.branch, MAX_NAME_CHARS),
        server: agent.server.slice(0, 2 * MAX_NAME_CHARS),
        session: cut(agent.session, MAX_NAME_CHARS),
        pane: agent.pane,
      },
    ];
  }

  #messages(sent: readonly NativeMessage[]): HostMessage[] {
    return sent.slice(0, MAX_MESSAGES).map((each) => {
      const { id, agent, text, outcome, reason, createdUnixMs } = this.#renamed(messageSchema, each);
      return {
        id,
        agent,
        text: text.slice(0, MAX_TEXT_CHARS),
        outcome,
        reason: cut(reason, MAX_TEXT_CHARS),
        createdUnixMs,
      };
    });
  }

  #renamed<Value>(schema: Parameters<typeof withNames>[0], value: Value): Value {
    return withNames(schema, value, (name) => nameOn(this.#host.name, name)) as Value;
  }
}

const cut = (text: string | null, chars: number): string | null => (text === null ? null : text.slice(0, chars));
