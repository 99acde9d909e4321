/**
 * Notifications: what is told outside a page when an agent asks, is done, has ended or stalls, or a host is away
 * (docs/notifications.md).
 */
import * as v from "valibot";
import { count, described, filled, named, optional, orNull } from "../described.ts";

const CHANNEL_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;
const CLOCK_RANGE = /^(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d$/;

/** Those with an address that a person gives. */
export const ADDRESS_KINDS = ["ntfy", "slack", "discord", "webhook"] as const;
const addressKind = v.picklist(ADDRESS_KINDS);
/** `push` is made by the dashboard's page, for the browser that shows it. */
const channelKind = v.picklist([...ADDRESS_KINDS, "push"]);
export type ChannelKind = v.InferOutput<typeof channelKind>;

export const NOTICE_KINDS = ["asking", "done", "ended", "stalled", "host"] as const;
const noticeKind = v.picklist(NOTICE_KINDS);
export type NoticeKind = v.InferOutput<typeof noticeKind>;
/** `stalled` has the output of every busy agent followed. */
export const DEFAULT_NOTICES: readonly NoticeKind[] = ["asking", "done", "ended", "host"];

const on = v.pipe(v.array(noticeKind), v.minLength(1), v.maxLength(NOTICE_KINDS.length));

export const addChannelSchema = v.strictObject({
  name: optional(
    v.pipe(v.string(), v.regex(CHANNEL_NAME, "must be up to 64 letters, digits, `.`, `_` and `-`")),
    "Its name; default: its kind, with a number if that is taken.",
  ),
  kind: described(addressKind, "What the address is for."),
  url: described(
    filled(2_048),
    "Where it is sent: an ntfy topic such as `https://ntfy.sh/TOPIC`, or the URL of a webhook. Kept secret.",
  ),
  token: optional(filled(4_096), "Sent as `Authorization: Bearer`, to ntfy and plain webhooks. Kept secret."),
  on: optional(on, "What is told: `asking`, `done`, `ended`, `stalled`, `host`; default: all but `stalled`."),
  text: optional(
    v.boolean(),
    "Send the question's text and an agent's last words, too. Default: only the names of agent, program and project.",
  ),
  quiet: optional(
    v.pipe(v.string(), v.regex(CLOCK_RANGE, "must be two times of day, such as `22:00-07:00`")),
    "When nothing is sent, by the daemon's clock: `22:00-07:00`. What is still true afterwards is sent then.",
  ),
  answers: optional(
    filled(2_048),
    "Only ntfy: where the phone reaches the dashboard, such as `https://work.example`. Questions then have buttons that answer them, and their text is sent.",
  ),
});
export type NativeAddChannel = v.InferOutput<typeof addChannelSchema>;

/** What a browser's `PushSubscription` is as JSON, and what its page chose (docs/contracts/dashboard.md §5). */
export const addPushSchema = v.strictObject({
  name: addChannelSchema.entries.name,
  kind: v.literal("push"),
  /** The push service's address for this browser. Secret. */
  url: filled(2_048),
  keys: v.strictObject({ p256dh: filled(128), auth: filled(64) }),
  on: addChannelSchema.entries.on,
  text: addChannelSchema.entries.text,
  quiet: addChannelSchema.entries.quiet,
  /** Questions have buttons that answer them, and their text is sent. */
  answers: v.exactOptional(v.boolean()),
});
export type AddPush = v.InferOutput<typeof addPushSchema>;

export const channelSchema = v.object({
  name: named(v.string(), "Its name."),
  kind: described(channelKind, "What it is: an address of this kind, or `push`, a browser."),
  url: described(v.string(), "Where it is sent; what is secret is left out."),
  on: described(v.array(noticeKind), "What is told."),
  answers: described(v.boolean(), "Whether questions have buttons that answer them."),
  text: described(v.boolean(), "Whether text of questions and last words is sent."),
  quiet: orNull(v.string(), "When nothing is sent; null: never."),
  waiting: count("Notifications that are not sent yet."),
  lost: count("Notifications that could not be sent, since the daemon started."),
  sentUnixMs: orNull(
    v.number(),
    "When one was last sent, since the daemon started: Unix time in milliseconds; null if none was.",
  ),
  failingSinceUnixMs: orNull(v.number(), "Since when nothing can be sent: Unix time in milliseconds; null if it can."),
  why: orNull(v.string(), "Why nothing can be sent, and what to do; null if it can."),
});
export type NativeChannel = v.InferOutput<typeof channelSchema>;

export const channelsSchema = v.object({ channels: described(v.array(channelSchema), "In the order of their names.") });

/** A browser that is notified, by its push service's address for it. */
export const browserSchema = v.strictObject({ url: addPushSchema.entries.url });
/** What a browser subscribes with: a point of P-256, in base64url. */
export const pushKeySchema = v.object({ key: v.string() });

/** What a browser's service worker gets, as JSON. */
export interface PushNotice {
  /** Of all messages about it. */
  readonly id: string;
  readonly event: NoticeKind;
  readonly state: "open" | "withdrawn";
  /** The agent's id, or the host's name. */
  readonly subject: string;
  readonly sinceUnixMs: number;
  /** Foreign text, as all that follows. */
  readonly title: string;
  readonly message?: string;
  /** What its buttons send, and what they show. */
  readonly answer?: { readonly token: string; readonly options: readonly PushOption[] };
}

export interface PushOption {
  readonly option: number;
  readonly label: string;
}

/** A press on a button of a notification. The token is all that it needs, and holds once. */
export const pressSchema = v.strictObject({
  token: filled(128),
  option: v.pipe(v.number(), v.integer(), v.minValue(0)),
});
/** What becomes of the notification. */
export const pressedSchema = v.object({ status: v.literal("ok"), words: v.string() });
