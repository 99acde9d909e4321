/** Every operation, each once. The compiler sees that none is missing and none has no route. */
import type { OperationName } from "../../protocol/api/operationRoutes.ts";
import { deliveryOperations } from "./deliveryOperations.ts";
import type { Operation } from "./operation.ts";
import { paneOperations } from "./paneOperations.ts";
import { serverOperations } from "./serverOperations.ts";
import { waitOperations } from "./waitOperations.ts";
import { windowOperations } from "./windowOperations.ts";

export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  ...serverOperations,
  ...paneOperations,
  ...waitOperations,
  ...deliveryOperations,
  ...windowOperations,
};
