/** Every operation, each once. The compiler checks that none is missing and each has a route. */
import type { OperationName } from "../../protocol/api/operationRoutes.ts";
import { invalidArgument } from "../../protocol/errors.ts";
import { agentStartOperations } from "./agents/agentStartOperations.ts";
import { agentMessageOperations } from "./agents/agentMessageOperations.ts";
import { agentOperations } from "./agents/agentOperations.ts";
import { deliveryOperations } from "./panes/deliveryOperations.ts";
import { hostOperations } from "./hostOperations.ts";
import { notificationOperations } from "./agents/notificationOperations.ts";
import type { Operation } from "./operation.ts";
import { paneOperations } from "./panes/paneOperations.ts";
import { recordingOperations } from "./panes/recordingOperations.ts";
import { serverOperations } from "./serverOperations.ts";
import { timelineOperations } from "./agents/timelineOperations.ts";
import { waitOperations } from "./panes/waitOperations.ts";
import { windowOperations } from "./panes/windowOperations.ts";

export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  ...serverOperations,
  ...paneOperations,
  ...waitOperations,
  ...deliveryOperations,
  ...recordingOperations,
  ...windowOperations,
  ...agentOperations,
  ...agentStartOperations,
  ...agentMessageOperations,
  ...timelineOperations,
  ...hostOperations,
  ...notificationOperations,
};

/** @throws AppError INVALID_ARGUMENT */
export function operationNamed(text: string): OperationName {
  if (Object.hasOwn(OPERATIONS, text)) return text as OperationName;
  const known = Object.keys(OPERATIONS).join(", ");
  throw invalidArgument(`there is no operation ${JSON.stringify(text)}; use one of ${known}`);
}
