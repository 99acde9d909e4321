/**
 * Gemini CLI: `projects.json` names the folder of a directory, `tmp/FOLDER/chats/session-TIME-START.jsonl` holds a
 * conversation, and another file of the same id each time that it is resumed.
 */
import { join } from "node:path";
import {
  type AgentProgram,
  type AgentSession,
  type AgentTranscript,
  directoryOf,
  firstLine,
  namesIn,
  objectFile,
  onlyNew,
  saidBy,
  saidInLines,
  timeIn,
} from "../agentTranscript.ts";
import { objectAt, textAt } from "../jsonFields.ts";

interface Chat extends AgentSession {
  readonly begunUnixMs: number;
}

/** The files begin with the time of their start, to the minute. */
const NAME = /^session-(\d{4}-\d\d-\d\dT\d\d-\d\d)-[0-9a-f]+\.jsonl$/;
const MINUTE_MS = 60_000;

async function session(program: AgentProgram): Promise<AgentSession | undefined> {
  const home = program.environment["GEMINI_CLI_HOME"] ?? program.environment["HOME"] ?? "/";
  const own = directoryOf({ environment: { HOME: home } }, "", [".gemini"]);
  const folder = textAt(objectAt((await objectFile(join(own, "projects.json"))) ?? {}, "projects") ?? {}, program.cwd);
  if (folder === undefined || folder.includes("/") || folder.startsWith(".")) return known(program);
  const chats = join(own, "tmp", folder, "chats");
  const id = program.sessionId;
  const names = (await namesIn(chats)).filter((name) => isWanted(name, program)).toSorted();
  const found: Chat[] = [];
  for (const name of names) {
    const transcriptPath = join(chats, name);
    const head = await firstLine(transcriptPath);
    const sessionId = head === undefined ? undefined : textAt(head, "sessionId");
    if (sessionId === undefined || head?.["kind"] === "subagent") continue;
    found.push({ sessionId, transcriptPath, begunUnixMs: timeIn(head?.["startTime"]) });
  }
  // The newest file of a conversation that was resumed.
  return id === undefined
    ? onlyNew(program, found)
    : (found.findLast((chat) => chat.sessionId === id) ?? known(program));
}

const known = ({ sessionId, transcriptPath }: AgentProgram): AgentSession | undefined =>
  sessionId === undefined ? undefined : { sessionId, transcriptPath };

function isWanted(name: string, { sessionId, startedUnixMs }: AgentProgram): boolean {
  const [, minute] = NAME.exec(name) ?? [];
  if (minute === undefined) return false;
  if (sessionId !== undefined) return name.endsWith(`-${sessionId.slice(0, 8)}.jsonl`);
  const [date, time = ""] = minute.split("T");
  return startedUnixMs !== undefined && Date.parse(`${date}T${time.replace("-", ":")}Z`) > startedUnixMs - MINUTE_MS;
}

export const transcript: AgentTranscript = {
  session,
  said: saidInLines((line) => saidBy(line["type"], "gemini", line["content"], line["timestamp"])),
  begin: (id) => ({ args: ["--session-id", id], sessionId: id }),
};
