/**
 * Where notifications go: a private file (`notifications.json` in the state directory), read at the start, replaced at a
 * change. Addresses and tokens are secrets: nothing but a request to the address itself carries them.
 */
import * as v from "valibot";
import { privateList } from "../../../daemon/ops/privateList.ts";
import {
  addChannelSchema,
  type ChannelKind,
  type NativeAddChannel,
} from "../../../protocol/api/nativeNotifications.ts";
import { invalidArgument } from "../../../protocol/errors.ts";

export type Channel = NativeAddChannel & { readonly name: string };

export const MAX_CHANNELS = 50;

export const { read: readChannels, write: writeChannels } = privateList({
  member: "channels",
  item: v.required(addChannelSchema, ["name"]),
  maxItems: MAX_CHANNELS,
  title: "notification channels",
  addedWith: "tmuxwire notify add",
});

const NTFY_TOPIC = /^[-_A-Za-z0-9]{1,64}$/;

/** @throws AppError INVALID_ARGUMENT naming `url` or `token` */
export function requireAddress({ kind, url, token }: Pick<NativeAddChannel, "kind" | "url" | "token">): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw invalidArgument("url: must begin with https:// or http://");
  }
  const address = new URL(url);
  if (address.username !== "" || address.password !== "") {
    throw invalidArgument("url: leave out name and password; give a token instead");
  }
  if (kind === "ntfy" && (!NTFY_TOPIC.test(topicOf(address)) || address.search !== "" || address.hash !== "")) {
    throw invalidArgument("url: must end in a topic, such as https://ntfy.sh/TOPIC");
  }
  if (token !== undefined && TAKES_NO_TOKEN.has(kind)) {
    throw invalidArgument(`token: ${kind} takes none; the secret is in its url`);
  }
  if (token !== undefined && !/^[!-~]+$/.test(token)) {
    throw invalidArgument("token: must be printable ASCII without blanks");
  }
}

const TAKES_NO_TOKEN: ReadonlySet<ChannelKind> = new Set(["slack", "discord"]);

export const topicOf = ({ pathname }: URL): string => pathname.slice(pathname.lastIndexOf("/") + 1);

/** For lists and messages: paths and queries of webhooks are secrets, and so are topics. */
export const withoutSecrets = (url: string): string => `${new URL(url).origin}/...`;
