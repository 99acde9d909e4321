/**
 * An agent's conversations on disk: which one a running process has, and what was said in it. Each agent's own way stands in
 * `NAMETranscript.ts` of its folder and is loaded from there. Everything that is read is foreign text: files are opened
 * without following a link, belong to us, and are read from their end, up to a bound.
 */
import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isOwn } from "../../daemon/ops/privateFiles.ts";
import { fieldsOf, parseJson } from "../../protocol/text/jsonObject.ts";
import type { Agent } from "./catalogue.ts";
import type { JsonLine } from "./jsonFields.ts";

/** A running agent, as far as its conversation is concerned. */
export interface AgentProgram {
  /** Its process, and those that it has started. */
  readonly pids: readonly number[];
  /** As in `ProcessStat`. */
  readonly start: string;
  /** Undefined where the host does not know when it was started. */
  readonly startedUnixMs: number | undefined;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Files that any of the processes has open. */
  readonly openFiles: readonly string[];
  /** What is known so far: told by a hook, or given at its start. */
  readonly sessionId: string | undefined;
  readonly transcriptPath: string | undefined;
  /** Conversations of other agents that run. */
  readonly taken: ReadonlySet<string>;
}

export interface AgentSession {
  readonly sessionId: string;
  /** Absolute; undefined as long as nothing has been written. */
  readonly transcriptPath: string | undefined;
}

export interface Said {
  readonly by: "user" | "agent";
  readonly text: string;
  readonly unixMs: number;
}

export interface AgentTranscript {
  /**
   * The conversation that the process has now: by a file that names the process, a file that it has open, or what is known;
   * else the only one in its directory that began after the process did. Undefined if there are none or several.
   */
  readonly session: (program: AgentProgram) => Promise<AgentSession | undefined>;
  /** What was said at the end of a conversation, oldest first. */
  readonly said: (session: AgentSession) => Promise<readonly Said[]>;
  /** Arguments with which a new conversation gets a known id or file. */
  readonly begin?: ((id: string, place: Pick<AgentProgram, "cwd" | "environment">) => BegunSession) | undefined;
}

export interface BegunSession {
  readonly args: readonly string[];
  readonly sessionId?: string | undefined;
  readonly transcriptPath?: string | undefined;
}

/** By the agents' names; those of whose conversations nothing is known are not here. */
export type AgentTranscripts = ReadonlyMap<string, AgentTranscript>;

export async function loadTranscripts(agents: readonly Agent[]): Promise<AgentTranscripts> {
  const names = agents.filter(({ transcript }) => transcript === true).map(({ name }) => name);
  const load = async (name: string) => {
    const { transcript } = (await import(`./${name}/${name}Transcript.ts`)) as { readonly transcript: AgentTranscript };
    return [name, transcript] as const;
  };
  return new Map(await Promise.all(names.map(load)));
}

/** The agent's own directory: in the variable's value if it is set, else below the home directory. */
export function directoryOf(
  { environment }: Pick<AgentProgram, "environment">,
  variable: string,
  below: readonly string[],
): string {
  const chosen = environment[variable];
  return chosen === undefined || chosen === "" ? join(environment["HOME"] ?? "/", ...below) : chosen;
}

/** A turn's last words are at the end; one line may hold a system prompt. */
const MAX_TAIL_BYTES = 2_097_152;
const MAX_HEAD_BYTES = 65_536;
/** A directory of conversations with more files than this is not searched. */
const MAX_FILES = 20_000;

const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** A part of one of our own regular files; undefined if it is anything else, or not there. */
async function partOf(
  path: string,
  maxBytes: number,
  from: "start" | "end",
): Promise<{ readonly bytes: Buffer; readonly at: number } | undefined> {
  const file = await open(path, READ_FLAGS).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || !isOwn(stats.uid)) return undefined;
    const at = from === "start" ? 0 : Math.max(0, stats.size - maxBytes);
    const buffer = Buffer.alloc(Math.min(maxBytes, stats.size));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    return { bytes: buffer.subarray(0, bytesRead), at };
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

const objectIn = (line: string): readonly JsonLine[] => {
  const fields = fieldsOf(parseJson(line));
  return fields === undefined ? [] : [fields];
};

/** The last lines of a file of JSON lines: whole lines only, as the agent may be writing the next one. */
async function lastLines(path: string): Promise<readonly JsonLine[]> {
  const part = await partOf(path, MAX_TAIL_BYTES, "end");
  if (part === undefined) return [];
  const text = part.bytes.toString("utf8");
  const begin = part.at === 0 ? 0 : text.indexOf("\n") + 1;
  return text
    .slice(begin, text.lastIndexOf("\n") + 1)
    .split("\n")
    .flatMap(objectIn);
}

export async function firstLine(path: string): Promise<JsonLine | undefined> {
  const part = await partOf(path, MAX_HEAD_BYTES, "start");
  const text = part?.bytes.toString("utf8") ?? "";
  return objectIn(text.slice(0, Math.max(0, text.indexOf("\n"))))[0];
}

/** A small file that is one JSON object. */
export async function objectFile(path: string): Promise<JsonLine | undefined> {
  const part = await partOf(path, MAX_HEAD_BYTES, "start");
  return part === undefined ? undefined : objectIn(part.bytes.toString("utf8"))[0];
}

/** Names in a directory; none if it is not there. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.length > MAX_FILES ? [] : names;
}

/** The only session that began after the program did and is nobody else's. */
export function onlyNew<Session extends AgentSession & { readonly begunUnixMs: number }>(
  { startedUnixMs, taken }: AgentProgram,
  sessions: readonly Session[],
): Session | undefined {
  if (startedUnixMs === undefined) return undefined;
  const own = sessions.filter((each) => each.begunUnixMs >= startedUnixMs && !taken.has(each.sessionId));
  return own.length === 1 ? own[0] : undefined;
}

/** The texts of a message's content: a string, or a list of blocks with text. */
function textIn(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((block: unknown) => {
    const { text } = fieldsOf(block) ?? {};
    return typeof text === "string" ? [text] : [];
  });
  return texts.length === 0 ? undefined : texts.join("\n");
}

export const timeIn = (value: unknown): number => (typeof value === "string" ? Date.parse(value) : Number.NaN);

/** `AgentTranscript.said` of a file of JSON lines. @param messagesIn what a line says */
export const saidInLines =
  (messagesIn: (line: JsonLine) => readonly Said[]): AgentTranscript["said"] =>
  async ({ transcriptPath }) =>
    transcriptPath === undefined ? [] : (await lastLines(transcriptPath)).flatMap(messagesIn);

/** One message, if it is the user's or the agent's and has a text and a time. @param agent what its role is called */
export function saidBy(role: unknown, agent: string, content: unknown, timestamp: unknown): readonly Said[] {
  const by = role === agent ? "agent" : role === "user" ? role : undefined;
  const [text, unixMs] = [textIn(content), timeIn(timestamp)];
  if (by === undefined || text === undefined || text.trim() === "" || Number.isNaN(unixMs)) return [];
  return [{ by, text, unixMs }];
}
