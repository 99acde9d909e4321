/** What an agent is doing, in the words of the API, and what says so. */
import type { ReadinessSource } from "../../../daemon/readiness/readiness.ts";
import type { AgentStateName } from "../../../protocol/api/native/nativeAgents.ts";
import type { RunningAgent } from "./runningAgent.ts";

interface AgentState {
  readonly state: AgentStateName;
  readonly sinceUnixMs: number | undefined;
  /** One sentence: the evidence, or what is missing. */
  readonly why: string;
}

export function stateOf({ kind, readiness, endedUnixMs }: RunningAgent): AgentState {
  if (endedUnixMs !== undefined) {
    return { state: "ended", sinceUnixMs: endedUnixMs, why: "its process has ended" };
  }
  if (readiness === undefined) return { state: "unknown", sinceUnixMs: undefined, why: "its pane cannot be read now" };
  const { sinceUnixMs, source, profile, version, isNewVersion = false } = readiness;
  if (profile !== kind.name) {
    const isRead = readiness.state !== "unknown" && kind.profile !== undefined;
    const why = isRead
      ? `something else is in front of it: its pane is judged by profile ${profile}`
      : kind.profile === undefined
        ? "there is no profile for it"
        : "its screen has not been read yet";
    return { state: "unknown", sinceUnixMs, why };
  }
  const why = WHY[source];
  switch (readiness.state) {
    case "idle":
      return { state: "ready", sinceUnixMs, why };
    case "dead":
      return { state: "ended", sinceUnixMs, why: "its program no longer reads from the pane" };
    case "unknown":
      return {
        state: "unknown",
        sinceUnixMs,
        why: isNewVersion
          ? `new version ${version}, not known yet`
          : `its screen shows nothing that profile ${profile} knows`,
      };
    case "starting":
    case "busy":
    case "asking":
      return { state: readiness.state, sinceUnixMs, why };
  }
}

const WHY: Readonly<Record<ReadinessSource, string>> = {
  exit: "tmux reports that it has exited",
  hook: "its hook says so",
  osc7501: "its own mark in the output says so",
  osc133: "its shell's mark in the output says so",
  title: "its title says so",
  bracketedPaste: "it has switched its line editor on or off",
  screen: "its screen says so",
  none: "nothing says so yet",
};
