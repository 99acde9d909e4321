/** Which agent a hook belongs to (docs/contracts/dashboard.md §3): the first match wins. */
import { randomUUID } from "node:crypto";
import { basename, dirname, normalize } from "node:path";
import type { HostProcesses } from "../../../daemon/host/hostProcesses.ts";
import { type Agent, openTask } from "../agents/agent.ts";
import type { AgentBook } from "../agents/agentBook.ts";
import { newAgentRecord, type ProjectRecord } from "../agents/records.ts";
import { isReachable } from "../panes/agentProcess.ts";
import type { PanePlace } from "../panes/panePlace.ts";
import type { HookRequest } from "./hookRequest.ts";

export interface Correlation {
  readonly agent: Agent;
  readonly isNew: boolean;
  readonly method:
    | "session_id"
    | "db_session_id"
    | "headspace_session_id"
    | "tmux_pane_id"
    | "working_directory"
    | "created";
}

interface CorrelateOptions {
  /** Of the watched server's host. */
  readonly processes: HostProcesses;
  readonly book: AgentBook;
  readonly nowUnixMs: () => number;
  /** The present tmux server. */
  readonly serverIdentity: string | undefined;
  /** Whether the hook's pane is one of that server's. */
  readonly place: PanePlace;
  /** The directory of such a pane becomes a project by itself. */
  readonly registersProjects: boolean;
}

/** Whether its agent is found without its pane. */
export function isKnown({ sessionId, headspaceSessionId }: HookRequest, book: AgentBook): boolean {
  if (book.bySession(sessionId) !== undefined) return true;
  return headspaceSessionId !== undefined && book.byUuid(headspaceSessionId.toLowerCase()) !== undefined;
}

/** Undefined: unknown, and in no project. @throws AppError RESOURCE_LIMIT */
export function correlate(hook: HookRequest, options: CorrelateOptions): Correlation | undefined {
  const { book } = options;
  const known = book.bySession(hook.sessionId);
  if (known !== undefined) {
    const agent = book.reopen(known.agent);
    return { agent, isNew: false, method: known.isCached ? "session_id" : "db_session_id" };
  }
  const uuid = hook.headspaceSessionId?.toLowerCase();
  const launched = uuid === undefined ? undefined : book.byUuid(uuid);
  if (launched !== undefined) return claim(options, hook, book.reopen(launched), "headspace_session_id");
  const inPane =
    hook.pane === undefined || options.place === "elsewhere"
      ? undefined
      : book.inPane(hook.pane, options.serverIdentity);
  if (inPane !== undefined && !isStartedBy(inPane, hook, options.processes))
    return claim(options, hook, inPane, "tmux_pane_id");
  const project = projectOf(hook, options);
  if (project === undefined) return undefined;
  const unclaimed = book.unclaimedIn(project);
  if (unclaimed !== undefined) return claim(options, hook, unclaimed, "working_directory");
  const record = newAgentRecord(randomUUID(), project, options.nowUnixMs());
  const { sessionId: claudeSessionId, transcriptPath } = hook;
  const agent = book.add({ ...record, claudeSessionId, transcriptPath }, project);
  return { agent, isNew: true, method: "created" };
}

/** A session that begins during an agent's turn, while that agent is in its pane, was started by that agent. */
const isStartedBy = (agent: Agent, { source }: HookRequest, processes: HostProcesses): boolean =>
  source === "startup" && openTask(agent) !== undefined && isReachable(agent, processes);

function claim(
  { book }: CorrelateOptions,
  hook: HookRequest,
  agent: Agent,
  method: Correlation["method"],
): Correlation {
  if (agent.record.claudeSessionId !== hook.sessionId) book.update(agent, { claudeSessionId: hook.sessionId });
  return { agent, isNew: false, method };
}

/** The registered project that the directory is in, the innermost of several. */
function projectOf(hook: HookRequest, options: CorrelateOptions): ProjectRecord | undefined {
  if (hook.workingDirectory === undefined || !hook.workingDirectory.startsWith("/")) return undefined;
  const directory = projectPath(hook.workingDirectory);
  for (let path = directory; ; path = dirname(path)) {
    const project = options.book.project(path);
    if (project !== undefined) return project;
    if (dirname(path) === path) break;
  }
  if (!options.registersProjects || options.place !== "ours") return undefined;
  return options.book.putProject({ path: directory, name: nameOf(directory), branch: undefined });
}

/** Without a trailing slash and without `..`. */
export const projectPath = (path: string): string => {
  const normal = normalize(path);
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
};

export const nameOf = (path: string): string => (basename(path) === "" ? path : basename(path));
