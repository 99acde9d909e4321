/**
 * Where notifications go: a private file (`notifications.json` in the state directory), read at the start, replaced at a
 * change. Addresses and tokens are secrets: nothing but a request to the address itself carries them.
 */
import { ECDH } from "node:crypto";
import * as v from "valibot";
import { privateList } from "../../../daemon/ops/privateList.ts";
import {
  type AddPush,
  addChannelSchema,
  addPushSchema,
  type ChannelKind,
  type NativeAddChannel,
} from "../../../protocol/api/native/nativeNotifications.ts";
import { invalidArgument } from "../../../protocol/errors.ts";

interface Named {
  readonly name: string;
}
export type PushChannel = AddPush & Named;
export type Channel = (NativeAddChannel & Named) | PushChannel;

export const MAX_CHANNELS = 50;

export const { read: readChannels, write: writeChannels } = privateList({
  member: "channels",
  item: v.variant("kind", [v.required(addChannelSchema, ["name"]), v.required(addPushSchema, ["name"])]),
  maxItems: MAX_CHANNELS,
  title: "notification channels",
  addedWith: "tmuxwire notify add",
});

const NTFY_TOPIC = /^[-_A-Za-z0-9]{1,64}$/;

/** @throws AppError INVALID_ARGUMENT naming `url`, `token` or `keys` */
export function requireAddress(given: NativeAddChannel | AddPush): void {
  const { url } = given;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw invalidArgument("url: must begin with https:// or http://");
  }
  const address = new URL(url);
  if (address.username !== "" || address.password !== "") {
    throw invalidArgument("url: leave out name and password; give a token instead");
  }
  if (given.kind === "push") return requirePush(given, address);
  const { kind, token, answers, text } = given;
  if (kind === "ntfy" && (!NTFY_TOPIC.test(topicOf(address)) || address.search !== "" || address.hash !== "")) {
    throw invalidArgument("url: must end in a topic, such as https://ntfy.sh/TOPIC");
  }
  if (token !== undefined && TAKES_NO_TOKEN.has(kind)) {
    throw invalidArgument(`token: ${kind} takes none; the secret is in its url`);
  }
  if (answers !== undefined) {
    if (kind !== "ntfy") throw invalidArgument(`answers: ${kind} has no buttons that answer; leave it out`);
    if (text === false) throw invalidArgument("answers: needs `text`: buttons show options");
    requireOwnAddress(answers);
  }
  if (token !== undefined && !/^[!-~]+$/.test(token)) {
    throw invalidArgument("token: must be printable ASCII without blanks");
  }
}

/** A page gives these: no push service is asked in plain text, but for one on this machine. */
function requirePush({ keys, answers, text }: AddPush, { protocol, hostname }: URL): void {
  if (protocol !== "https:" && !LOOPBACK.has(hostname)) throw invalidArgument("url: must begin with https://");
  if (answers === true && text === false) throw invalidArgument("answers: needs `text`: buttons show options");
  try {
    ECDH.convertKey(keys.p256dh, "prime256v1", "base64url");
  } catch {
    throw invalidArgument("keys.p256dh: must be a point of P-256 in base64url, as the browser gives it");
  }
  if (!/^[A-Za-z0-9_-]{22}$/.test(keys.auth)) {
    throw invalidArgument("keys.auth: must be 16 bytes in base64url, as the browser gives them");
  }
}

/** Tokens are sent there. */
function requireOwnAddress(answers: string): void {
  const address = URL.canParse(answers) ? new URL(answers) : undefined;
  const isSafe = address?.protocol === "https:" || (address?.protocol === "http:" && LOOPBACK.has(address.hostname));
  if (!isSafe || address.href !== `${address.origin}/`) {
    throw invalidArgument("answers: must be the dashboard's address, such as https://work.example, without a path");
  }
}

/** Whose questions have buttons have text. */
export const sendsText = ({ text, answers }: Channel): boolean =>
  text === true || (answers !== undefined && answers !== false);

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

const TAKES_NO_TOKEN: ReadonlySet<ChannelKind> = new Set(["slack", "discord"]);

export const topicOf = ({ pathname }: URL): string => pathname.slice(pathname.lastIndexOf("/") + 1);

/** For lists and messages: paths and queries of webhooks are secrets, and so are topics. */
export const withoutSecrets = (url: string): string => `${new URL(url).origin}/...`;
