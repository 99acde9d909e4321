/**
 * The record of a start, stored on the worker's own pane, so that it outlives the daemon and ends with the session. A
 * repeated request finds it by the digest of its key, gets the same response and types nothing; if the first start was cut
 * short, the repeated one continues where it stopped.
 */
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { TEAM_START_OUTCOMES, type TeamStartOutcome, type TeamStartRequest } from "../../../protocol/api/team.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { parseJson, textOf } from "../../../protocol/text/jsonObject.ts";
import { digest } from "../../agents/start/agentStarts.ts";
import { onTmux } from "../teamErrors.ts";
import { MAX_DETAIL_ENCODED_CHARS, MAX_PROMPT_ENCODED_CHARS } from "../teamLimits.ts";

const OPTION = "team_start";

export interface StartRecord {
  /** Digests of the idempotency key and of the request it came with. */
  readonly key?: string | undefined;
  readonly request: string;
  /** The worker's prompt; unknown in a record of an earlier version. */
  readonly prompt?: PromptMark | undefined;
  readonly threadId?: string | undefined;
  /** Undefined if the start did not get this far. */
  readonly outcome?: TeamStartOutcome | undefined;
  /** How long it took to be ready; undefined if it was not ready in time. */
  readonly readyMs?: number | undefined;
  /** Why the prompt was not taken: the message of the refusal. */
  readonly detail?: string | undefined;
  /** Whether it was announced in the thread. */
  readonly announced: boolean;
  /** Which agent works; undefined: that of `team.workerArgv`. */
  readonly agent?: string | undefined;
}

/** A prompt's digest, to recognise it, and its beginning, for people. */
export interface PromptMark {
  readonly digest: string;
  readonly start: string;
}

export type BegunRecord = StartRecord & { readonly prompt: PromptMark };

/** The record before the worker exists. The digest leaves out teamd's address, which does not make it another request. */
export function beginRecord(request: TeamStartRequest, threadId?: string): BegunRecord {
  const { taskPrompt, sessionPrefix, sessionName, cwd, title, agent, idempotencyKey: key } = request;
  const parts = [taskPrompt, request.threadId, sessionPrefix, sessionName, cwd, title];
  if (agent !== undefined) parts.push(agent);
  return {
    key: key === undefined ? undefined : digest(key),
    request: digest(JSON.stringify(parts.map((part) => part ?? null))),
    prompt: { digest: digest(taskPrompt), start: shortened(taskPrompt, MAX_PROMPT_ENCODED_CHARS) },
    threadId,
    announced: false,
    agent,
  };
}

/** Whether nothing is left to do. */
export const isComplete = ({ outcome, announced }: StartRecord): boolean => outcome !== undefined && announced;

/** Set when the session is created, so that a repeated request always finds it. */
export const recordOption = (record: StartRecord): Readonly<Record<string, string>> => ({
  [OPTION]: optionText(record),
});

/** @throws AppError NOT_FOUND, CONNECTION_LOST */
export const writeRecord = (server: TmuxServer, pane: PaneId, record: StartRecord): Promise<void> =>
  server.setPaneUserOption(pane, OPTION, optionText(record));

function optionText(record: StartRecord): string {
  const { key, request, prompt, threadId, outcome, readyMs, detail, announced, agent } = record;
  const why = detail === undefined ? undefined : shortened(detail, MAX_DETAIL_ENCODED_CHARS);
  const fields = [key, request, threadId, outcome, readyMs, why, announced, prompt?.digest, prompt?.start];
  return JSON.stringify(agent === undefined ? fields : [...fields, agent]);
}

/** The text's beginning in ASCII, as much as fits into a percent-encoded option. */
function shortened(text: string, maxEncodedChars: number): string {
  const plain = text.slice(0, maxEncodedChars).replaceAll(/[^ -~]/g, "?");
  let room = maxEncodedChars;
  const end = plain.split("").findIndex((char) => {
    room -= encodeURIComponent(JSON.stringify(char).slice(1, -1)).length;
    return room < 0;
  });
  return end < 0 ? plain : plain.slice(0, end);
}

/** The records of all workers that have one. @throws AppError tmux_error */
export async function readRecords(server: TmuxServer): Promise<ReadonlyMap<PaneId, StartRecord>> {
  const records = new Map<PaneId, StartRecord>();
  for (const [pane, text] of await onTmux("tmux list-panes -a", () => server.paneUserOptions(OPTION))) {
    const record = parsed(text);
    if (record !== undefined) records.set(pane, record);
  }
  return records;
}

/** Anyone who may use the socket can set the option, so anything but a valid record is ignored. */
function parsed(text: string): StartRecord | undefined {
  const fields = parseJson(text);
  if (!Array.isArray(fields) || ![5, 7, 9, 10].includes(fields.length)) return undefined;
  const [key, request, threadId, outcome, readyMs, detail, announced, mark, start, agent] = fields as unknown[];
  if (typeof request !== "string") return undefined;
  const known = TEAM_START_OUTCOMES.find((each) => each === outcome);
  // The oldest do not say how far the start got, so that start is not resumed.
  const isOldest = fields.length === 5;
  return {
    request,
    prompt: typeof mark === "string" && typeof start === "string" ? { digest: mark, start } : undefined,
    key: textOf(key),
    threadId: textOf(threadId),
    outcome: isOldest ? (outcome === true ? "submitted" : "indeterminate") : known,
    readyMs: typeof readyMs === "number" ? readyMs : undefined,
    detail: textOf(detail),
    announced: isOldest || announced === true,
    agent: textOf(agent),
  };
}
