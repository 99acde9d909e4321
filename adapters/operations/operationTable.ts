/** Every operation, each once. The compiler checks that none is missing and each has a route. */
import type { OperationName } from "../../protocol/api/operationRoutes.ts";
import { AppError } from "../../protocol/errors.ts";
import { agentStartOperations } from "./agentStartOperations.ts";
import { agentMessageOperations } from "./agentMessageOperations.ts";
import { agentOperations } from "./agentOperations.ts";
import { deliveryOperations } from "./deliveryOperations.ts";
import { hostOperations } from "./hostOperations.ts";
import { notificationOperations } from "./notificationOperations.ts";
import type { Operation } from "./operation.ts";
import { paneOperations } from "./paneOperations.ts";
import { recordingOperations } from "./recordingOperations.ts";
import { serverOperations } from "./serverOperations.ts";
import { timelineOperations } from "./timelineOperations.ts";
import { waitOperations } from "./waitOperations.ts";
import { windowOperations } from "./windowOperations.ts";

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
  throw new AppError("INVALID_ARGUMENT", `there is no operation ${JSON.stringify(text)}; use one of ${known}`);
}
