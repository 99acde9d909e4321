/**
 * What a start has done, kept on the worker's own pane: it outlives the daemon and goes with the session. A repeated
 * request finds it by the digest of its key and answers the same, and types nothing.
 */
import { createHash } from "node:crypto";
import type { TmuxServer } from "../../daemon/server/tmuxServer.ts";
import type { TeamStartRequest } from "../../protocol/api/team.ts";
import type { PaneId } from "../../protocol/ids.ts";

const MARK = "team_start";
const DIGEST_CHARS = 22;

export interface StartRecord {
  /** Digests of the idempotency key and of the request it came with. */
  readonly key: string | undefined;
  readonly request: string;
  readonly threadId: string | undefined;
  /** Undefined: the start did not come to its end, or has not yet. */
  readonly promptSubmitted: boolean | undefined;
  readonly readyMs: number | undefined;
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

/** For the making of the session: no moment is left in which a repeated request would not find it. */
export const recordMark = (record: StartRecord): Readonly<Record<string, string>> => ({ [MARK]: textOf(record) });

/** @throws AppError NOT_FOUND, CONNECTION_LOST */
export const writeRecord = (server: TmuxServer, pane: PaneId, record: StartRecord): Promise<void> =>
  server.setPaneMark(pane, MARK, textOf(record));

const textOf = ({ key, request, threadId, promptSubmitted, readyMs }: StartRecord): string =>
  JSON.stringify([key, request, threadId, promptSubmitted, readyMs]);

/** Of every worker that has one. @throws AppError CONNECTION_LOST */
export async function readRecords(server: TmuxServer): Promise<ReadonlyMap<PaneId, StartRecord>> {
  const records = new Map<PaneId, StartRecord>();
  for (const [pane, text] of await server.paneMarks(MARK)) {
    const record = parsed(text);
    if (record !== undefined) records.set(pane, record);
  }
  return records;
}

/** Whoever may use the socket can set a mark: what is no record of ours is none. */
function parsed(text: string): StartRecord | undefined {
  try {
    const fields = JSON.parse(text) as unknown;
    if (!Array.isArray(fields) || fields.length !== 5) return undefined;
    const [key, request, threadId, promptSubmitted, readyMs] = fields as unknown[];
    if (typeof request !== "string") return undefined;
    return {
      request,
      key: typeof key === "string" ? key : undefined,
      threadId: typeof threadId === "string" ? threadId : undefined,
      promptSubmitted: typeof promptSubmitted === "boolean" ? promptSubmitted : undefined,
      readyMs: typeof readyMs === "number" ? readyMs : undefined,
    };
  } catch {
    return undefined;
  }
}
