/**
 * What running agents have said and taken, from the conversations that they keep on disk. Read on demand; an agent whose
 * conversation is not known for certain has none.
 */
import { startClock, TICKS_PER_SEC } from "../../../daemon/host/startClock.ts";
import type { HostProcesses } from "../../../daemon/host/hostProcesses.ts";
import type { AgentProgram, AgentSession, AgentTranscripts, Said } from "../agentTranscript.ts";
import type { AgentDirectory } from "../running/agentDirectory.ts";
import type { RunningAgent } from "../running/runningAgent.ts";

interface TranscriptsOptions {
  readonly transcripts: AgentTranscripts;
  readonly agents: Pick<AgentDirectory, "agents" | "note">;
  readonly nowUnixMs: () => number;
}

/** What the agent's clock and ours may be apart, and the time between its start and the first line that it writes. */
export const CLOCK_SLACK_MS = 2_000;
/** An agent's program and the launchers and helpers around it. */
const MAX_PROCESSES = 16;

export class Transcripts {
  readonly #options: TranscriptsOptions;

  constructor(options: TranscriptsOptions) {
    this.#options = options;
  }

  /** The last message that the agent has written; undefined if there is none, or nothing is known. */
  async lastWords(agent: RunningAgent): Promise<string | undefined> {
    const said = await this.#said(agent);
    return said?.findLast(({ by }) => by === "agent")?.text;
  }

  /**
   * The turn that a prompt has begun since then, to the millisecond (an earlier one may have the same text): whether the agent's conversation has the prompt, and the agent's last words
   * after it. Undefined if the conversation is not known.
   */
  async turn(
    agent: RunningAgent,
    text: string,
    sinceUnixMs: number,
  ): Promise<{ readonly isTaken: boolean; readonly words: string | undefined } | undefined> {
    const said = (await this.#said(agent))?.filter(({ unixMs }) => unixMs >= sinceUnixMs);
    if (said === undefined) return undefined;
    const wanted = plain(text);
    const at = said.findLastIndex((each) => each.by === "user" && plain(each.text) === wanted);
    const words = at < 0 ? undefined : said.slice(at + 1).findLast(({ by }) => by === "agent")?.text;
    return { isTaken: at >= 0, words };
  }

  /** Its conversation, which is noted on the agent. */
  async sessionOf(agent: RunningAgent): Promise<AgentSession | undefined> {
    const { transcripts, agents } = this.#options;
    const transcript = transcripts.get(agent.kind.name);
    const program = transcript && (await this.#programOf(agent));
    const found = program && (await transcript.session(program));
    if (found === undefined) return undefined;
    if (found.sessionId !== agent.sessionId || found.transcriptPath !== agent.transcriptPath) {
      agents.note(agent, { sessionId: found.sessionId, transcriptPath: found.transcriptPath });
    }
    return found;
  }

  async #said(agent: RunningAgent): Promise<readonly Said[] | undefined> {
    const session = await this.sessionOf(agent);
    return session === undefined ? undefined : this.#options.transcripts.get(agent.kind.name)?.said(session);
  }

  /** Undefined if the process has ended or the host does not know it. */
  async #programOf(agent: RunningAgent): Promise<AgentProgram | undefined> {
    const { server, process, sessionId, transcriptPath, kind } = agent;
    const { processes } = server;
    const cwd = processes.cwdNow(process.pid);
    const [stat, environment] = await Promise.all([processes.stat(process.pid), processes.environment(process.pid)]);
    if (stat === undefined || stat.start !== process.start || environment === undefined || cwd === undefined) {
      return undefined;
    }
    const pids = await familyOf(process.pid, processes);
    const open = await Promise.all(pids.map((pid) => processes.openFiles(pid)));
    const others = this.#options.agents
      .agents()
      .filter((other) => other.id !== agent.id && other.kind.name === kind.name);
    return {
      pids,
      start: process.start,
      startedUnixMs: this.#startedUnixMs(process.start, processes),
      cwd,
      environment,
      openFiles: open.flatMap((paths) => paths ?? []),
      sessionId,
      transcriptPath,
      taken: new Set(others.flatMap((other) => other.sessionId ?? [])),
    };
  }

  /** Only a number of ticks can be compared with other times. */
  #startedUnixMs(start: string, processes: HostProcesses): number | undefined {
    if (!/^\d+$/.test(start)) return undefined;
    const ageSec = startClock(processes)() - Number(start) / TICKS_PER_SEC;
    return this.#options.nowUnixMs() - ageSec * 1_000 - CLOCK_SLACK_MS;
  }
}

/** The process and its descendants, nearest first. */
async function familyOf(pid: number, processes: HostProcesses): Promise<readonly number[]> {
  const family = [pid];
  for (let at = 0; at < family.length && family.length < MAX_PROCESSES; at += 1) {
    family.push(...((await processes.children(family[at]!)) ?? []));
  }
  return family.slice(0, MAX_PROCESSES);
}

/** As the agent keeps it: long pastes may be wrapped, and blanks at the ends and our guard are not part of it. */
const plain = (text: string): string =>
  text
    .replace(/^\s*<pasted_content\b[^>]*>\n?([\s\S]*?)\n?<\/pasted_content\b[^>]*>\s*$/u, "$1")
    .replaceAll("\u200b", "")
    .replaceAll("\r", "\n")
    .trim();
