/** What the parser of a program's lines makes of each: events without what is the same for all of a session. */
import type { NormalizedEvent } from "../../protocol/api/freshell/sessionEvents.ts";
import type { JsonLine } from "./sessionProgram.ts";

export type CodingEvent = Omit<NormalizedEvent, "timestamp" | "sessionId" | "provider" | "sequenceNumber">;
export type CodingParser = (line: JsonLine) => readonly CodingEvent[];
