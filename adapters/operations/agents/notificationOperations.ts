/** Where people are told what agents need when no page is open: list, add, test, remove. */
import {
  addChannelSchema,
  channelSchema,
  channelsSchema,
  type NativeChannel,
} from "../../../protocol/api/native/nativeNotifications.ts";
import { emptyRequestSchema } from "../../../protocol/api/native/nativeRequests.ts";
import type { AgentNotifier } from "../../agents/notify/agentNotifier.ts";
import { JUST_DONE, operation, type OperationContext, requirePart } from "../operation.ts";

const EXAMPLE_CHANNEL: NativeChannel = {
  name: "phone",
  kind: "ntfy",
  url: "https://ntfy.sh/...",
  on: ["asking", "host"],
  answers: false,
  text: false,
  quiet: "22:00-07:00",
  waiting: 0,
  lost: 0,
  sentUnixMs: 1_795_149_767_000,
  failingSinceUnixMs: null,
  why: null,
};

export const notificationOperations = {
  listChannels: operation({
    summary: "List where notifications go.",
    description: "Each channel with what it is told and whether it can be reached. Addresses are secrets and are cut.",
    scope: "daemon",
    input: emptyRequestSchema,
    output: channelsSchema,
    errors: ["INVALID_ARGUMENT"],
    example: { input: {}, output: { channels: [EXAMPLE_CHANNEL] } },
    run: (context) => ({ channels: requireNotifier(context).list() }),
  }),

  addChannel: operation({
    summary: "Send notifications somewhere.",
    description:
      "When an agent asks, is done, has ended or stalls, or a host is away. A question that is answered within two seconds is not told; one that was told is taken back where the channel can.",
    scope: "daemon",
    input: addChannelSchema,
    output: channelSchema,
    errors: ["INVALID_ARGUMENT", "ALREADY_EXISTS", "RESOURCE_LIMIT", "INCONSISTENT_STATE", "SHUTTING_DOWN"],
    example: {
      input: { kind: "ntfy", url: "https://ntfy.sh/my-agents", name: "phone", on: ["asking", "host"] },
      output: EXAMPLE_CHANNEL,
    },
    run: (context, _target, channel) => requireNotifier(context).add(channel),
  }),

  testChannel: operation({
    summary: "Send a test notification.",
    scope: "notification",
    ...JUST_DONE,
    errors: ["INVALID_ARGUMENT", "NOT_FOUND", "DAEMON_UNREACHABLE"],
    long: true,
    run: async (_context, { channel, notifier }) => {
      await notifier.test(channel);
      return { ok: true } as const;
    },
  }),

  removeChannel: operation({
    summary: "Send notifications somewhere no longer.",
    description: "What waits for it is not sent.",
    scope: "notification",
    ...JUST_DONE,
    errors: ["INVALID_ARGUMENT", "NOT_FOUND"],
    run: (_context, { channel, notifier }) => {
      notifier.remove(channel);
      return { ok: true } as const;
    },
  }),
} as const;

/** @throws AppError INVALID_ARGUMENT */
export const requireNotifier = ({ notifier }: Pick<OperationContext, "notifier">): AgentNotifier =>
  requirePart(notifier, "sends no notifications; run the daemon of `tmuxwire serve`");
