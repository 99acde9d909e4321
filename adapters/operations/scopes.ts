/** The scopes of operations, without what finds their targets: command lines load this. */
import type { OperationNames } from "../../protocol/api/operationRoutes.ts";
import type { Scope } from "./operation.ts";

/** The names each scope requires, in the order in which they are resolved. */
export const SCOPE_NAMES = {
  daemon: [],
  server: ["server"],
  session: ["server", "session"],
  pane: ["server", "pane"],
  recording: ["recording"],
  agent: ["agent"],
  worktree: ["worktree"],
  message: ["message"],
  host: ["host"],
  notification: ["notification"],
} as const satisfies Readonly<Record<Scope, readonly (keyof OperationNames)[]>>;
