/** pi: `sessions/--DIRECTORY--/TIME_ID.jsonl`, whose first line says the id and the directory. */
import { join } from "node:path";
import {
  type AgentProgram,
  type AgentSession,
  type AgentTranscript,
  directoryOf,
  firstLine,
  namesIn,
  onlyNew,
  saidBy,
  saidInLines,
  timeIn,
} from "../agentTranscript.ts";
import { objectAt, textAt } from "../jsonFields.ts";

interface Conversation extends AgentSession {
  readonly begunUnixMs: number;
}

function sessionsOf(place: Pick<AgentProgram, "cwd" | "environment">): string {
  const chosen = place.environment["PI_CODING_AGENT_SESSION_DIR"];
  if (chosen !== undefined && chosen !== "") return chosen;
  const name = place.cwd.replace(/^\//, "").replaceAll(/[/\\:]/g, "-");
  return join(directoryOf(place, "PI_CODING_AGENT_DIR", [".pi", "agent"]), "sessions", `--${name}--`);
}

async function session(program: AgentProgram): Promise<AgentSession | undefined> {
  const { transcriptPath, sessionId, cwd } = program;
  const given = transcriptPath === undefined ? undefined : await conversationIn(transcriptPath, cwd);
  if (given !== undefined && (sessionId === undefined || given.sessionId === sessionId)) return given;
  const directory = sessionsOf(program);
  const names = (await namesIn(directory)).filter((name) => isWanted(name, program));
  const found = await Promise.all(names.map((name) => conversationIn(join(directory, name), cwd)));
  const conversations = found.filter((each) => each !== undefined);
  if (sessionId === undefined) return onlyNew(program, conversations);
  return conversations.find((each) => each.sessionId === sessionId) ?? { sessionId, transcriptPath: undefined };
}

/** A name begins with the time of its start, `2026-11-23T19-33-23-581Z`. */
function isWanted(name: string, { sessionId, startedUnixMs }: AgentProgram): boolean {
  if (sessionId !== undefined) return name.endsWith(`_${sessionId}.jsonl`);
  const [, date = "", hour = "", minute = "", second = ""] = /^([\d-]{10})T(\d\d)-(\d\d)-(\d\d)-\d+Z_/.exec(name) ?? [];
  return startedUnixMs !== undefined && Date.parse(`${date}T${hour}:${minute}:${second}.999Z`) >= startedUnixMs;
}

async function conversationIn(transcriptPath: string, cwd: string): Promise<Conversation | undefined> {
  const head = await firstLine(transcriptPath);
  const sessionId = head?.["type"] === "session" && head["cwd"] === cwd ? textAt(head, "id") : undefined;
  return sessionId === undefined ? undefined : { sessionId, transcriptPath, begunUnixMs: timeIn(head?.["timestamp"]) };
}

export const transcript: AgentTranscript = {
  session,
  said: saidInLines((line) => {
    const message = line["type"] === "message" ? objectAt(line, "message") : undefined;
    return saidBy(message?.["role"], "assistant", message?.["content"], line["timestamp"]);
  }),
  begin: (id, place) => {
    const time = new Date().toISOString().replaceAll(/[:.]/g, "-");
    const transcriptPath = join(sessionsOf(place), `${time}_${id}.jsonl`);
    return { args: ["--session", transcriptPath], transcriptPath };
  },
};
