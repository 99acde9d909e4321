/**
 * An agent's JSON mode: how it is started, and what its lines mean. Each stands in `NAMEStream.ts` of the agent's folder
 * and is loaded from there.
 */
import type { NormalizedEvent } from "../../protocol/api/freshell/sessionEvents.ts";
import type { CodingOptions, SdkOptions } from "../../protocol/api/freshell/sessions.ts";
import type { Agent } from "./catalogue.ts";
import type { JsonLine } from "./jsonFields.ts";

/** The events that a parser makes of a program's lines, without the fields that are the same for the whole session. */
export type CodingEvent = Omit<NormalizedEvent, "timestamp" | "sessionId" | "provider" | "sequenceNumber">;
export type CodingParser = (line: JsonLine) => readonly CodingEvent[];

export interface AgentStream {
  /** For one prompt. @throws AppError INVALID_ARGUMENT */
  readonly promptArgs: (options: CodingOptions) => readonly string[];
  /** One for each session. */
  readonly parser: () => CodingParser;
  /** For a conversation, with JSON both ways, where it has that. @throws AppError INVALID_ARGUMENT */
  readonly conversationArgs?: ((options: SdkOptions) => readonly string[]) | undefined;
  /** Whether an id has the form of its sessions'; absent: any may. */
  readonly isSession?: ((id: string) => boolean) | undefined;
}

/** By the agents' names; those without a JSON mode are not here. */
export type AgentStreams = ReadonlyMap<string, AgentStream>;

export async function loadStreams(agents: readonly Agent[]): Promise<AgentStreams> {
  const names = agents.filter(({ stream }) => stream !== undefined).map(({ name }) => name);
  const load = async (name: string) => {
    const { stream } = (await import(`./${name}/${name}Stream.ts`)) as { readonly stream: AgentStream };
    return [name, stream] as const;
  };
  return new Map(await Promise.all(names.map(load)));
}

/** An option with its value, where there is one. */
export const option = (name: string, value: string | number | undefined): readonly string[] =>
  value === undefined ? [] : [name, String(value)];

/** A prompt that begins with a dash would be taken for an option, or for the end of them. */
export const isPlain = (prompt: string): boolean => !prompt.startsWith("-");
