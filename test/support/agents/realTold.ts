/** What a delivery to a real program has told, and a trace of every try. */
import { appendFileSync } from "node:fs";
import type { SubmitResult } from "../../../daemon/delivery/delivery.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { RealAgentName } from "./realAgents.ts";

/** Each try by itself, into the file REAL_TRACE. */
export function trace(name: RealAgentName, entry: object): void {
  const file = process.env["REAL_TRACE"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ name, ...entry })}\n`);
}

/** A delivery's outcome, or the code and the reason of its refusal. */
export async function told(
  delivery: Promise<SubmitResult>,
): Promise<{ readonly outcome: string; readonly details: object }> {
  try {
    const result = await delivery;
    return { outcome: result.outcome, details: result };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message, details = {} } = error;
    const reason = details["reason"] ?? details["state"];
    return { outcome: typeof reason === "string" ? `${code}:${reason}` : code, details: { message, ...details } };
  }
}
