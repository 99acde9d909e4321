/** The events that a parser makes of a program's lines, without the fields that are the same for the whole session. */
import type { NormalizedEvent } from "../../protocol/api/freshell/sessionEvents.ts";
import type { JsonLine } from "../freshell/sessions/sessionProgram.ts";

export type CodingEvent = Omit<NormalizedEvent, "timestamp" | "sessionId" | "provider" | "sequenceNumber">;
export type CodingParser = (line: JsonLine) => readonly CodingEvent[];
