/**
 * What a start has done, kept on the worker's own pane: it outlives the daemon and goes with the session. A repeated
 * request finds it by the digest of its key, responds the same and types nothing; one whose first start did not come to
 * its end goes on where that one ended.
 */
import { createHash } from "node:crypto";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { TEAM_START_OUTCOMES, type TeamStartOutcome, type TeamStartRequest } from "../../protocol/api/team.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { MAX_DETAIL_ENCODED_CHARS, MAX_PROMPT_ENCODED_CHARS } from "./teamLimits.ts";

const OPTION = "team_start";
const DIGEST_CHARS = 22;

export interface StartRecord {
  /** Digests of the idempotency key and of the request it came with. */
  readonly key: string | undefined;
  readonly request: string;
  /** What the worker was to be given; unknown from an earlier version's record. */
  readonly prompt: PromptMark | undefined;
  readonly threadId: string | undefined;
  /** Undefined when the start has not come this far. */
  readonly outcome: TeamStartOutcome | undefined;
  readonly readyMs: number | undefined;
  /** Why the prompt was not taken, in the words of the refusal. */
  readonly detail: string | undefined;
  /** It was announced in the thread. */
  readonly announced: boolean;
}

/** A prompt, known again by its digest, and its beginning for a person. */
export interface PromptMark {
  readonly digest: string;
  readonly start: string;
}

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, DIGEST_CHARS);

export const keyDigest = (key: string | undefined): string | undefined => (key === undefined ? undefined : digest(key));

/** Of what is asked for; where teamd is and how often it is asked make no other request. */
export function requestDigest(request: TeamStartRequest): string {
  const { taskPrompt, threadId, sessionPrefix, sessionName, cwd, title } = request;
  return digest(
    JSON.stringify([taskPrompt, threadId, sessionPrefix, sessionName, cwd, title].map((part) => part ?? null)),
  );
}

export const promptMark = (prompt: string): PromptMark => ({
  digest: digest(prompt),
  start: shortened(prompt, MAX_PROMPT_ENCODED_CHARS),
});

/** What is known before the worker is there. */
export const beginRecord = (request: TeamStartRequest, threadId: string): StartRecord => ({
  key: keyDigest(request.idempotencyKey),
  request: requestDigest(request),
  prompt: promptMark(request.taskPrompt),
  threadId,
  outcome: undefined,
  readyMs: undefined,
  detail: undefined,
  announced: false,
});

/** Nothing is left to do. */
export const isComplete = ({ outcome, announced }: StartRecord): boolean => outcome !== undefined && announced;

/** Set while the session is made, so that a repeated request always finds it. */
export const recordOption = (record: StartRecord): Readonly<Record<string, string>> => ({ [OPTION]: textOf(record) });

/** @throws AppError NOT_FOUND, CONNECTION_LOST */
export const writeRecord = (server: TmuxServer, pane: PaneId, record: StartRecord): Promise<void> =>
  server.setPaneUserOption(pane, OPTION, textOf(record));

function textOf({ key, request, prompt, threadId, outcome, readyMs, detail, announced }: StartRecord): string {
  const why = detail === undefined ? undefined : shortened(detail, MAX_DETAIL_ENCODED_CHARS);
  return JSON.stringify([key, request, threadId, outcome, readyMs, why, announced, prompt?.digest, prompt?.start]);
}

/** Its beginning in ASCII, as far as there is room in an option, which is percent-encoded. */
function shortened(text: string, maxEncodedChars: number): string {
  const plain = text.slice(0, maxEncodedChars).replaceAll(/[^ -~]/g, "?");
  let room = maxEncodedChars;
  const end = plain.split("").findIndex((char) => {
    room -= encodeURIComponent(JSON.stringify(char).slice(1, -1)).length;
    return room < 0;
  });
  return end < 0 ? plain : plain.slice(0, end);
}

/** Of every worker that has one. @throws AppError CONNECTION_LOST */
export async function readRecords(server: TmuxServer): Promise<ReadonlyMap<PaneId, StartRecord>> {
  const records = new Map<PaneId, StartRecord>();
  for (const [pane, text] of await server.paneUserOptions(OPTION)) {
    const record = parsed(text);
    if (record !== undefined) records.set(pane, record);
  }
  return records;
}

/** Anybody who may use the socket can set the option: anything but a valid record is ignored. */
function parsed(text: string): StartRecord | undefined {
  try {
    const fields = JSON.parse(text) as unknown;
    if (!Array.isArray(fields) || ![5, 7, 9].includes(fields.length)) return undefined;
    const [key, request, threadId, outcome, readyMs, detail, announced, mark, start] = fields as unknown[];
    if (typeof request !== "string") return undefined;
    return {
      request,
      prompt: typeof mark === "string" && typeof start === "string" ? { digest: mark, start } : undefined,
      key: typeof key === "string" ? key : undefined,
      threadId: typeof threadId === "string" ? threadId : undefined,
      // An earlier version's record does not say how far its start came, so the start is not resumed.
      outcome: fields.length === 5 ? (outcome === true ? "submitted" : "indeterminate") : outcomeOf(outcome),
      readyMs: typeof readyMs === "number" ? readyMs : undefined,
      detail: typeof detail === "string" ? detail : undefined,
      announced: fields.length === 5 || announced === true,
    };
  } catch {
    return undefined;
  }
}

const outcomeOf = (value: unknown): TeamStartOutcome | undefined =>
  TEAM_START_OUTCOMES.find((outcome) => outcome === value);
