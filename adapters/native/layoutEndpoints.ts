/** The endpoints about windows, panes and what happens to them: one for each operation, from the table of their bodies. */
import { LAYOUT_OPERATIONS, layoutOperationNames, layoutResultSchema } from "../../protocol/api/nativeLayout.ts";
import { eventsQuerySchema } from "../../protocol/api/nativeRequests.ts";
import { treeSchema, windowsSchema } from "../../protocol/api/nativeTree.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import type { Endpoint } from "./endpoints.ts";

const SERVER = "/v1/servers/:server";

const ERRORS: readonly ErrorCode[] = [
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "INCONSISTENT_STATE",
  "RESOURCE_LIMIT",
  "TMUX_COMMAND_FAILED",
  "CONNECTION_LOST",
];

export const LAYOUT_ENDPOINTS: readonly Endpoint[] = [
  {
    id: "listWindows",
    method: "GET",
    path: `${SERVER}/windows`,
    summary: "Windows of all sessions, with their layouts.",
    auth: true,
    answer: windowsSchema,
    errors: ["NOT_FOUND"],
  },
  {
    id: "tree",
    method: "GET",
    path: `${SERVER}/tree`,
    summary: "Sessions, windows, layouts and panes, and the event that they are after.",
    auth: true,
    answer: treeSchema,
    errors: ["NOT_FOUND"],
  },
  {
    id: "serverEvents",
    method: "GET",
    path: `${SERVER}/events`,
    summary: "Everything that happens to sessions, windows and panes, as server-sent events; the whole tree first.",
    auth: true,
    query: eventsQuerySchema,
    answer: "events",
    errors: ["INVALID_ARGUMENT", "NOT_FOUND"],
  },
  ...layoutOperationNames.map((name): Endpoint => ({
    id: name,
    method: "POST",
    path: `${SERVER}/layout/${name}`,
    summary: LAYOUT_OPERATIONS[name].summary,
    auth: true,
    body: LAYOUT_OPERATIONS[name].body,
    answer: layoutResultSchema,
    errors: ERRORS,
  })),
];
