/** What is told of an agent or a host, and the HTTP requests that tell it. Pure. */
import type {
  ChannelKind,
  NoticeKind,
  PushNotice,
  PushOption,
} from "../../../protocol/api/native/nativeNotifications.ts";
import { clip } from "../../../protocol/text/clip.ts";
import { type Channel, sendsText, topicOf } from "./channelBook.ts";

export interface Notice {
  readonly id: string;
  readonly kind: NoticeKind;
  /** The agent's id, or the host's name. */
  readonly subject: string;
  /** The agent's or the host's. */
  readonly name: string;
  /** The title of the agent's program; undefined for a host. */
  readonly program: string | undefined;
  /** The name of the agent's directory. Foreign text. */
  readonly project: string | undefined;
  /** When it became so. */
  readonly sinceUnixMs: number;
}

/** Only for channels that are to have it. Foreign text. */
export interface NoticeText {
  readonly text: string | undefined;
  readonly options: readonly string[];
  /** What the question's buttons send and show; undefined: it has none. */
  readonly answer?: PushNotice["answer"] | undefined;
}

/** How many buttons a channel shows; a browser that shows fewer leaves the last ones out. */
export const MAX_BUTTONS: Readonly<Partial<Record<ChannelKind, number>>> = { ntfy: 3, push: 2 };

export interface HttpRequest {
  readonly method: "POST" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes, or what becomes JSON; undefined: none. */
  readonly body: Uint8Array<ArrayBuffer> | object | undefined;
}

const MAX_TEXT_CHARS = 1_000;
const MAX_NAME_CHARS = 80;
const MAX_OPTIONS = 10;
/** More do not fit on a button. */
const MAX_BUTTON_CHARS = 40;
/** RFC 8291 leaves 3,993 bytes for all of it: of a character's three at most, in JSON. */
const MAX_PUSH_CHARS = { title: 160, message: 800 };
/** What waits for a browser that is off for longer is no news: as long as the outbox tries. */
const PUSH_TTL_SEC = 6 * 3_600;

const HEADLINES: Readonly<Record<NoticeKind, (name: string) => string>> = {
  asking: (name) => `${name} asks a question`,
  done: (name) => `${name} is done`,
  ended: (name) => `${name} has ended`,
  stalled: (name) => `${name} is busy, and its screen has not changed for ten minutes`,
  host: (name) => `The host ${name} is away`,
};
/** What is shown where a browser must show something. */
const SETTLED: Readonly<Record<NoticeKind, string>> = {
  asking: "the question is settled",
  done: "at work again",
  ended: "back",
  stalled: "going on",
  host: "back",
};
/** ntfy's own: 3 is the default, 4 is high. */
const PRIORITY: Readonly<Record<NoticeKind, number>> = { asking: 4, done: 3, ended: 3, stalled: 4, host: 4 };

/** Several of these are one message for a person. */
export const isTogether = (channel: Channel, { kind }: Notice): boolean =>
  channel.kind !== "webhook" && (kind === "done" || kind === "ended");

/** The request that tells it. @param others that are told with it (`isTogether`) */
export function tellRequest(
  channel: Channel,
  notice: Notice,
  { text, options, answer }: NoticeText,
  others: readonly Notice[] = [],
): HttpRequest {
  if (others.length > 0) {
    const all = [notice, ...others];
    const title = `${all.length} agents ${notice.kind === "done" ? "are done" : "have ended"}`;
    const message = all.map((one) => [one.name, place(one)].join(": ")).join("\n");
    return BUILD[channel.kind](channel, { notice, title, message, text: [], answer: undefined });
  }
  const title = HEADLINES[notice.kind](notice.name);
  const chosen = sendsText(channel) ? [...lines(text), ...options.slice(0, MAX_OPTIONS).map(numbered)] : [];
  const message = [place(notice), ...chosen].filter((line) => line !== "").join("\n");
  return BUILD[channel.kind](channel, { notice, title, message, text: chosen, answer });
}

/**
 * The request that takes it back where it has been told; undefined where the channel cannot.
 * @param reference what the channel called it
 * @param note what a button has answered, which is shown in its place
 */
export function withdrawRequest(
  channel: Channel,
  notice: Notice,
  reference: string | undefined,
  note?: string,
): HttpRequest | undefined {
  switch (channel.kind) {
    case "ntfy":
      if (note !== undefined) return ntfy(channel, notice, { title: `${notice.name}: ${note}`, priority: QUIET });
      return remove(channel, `/${notice.id}`);
    case "discord":
      return reference === undefined ? undefined : remove(channel, `/messages/${reference}`);
    case "webhook":
      return post(channel, channel.url, { ...described(notice), state: "withdrawn" });
    case "push":
      return push(channel, notice, {
        state: "withdrawn",
        title: `${shortened(notice.name)}: ${note ?? SETTLED[notice.kind]}`,
      });
    case "slack":
      return undefined;
  }
}

/** What `withdrawRequest` needs, from the response's body. */
export function referenceIn(kind: ChannelKind, body: string): string | undefined {
  return kind === "discord" ? /"id"\s*:\s*"(\d{1,32})"/.exec(body)?.[1] : undefined;
}

