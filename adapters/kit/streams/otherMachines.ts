/** The other machines for a contract that has a page: what is on them, also as streams. */
import type { Context } from "hono";
import type { OperationNames } from "../../../protocol/api/operationRoutes.ts";
import type { Hosts } from "../../operations/operation.ts";
import type { GuardEnv } from "../guard/requestGuard.ts";
import type { EventReader } from "./eventLog.ts";
import type { eventResponse } from "./eventResponse.ts";
import type { SseWriter } from "./sseWriter.ts";

export interface OtherMachines extends Hosts {
  /** The machines and their agents, as events (`HostEvent`). */
  readAgents(out: Pick<SseWriter, "room" | "write">): EventReader;
  /** The stream of a pane there, with the request's query. @throws AppError NOT_FOUND, and what the daemon there says */
  followPane(
    c: Context<GuardEnv>,
    names: Required<Pick<OperationNames, "server" | "pane">>,
    options: Omit<Parameters<typeof eventResponse>[1], "read">,
  ): Promise<Response>;
}
