/**
 * `/api/push`: the page's browser as a channel of notifications (docs/contracts/dashboard.md §5), and `/api/answers`: a
 * button of a notification was pressed (docs/notifications.md, "Answers").
 */
import * as v from "valibot";
import type { GenericSchema } from "valibot";
import {
  addPushSchema,
  browserSchema,
  channelSchema,
  pushKeySchema,
  pressedSchema,
  pressSchema,
} from "../../protocol/api/native/nativeNotifications.ts";
import { okSchema } from "../../protocol/api/native/nativeResponses.ts";
import { parse } from "../../protocol/api/parse.ts";
import type { AgentNotifier } from "../agents/notify/agentNotifier.ts";
import type { Route } from "../kit/guard/routes.ts";
import { SMALL_MAX_BODY_BYTES } from "./dashboardLimits.ts";
import type { DashboardParts } from "./dashboardParts.ts";
import { GET, POST, REFUSED } from "./dashboardRoutes.ts";
import { AppError, type ErrorCode } from "../../protocol/errors.ts";
import type { NativeDelivery } from "../../protocol/api/native/nativeDelivery.ts";
import type { OperationContext } from "../operations/operation.ts";
import { OPERATIONS } from "../operations/operationTable.ts";
import { perform } from "../operations/perform.ts";

const subscribeSchema = v.omit(addPushSchema, ["kind"]);

/** For whoever may type into the agents' panes, which is more than to be told of them. */
export function pushRoutes({ notifier, operations }: DashboardParts): readonly Route[] {
  type Channel = ReturnType<AgentNotifier["browser"]>;
  const ofBrowser = (
    path: string,
    response: GenericSchema,
    errors: readonly ErrorCode[],
    onBrowser: (channel: Channel) => object | Promise<object>,
  ): Route => ({
    ...POST,
    path,
    request: browserSchema,
    maxJsonBytes: SMALL_MAX_BODY_BYTES,
    response: { 200: response },
    errors: ["INVALID_ARGUMENT", "NOT_FOUND", ...errors],
    handle: async (c) => c.json(await onBrowser(notifier.browser(parse(browserSchema, c.get("json")).url))),
  });
  return [
    {
      ...GET,
      path: "/api/push/key",
      response: { 200: pushKeySchema },
      errors: ["CONFIGURATION_INVALID", "INCONSISTENT_STATE"],
      handle: async (c) => c.json({ key: await notifier.pushKey() }),
    },
    {
      ...POST,
      path: "/api/push",
      request: subscribeSchema,
      maxJsonBytes: SMALL_MAX_BODY_BYTES,
      response: { 200: channelSchema },
      errors: ["INVALID_ARGUMENT", "RESOURCE_LIMIT", "INCONSISTENT_STATE", "SHUTTING_DOWN"],
      handle: (c) => c.json(notifier.add({ ...parse(subscribeSchema, c.get("json")), kind: "push" })),
    },
    ofBrowser("/api/push/show", channelSchema, [], (channel) => channel),
    ofBrowser("/api/push/test", okSchema, ["DAEMON_UNREACHABLE"], async ({ name }) => {
      await notifier.test(name);
      return { ok: true };
    }),
    ofBrowser("/api/push/remove", okSchema, [], ({ name }) => {
      notifier.remove(name);
      return { ok: true };
    }),
    answerRoute(notifier, operations),
  ];
}

const MAX_BODY_BYTES = 1_024;
/** These were typed as they should be. */
const SURE: ReadonlySet<NativeDelivery["outcome"]> = new Set(["submitted", "queued"]);

/** Without any other credential: the token is for one answer to one question, which may be of any agent of the daemon. */
const answerRoute = (notifier: AgentNotifier, operations: OperationContext): Route => ({
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
});
