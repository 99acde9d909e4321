/**
 * Where notifications go: a private file (`notifications.json` in the state directory), read at the start, replaced at a
 * change. Addresses and tokens are secrets: nothing but a request to the address itself carries them.
 */
import * as v from "valibot";
import { readPrivate, replacePrivate } from "../../../daemon/ops/privateFiles.ts";
import {
  addChannelSchema,
  type ChannelKind,
  type NativeAddChannel,
} from "../../../protocol/api/nativeNotifications.ts";
import { tryParse } from "../../../protocol/api/parse.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import { parseJson } from "../../../protocol/text/jsonObject.ts";

export type Channel = NativeAddChannel & { readonly name: string };

/** Higher numbers are of later versions. */
const VERSION = 1;
const MAX_BYTES = 1_048_576;
export const MAX_CHANNELS = 50;

const fileSchema = v.object({
  version: v.literal(VERSION),
  channels: v.pipe(v.array(v.required(addChannelSchema, ["name"])), v.maxLength(MAX_CHANNELS)),
});

/** @throws AppError CONFIGURATION_INVALID; the file stays as it is */
export function readChannels(path: string): readonly Channel[] {
  const found = readPrivate(path, { maxBytes: MAX_BYTES });
  if (found === undefined) return [];
  const parsed = tryParse(fileSchema, parseJson(found.text ?? ""));
  if (parsed.success) return parsed.output.channels;
  throw new AppError(
    "CONFIGURATION_INVALID",
    `${path} is not a list of notification channels of this version; move it away, and add them again with \`tmuxwire notify add\``,
  );
}

export const writeChannels = (path: string, channels: readonly Channel[]): void =>
  replacePrivate(path, `${JSON.stringify({ version: VERSION, channels }, undefined, 2)}\n`);

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
  if (kind === "ntfy" && !NTFY_TOPIC.test(topicOf(address))) {
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
