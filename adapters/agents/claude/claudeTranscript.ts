/**
 * Claude Code: `sessions/PID.json` names the conversation of a process, `projects/DIRECTORY/ID.jsonl` holds it. The
 * directory's name is made from the path; it is found by the id, which is unique.
 */
import { join } from "node:path";
import {
  type AgentProgram,
  type AgentSession,
  type AgentTranscript,
  directoryOf,
  namesIn,
  objectFile,
  saidBy,
  saidInLines,
} from "../agentTranscript.ts";
import { objectAt, textAt } from "../jsonFields.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function session(program: AgentProgram): Promise<AgentSession | undefined> {
  const own = directoryOf(program, "CLAUDE_CONFIG_DIR", [".claude"]);
  const sessionId = (await idOf(program, own)) ?? program.sessionId;
  if (sessionId === undefined || !UUID.test(sessionId)) return undefined;
  if (program.transcriptPath?.endsWith(`/${sessionId}.jsonl`) === true) {
    return { sessionId, transcriptPath: program.transcriptPath };
  }
  for (const project of await namesIn(join(own, "projects"))) {
    const names = await namesIn(join(own, "projects", project));
    const name = `${sessionId}.jsonl`;
    if (names.includes(name)) return { sessionId, transcriptPath: join(own, "projects", project, name) };
  }
  return { sessionId, transcriptPath: undefined };
}

/** Versions before 2.1.3 do not write it. */
async function idOf({ pids, start }: AgentProgram, own: string): Promise<string | undefined> {
  for (const pid of pids) {
    const entry = await objectFile(join(own, "sessions", `${pid}.json`));
    if (entry !== undefined && entry["pid"] === pid && (pid !== pids[0] || entry["procStart"] === start)) {
      return textAt(entry, "sessionId");
    }
  }
  return undefined;
}

export const transcript: AgentTranscript = {
  session,
  said: saidInLines((line) => {
    if (line["isSidechain"] === true || line["isMeta"] === true) return [];
    return saidBy(line["type"], "assistant", objectAt(line, "message")?.["content"], line["timestamp"]);
  }),
  begin: (id) => ({ args: ["--session-id", id], sessionId: id }),
};
