/** The response to a start: the session's current state, the outcome of the prompt, and why the worker is not working on it. */
import type { TeamStart, TeamStartOutcome } from "../../../protocol/api/team.ts";
import { lastWords } from "../captureText.ts";
import { attachArgv, captureHint, shellLine } from "../names.ts";
import { type SessionEnd, sessionEnd, type TeamPlace } from "../teamServers.ts";
import type { StartRecord } from "./startRecord.ts";

/** @param record undefined for a session that was not made by a start @param threadId named in the request */
export async function startResponse(
  place: TeamPlace,
  record: StartRecord | undefined,
  threadId: string | undefined,
): Promise<TeamStart> {
  const { server, pane, sessionName, socketPath } = place;
  const window = server.windows().find(({ panes }) => panes.includes(pane));
  const end = sessionEnd(place);
  const outcome = record?.outcome ?? "unfinished";
  return {
    sessionName,
    created: false,
    windowName: window?.name ?? "",
    paneId: pane,
    socketPath,
    attachCommand: shellLine(attachArgv(socketPath, sessionName)),
    captureHint: captureHint(sessionName),
    threadId: record?.threadId ?? threadId ?? null,
    threadCreated: false,
    promptSubmitted: isTaken(outcome),
    outcome,
    reason: end.dead ? await whyDead(end, outcome, place) : whyNot(outcome, record),
    ...end,
    readyMs: record?.readyMs ?? null,
  };
}

export const isTaken = (outcome: TeamStartOutcome | undefined): boolean =>
  outcome === "submitted" || outcome === "queued";

async function whyDead({ exitStatus }: SessionEnd, outcome: TeamStartOutcome, place: TeamPlace): Promise<string> {
  // Its last output helps, but if it can no longer be read, that is no reason to fail.
  const words = await lastWords(place).catch(() => "");
  const when = isTaken(outcome)
    ? "after it took"
    : outcome === "ended"
      ? "before it took"
      : "and may or may not have taken";
  const last = words === "" ? "it printed nothing" : `its last output: ${words}`;
  const kill = shellLine(["tmux", "-S", place.socketPath, "kill-session", "-t", `=${place.sessionName}`]);
  return (
    `the worker has ended (exit status ${exitStatus ?? "unknown"}) ${when} the prompt; ${last}\n` +
    `Its session is kept; to reuse the name, run ${kill}`
  );
}

const LOOK = "look at the session with team_tmux_capture";

function whyNot(outcome: TeamStartOutcome, record: StartRecord | undefined): string | null {
  switch (outcome) {
    case "submitted":
    case "queued":
      return null;
    case "echoed_unconfirmed":
      return `${record?.detail ?? "the prompt was typed and Enter pressed, but the worker did not confirm it"}; ${LOOK}`;
    case "not_echoed":
      return `${record?.detail ?? "the prompt was pasted but did not appear on the screen, so Enter was not pressed"}; ${LOOK}`;
    case "indeterminate":
      return `${record?.detail ?? "the connection to tmux was lost while the prompt was typed"}; the worker may or may not have taken it; ${LOOK}`;
    case "refused":
      return record?.detail ?? `the worker could not take the prompt in its current state; ${LOOK}`;
    case "not_ready":
      return `${record?.detail ?? "the worker was not ready in time"}, so the prompt was not typed; ${LOOK}, or attach and type it`;
    case "ended":
      return `the worker ended before it took the prompt, and another program now runs in its pane; ${LOOK}`;
    case "unfinished":
      return record === undefined
        ? `a session of this name already exists, and nothing was typed into it; ${LOOK}, or choose another name`
        : `an earlier start of this session was cut short; repeat exactly that request to finish it, or ${LOOK}`;
  }
}
