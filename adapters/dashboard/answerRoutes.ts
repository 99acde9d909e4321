/** `POST /api/answers`: a button of a notification was pressed (docs/notifications.md, "Answers"). */
import { pressedSchema, pressSchema } from "../../protocol/api/native/nativeNotifications.ts";
import { parse } from "../../protocol/api/parse.ts";
import { AppError } from "../../protocol/errors.ts";
import type { NativeDelivery } from "../../protocol/api/native/nativeDelivery.ts";
import type { AgentNotifier } from "../agents/notify/agentNotifier.ts";
import type { Route } from "../kit/guard/routes.ts";
import type { OperationContext } from "../operations/operation.ts";
import { OPERATIONS } from "../operations/operationTable.ts";
import { perform } from "../operations/perform.ts";
import { REFUSED } from "./dashboardRoutes.ts";

const MAX_BODY_BYTES = 1_024;
/** These were typed as they should be. */
const SURE: ReadonlySet<NativeDelivery["outcome"]> = new Set(["submitted", "queued"]);

/** Without any other credential: the token is for one answer to one question, which may be of any agent of the daemon. */
export function answerRoutes(notifier: AgentNotifier, operations: OperationContext): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/api/answers",
      auth: false,
      request: pressSchema,
      maxJsonBytes: MAX_BODY_BYTES,
      response: { ...REFUSED, 200: pressedSchema },
      errors: [...OPERATIONS.answerAgent.errors, "INVALID_ARGUMENT", "NOT_FOUND", "RESOURCE_LIMIT", "WRONG_STATE"],
      handle: async (c) => {
        const { token, option } = parse(pressSchema, c.get("json"));
        const words = await notifier.answer(token, option, async ({ agent, dialogId, index }) => {
          const input = { answer: { kind: "option", index }, dialogId };
          const { outcome } = (await perform(operations, "answerAgent", {
            names: { agent },
            input,
            by: "notification",
          })) as NativeDelivery;
          if (SURE.has(outcome)) return;
          throw new AppError("WRONG_STATE", `the answer is ${outcome}; look at the agent on the dashboard`);
        });
        return c.json({ status: "ok", words } as const);
      },
    },
  ];
}
