/** Codex keeps the file of its conversation open: `sessions/YEAR/MONTH/DAY/rollout-TIME-ID.jsonl`. */
import { type AgentProgram, type AgentSession, type AgentTranscript, saidBy, saidInLines } from "../agentTranscript.ts";
import { objectAt } from "../jsonFields.ts";

const ROLLOUT = /\/sessions\/(?:\d+\/){3}rollout-[\dT-]+?-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/;

async function session({ openFiles, sessionId, transcriptPath }: AgentProgram): Promise<AgentSession | undefined> {
  const open = new Map(
    openFiles.flatMap((path) => (ROLLOUT.test(path) ? [[ROLLOUT.exec(path)?.[1] ?? "", path]] : [])),
  );
  // A helper of its own has a conversation, too.
  const [[id, path] = []] = open.size === 1 ? open : [];
  if (id !== undefined) return { sessionId: id, transcriptPath: path };
  return sessionId === undefined ? undefined : { sessionId, transcriptPath: open.get(sessionId) ?? transcriptPath };
}

export const transcript: AgentTranscript = {
  session,
  said: saidInLines((line) => {
    const message = line["type"] === "response_item" ? objectAt(line, "payload") : undefined;
    const role = message?.["type"] === "message" ? message["role"] : undefined;
    return saidBy(role, "assistant", message?.["content"], line["timestamp"]);
  }),
};
