/** What the dashboard's rows have in common, and the rows of recordings. */
import type { Context } from "hono";
import { refusalSchema } from "../../protocol/api/dashboard.ts";
import { recordingsSchema } from "../../protocol/api/native/nativeRecordings.ts";
import { AppError } from "../../protocol/errors.ts";
import { type Fields, fieldsOf } from "../../protocol/text/jsonObject.ts";
import { parseJsonText } from "../kit/guard/jsonText.ts";
import { nativeRecording, recordingResponse, requireRecordings } from "../operations/panes/recordingOperations.ts";
import type { GuardEnv } from "../kit/guard/requestGuard.ts";
import type { Route } from "../kit/guard/routes.ts";
import type { DashboardParts } from "./dashboardParts.ts";

export const GET = { method: "GET", auth: true } as const;
export const POST = { method: "POST", auth: true } as const;

/** The statuses of refusals and failures of what reaches a pane. */
export const REFUSED = Object.fromEntries([400, 404, 409, 429, 500, 502, 503].map((status) => [status, refusalSchema]));

const MAX_ID_DIGITS = 15;
const MAX_NAME_CHARS = 64;

/** @throws AppError NOT_FOUND */
export function agentIdOf(c: Context<GuardEnv>): number {
  const id = c.req.param("id") ?? "";
  if (id.length > MAX_ID_DIGITS) throw new AppError("NOT_FOUND", "Not found.");
  return Number(id);
}

/** @throws AppError NOT_FOUND */
export function nameIn(c: Context<GuardEnv>, param: string): string {
  const name = c.req.param(param) ?? "";
  if (name.length > MAX_NAME_CHARS) throw new AppError("NOT_FOUND", "Not found.");
  return name;
}

/** Undefined for a body that is no JSON. */
export function bodyValue(bytes: Uint8Array): unknown {
  try {
    return parseJsonText(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Undefined for a body that is no JSON object. */
export const bodyFields = (bytes: Uint8Array): Fields | undefined => fieldsOf(bodyValue(bytes));

export function recordingRoutes({ operations }: DashboardParts): readonly Route[] {
  return [
    {
      ...GET,
      path: "/api/recordings",
      head: true,
      response: { 200: recordingsSchema },
      errors: ["NOT_FOUND", "INVALID_ARGUMENT"],
      handle: (c) => c.json({ recordings: requireRecordings(operations).list().map(nativeRecording) }),
    },
    {
      ...GET,
      path: "/api/recordings/:recording{[0-9A-Za-z-]+}/file",
      response: { 200: "application/x-asciicast" },
      errors: ["NOT_FOUND", "INVALID_ARGUMENT"],
      handle: (c) => recordingResponse(operations, nameIn(c, "recording")),
    },
  ];
}