interface Content {
  readonly notice: Notice;
  readonly title: string;
  readonly message: string;
  readonly text: readonly string[];
  readonly answer: NoticeText["answer"];
}

const BUILD: Readonly<Record<ChannelKind, (channel: Channel, content: Content) => HttpRequest>> = {
  ntfy: (channel, { notice, title, message, answer }) => {
    const { answers } = channel;
    const buttons = answer === undefined || typeof answers !== "string" ? undefined : ntfyButtons(answers, answer);
    const actions = buttons === undefined ? {} : { actions: buttons };
    return ntfy(channel, notice, { title, message, priority: PRIORITY[notice.kind], ...actions });
  },
  slack: (channel, { title, message }) =>
    post(channel, channel.url, { text: forSlack(`${title}\n${message}`), link_names: false }),
  discord: (channel, { title, message }) => {
    const url = new URL(channel.url);
    url.searchParams.set("wait", "true");
    const content = clip(forDiscord(`${title}\n${message}`), 2_000);
    return post(channel, url.href, { content, allowed_mentions: { parse: [] } });
  },
  webhook: (channel, { notice, title, message, text }) => {
    const foreign = sendsText(channel) ? { text: text.join("\n") } : {};
    return post(channel, channel.url, { ...described(notice), state: "open", title, message, ...foreign });
  },
  push: (channel, { notice, title, message, answer }) =>
    push(channel, notice, {
      state: "open",
      title,
      message: clip(message, MAX_PUSH_CHARS.message),
      ...(answer === undefined ? {} : { answer: { ...answer, options: answer.options.map(shortOption) } }),
    }),
};

/** ntfy's "low". */
const QUIET = 2;

/** As JSON, so that no text can become a header. */
function ntfy(channel: Channel, { id }: Notice, content: object): HttpRequest {
  const url = new URL(channel.url);
  const topic = topicOf(url);
  url.pathname = url.pathname.slice(0, -topic.length);
  return post(channel, url.href, { topic, ...content, sequence_id: id });
}

/** The phone sends them itself (ntfy, "Send HTTP request"), and takes the notification away once it is done. */
const ntfyButtons = (answers: string, { token, options }: NonNullable<PushNotice["answer"]>): readonly object[] =>
  options.map(shortOption).map(({ option, label }) => ({
    action: "http",
    label,
    url: new URL("/api/answers", answers).href,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token, option }),
    clear: true,
  }));

const shortOption = ({ option, label }: PushOption): PushOption => ({
  option,
  label: clip(numbered(label, option), MAX_BUTTON_CHARS),
});

/**
 * To be sealed. The push service keeps one per topic for a browser that is away: what is taken back before it is there never
 * arrives.
 */
const push = (
  { url }: Channel,
  { id, kind, subject, sinceUnixMs }: Notice,
  { title, ...rest }: Omit<PushNotice, "id" | "event" | "subject" | "sinceUnixMs">,
): HttpRequest => ({
  method: "POST",
  url,
  headers: { ttl: String(PUSH_TTL_SEC), urgency: PRIORITY[kind] > 3 ? "high" : "normal", topic: id },
  body: {
    id,
    event: kind,
    subject,
    sinceUnixMs,
    title: clip(title, MAX_PUSH_CHARS.title),
    ...rest,
  } satisfies PushNotice,
});

const described = ({ id, kind, subject, name, program, project, sinceUnixMs }: Notice): object => ({
  id,
  event: kind,
  ...(kind === "host"
    ? { host: name }
    : { agent: { id: subject, name, program, project: project === undefined ? undefined : shortened(project) } }),
  sinceUnixMs,
});

const place = ({ program, project }: Notice): string => {
  if (program === undefined) return "";
  const where = project === undefined ? "" : ` in ${shortened(project)}`;
  return `${program}${where}`;
};

const post = (channel: Channel, url: string, body: object): HttpRequest => ({
  method: "POST",
  url,
  headers: { "content-type": "application/json", ...authorization(channel) },
  body,
});

/** @param below the channel's path */
function remove(channel: Channel, below: string): HttpRequest {
  const url = new URL(channel.url);
  url.pathname += below;
  return { method: "DELETE", url: url.href, headers: authorization(channel), body: undefined };
}

const authorization = (channel: Channel): Readonly<Record<string, string>> =>
  channel.kind === "push" || channel.token === undefined ? {} : { authorization: `Bearer ${channel.token}` };

/** Half of a surrogate pair makes JSON that Slack and Discord refuse. */
const clean = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, " ").trim();

const shortened = (name: string): string => clip(clean(name), MAX_NAME_CHARS);

const lines = (text: string | undefined): string[] =>
  clip(text ?? "", MAX_TEXT_CHARS)
    .split("\n")
    .map(clean)
    .filter((line) => line !== "");

/** As notifications show an option. */
export const numbered = (label: string, index: number): string => `${index + 1}. ${shortened(label)}`;

/** Nothing in it is a link, a mention or a format (Slack's "Formatting text"). */
const forSlack = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("@", "@\u200B");

/** The same for Discord's Markdown. */
const forDiscord = (text: string): string => text.replace(/[\\`*_~|>#@:[\]()<-]/g, "\\$&");
