/**
 * A coding agent that runs in a pane, as every part of the agents' room sees it. It is one process: whatever runs in the
 * pane after it is another agent, with another id.
 */
import type { Readiness } from "../../../daemon/readiness/readiness.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Agent } from "../catalogue.ts";

/** How it was started, as far as anybody has said: enough to start it again. */
interface AgentLaunch {
  /** The program as it was given; a path where it is not on PATH. */
  readonly program: string;
  readonly args: readonly string[];
  /** Variables in addition to the server's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Who asked: `api`, `team:ID`. */
  readonly startedBy: string;
}

/** What the process itself does not show: told by its hooks, its files, and by whoever starts it or types to it. */
export interface AgentFacts {
  /** Its own id of its conversation. */
  readonly sessionId?: string | undefined;
  /** Absolute; where it writes its conversation. */
  readonly transcriptPath?: string | undefined;
  /** The latest prompt that it took. */
  readonly task?: { readonly text: string; readonly sinceUnixMs: number } | undefined;
  /** Its last words to the user. Foreign text. */
  readonly lastMessage?: string | undefined;
  readonly launch?: AgentLaunch | undefined;
  /** The worktree that was made for it. Absolute. */
  readonly worktree?: string | undefined;
  /** The agent whose teammate it is, by id. */
  readonly leader?: string | undefined;
}

export interface RunningAgent extends AgentFacts {
  /** Of the process; the same after a restart of the daemon. */
  readonly id: string;
  /** Unique among those that run. */
  readonly name: string;
  /** Its kind: the row of the catalogue. */
  readonly kind: Agent;
  /** As in paths. */
  readonly serverName: string;
  readonly server: TmuxServer;
  readonly pane: PaneId;
  readonly process: ProcessMark;
  /** Its process's directory; undefined where the host does not say. */
  readonly cwd: string | undefined;
  /** What is checked out there, as it was when it was last read. */
  readonly branch: string | undefined;
  /** Undefined until it was judged for the first time. */
  readonly readiness: Readiness | undefined;
  /** Undefined while it runs. */
  readonly endedUnixMs: number | undefined;
}

/** What has happened, once each, as far as it does not show in an agent's state. */
export type AgentEvent =
  /** It has taken this prompt. `by`: who typed it; undefined: its hook says so, which does not know. */
  | {
      readonly kind: "prompted";
      readonly agent: RunningAgent;
      readonly text: string;
      readonly sinceUnixMs: number;
      readonly by?: string | undefined;
      /** The delivery's. */
      readonly key?: string | undefined;
    }
  /** Its last words, at the end of a turn. */
  | { readonly kind: "said"; readonly agent: RunningAgent; readonly words: string }
  | { readonly kind: "renamed"; readonly agent: RunningAgent; readonly before: string; readonly by: string }
  /** It has ended, and so has its tmux server. */
  | { readonly kind: "serverEnded"; readonly agent: RunningAgent }
  /** It ended while no daemon looked. */
  | {
      readonly kind: "gone";
      readonly id: string;
      readonly name: string;
      readonly serverName: string;
      /** Of its server. */
      readonly socket: string | undefined;
    };

export type AgentChange =
  | { readonly kind: "appeared"; readonly agent: RunningAgent }
  /** Its readiness, its name or a fact. */
  | { readonly kind: "changed"; readonly agent: RunningAgent }
  | { readonly kind: "ended"; readonly agent: RunningAgent };

/** Foreign text of this length is kept of prompts and last words. */
export const MAX_KEPT_CHARS = 4_000;

/** What is kept of a prompt that a hook tells of: a longer one is compared with it by this. */
export const keptPrompt = (prompt: string): string => prompt.trim().slice(0, MAX_KEPT_CHARS).trimEnd();

/** Whether it is known to have taken this prompt since then. */
export const hasTask = ({ task }: RunningAgent, prompt: string, sinceUnixMs: number): boolean =>
  task !== undefined && keptPrompt(task.text) === keptPrompt(prompt) && task.sinceUnixMs >= sinceUnixMs;
