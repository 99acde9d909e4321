/** opencode keeps the conversations of all directories in one SQLite database, which is read and never written. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isOwn } from "../../../daemon/ops/privateFiles.ts";
import { type Database, DatabaseSync } from "../../../daemon/ops/sql/sqlite.ts";
import { fieldsOf } from "../../../protocol/text/jsonObject.ts";
import {
  type AgentProgram,
  type AgentSession,
  type AgentTranscript,
  directoryOf,
  onlyNew,
  type Said,
} from "../agentTranscript.ts";

const BUSY_TIMEOUT_MS = 50;
const MAX_SESSIONS = 64;
const MAX_PARTS = 256;

const databaseOf = (program: Pick<AgentProgram, "environment">): string =>
  join(directoryOf(program, "XDG_DATA_HOME", [".local", "share"]), "opencode", "opencode.db");

/** Undefined if it is not there, not ours, or of a version with other tables. */
function reading<Result>(path: string, read: (database: Database) => Result): Result | undefined {
  try {
    const stats = lstatSync(path);
    if (!stats.isFile() || !isOwn(stats.uid)) return undefined;
    const address = pathToFileURL(path);
    address.searchParams.set("mode", "ro");
    const database = new DatabaseSync(address, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    try {
      return read(database);
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

async function session(program: AgentProgram): Promise<AgentSession | undefined> {
  const transcriptPath = databaseOf(program);
  const { sessionId, startedUnixMs, cwd } = program;
  if (sessionId !== undefined) return { sessionId, transcriptPath };
  const found = reading(transcriptPath, (database) =>
    database
      .prepare(
        "SELECT id, time_created FROM session WHERE directory = ? AND parent_id IS NULL AND time_created >= ? LIMIT ?",
      )
      .all(cwd, startedUnixMs ?? Number.MAX_SAFE_INTEGER, MAX_SESSIONS),
  );
  const sessions = (found ?? []).map((row) => {
    const { id, time_created: begun } = fieldsOf(row) ?? {};
    return { sessionId: String(id), transcriptPath, begunUnixMs: Number(begun) };
  });
  return onlyNew(program, sessions);
}

const SAID = `SELECT json_extract(message.data, '$.role') AS role, json_extract(part.data, '$.text') AS text,
    message.time_created AS unixMs
  FROM part JOIN message ON message.id = part.message_id
  WHERE part.session_id = ? AND json_extract(part.data, '$.type') = 'text'
    AND json_extract(part.data, '$.synthetic') IS NOT 1
  ORDER BY part.id DESC LIMIT ?`;

export const transcript: AgentTranscript = {
  session,
  said: async ({ sessionId, transcriptPath }) => {
    if (transcriptPath === undefined) return [];
    const rows = reading(transcriptPath, (database) => database.prepare(SAID).all(sessionId, MAX_PARTS)) ?? [];
    return rows.toReversed().flatMap((row): Said[] => {
      const { role, text, unixMs } = fieldsOf(row) ?? {};
      if (typeof text !== "string" || typeof unixMs !== "number") return [];
      return [{ by: role === "user" ? "user" : "agent", text, unixMs }];
    });
  },
};
