/** A conversation with an agent as a pane shows it: frames folded into messages, open questions and a state. All of it is text. */
import type {
  ContentBlock,
  PermissionRequest,
  SessionServerMessage,
  SessionStatus,
} from "../../../../protocol/api/freshell/sessionEvents.ts";

interface ChatMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly ContentBlock[];
}

export interface Conversation {
  readonly messages: readonly ChatMessage[];
  /** The message being written. */
  readonly partial: string;
  readonly permissions: readonly PermissionRequest[];
  readonly status: SessionStatus | "connecting" | "gone";
  readonly exitCode?: number | undefined;
  readonly problem?: string | undefined;
  /** Said last, without a sign of the agent since. */
  readonly said?: string | undefined;
  /** Said on a connection that has ended: whether it has arrived is known from the history. */
  readonly doubtful?: string | undefined;
  /** It has not arrived: to be written again. */
  readonly unsaid?: string | undefined;
}

export const FIRST_CONVERSATION: Conversation = { messages: [], partial: "", permissions: [], status: "connecting" };

/** As many as the server keeps. */
const MAX_MESSAGES = 1_000;

type Frame = Extract<SessionServerMessage, { readonly type: `sdk.${string}` }>;

export function withFrame(now: Conversation, frame: Frame): Conversation {
  switch (frame.type) {
    case "sdk.history": {
      const messages = frame.messages.map(({ role, content }) => ({ role, content }));
      // Those that are open follow.
      return {
        ...withDoubtSettled(now, messages),
        messages,
        partial: "",
        permissions: [],
        status: now.status === "connecting" ? "idle" : now.status,
      };
    }
    case "sdk.stream":
      return { ...now, partial: partialAfter(now.partial, frame.event, frame.parentToolUseId) };
    case "sdk.assistant":
      return { ...withMessage(now, { role: "assistant", content: frame.content }), partial: "", said: undefined };
    case "sdk.user":
      return withMessage(now, { role: "user", content: frame.content });
    case "sdk.permission.request": {
      const { type: _type, sessionId: _session, ...request } = frame;
      return { ...now, permissions: [...withoutRequest(now, request.requestId), request] };
    }
    case "sdk.permission.cancelled":
      return { ...now, permissions: withoutRequest(now, frame.requestId) };
    case "sdk.status":
      return { ...now, status: frame.status, said: undefined };
    case "sdk.result":
      return { ...now, partial: "" };
    case "sdk.error":
      return { ...now, problem: frame.message };
    case "sdk.exit":
      return { ...now, status: "exited", exitCode: frame.exitCode, permissions: [], partial: "" };
    case "sdk.session.init":
    case "sdk.created":
    case "sdk.killed":
      return now;
  }
}

/** The server does not echo what a person sends. */
export const withSaid = (now: Conversation, text: string): Conversation => ({
  ...withMessage(now, { role: "user", content: [{ type: "text", text }] }),
  problem: undefined,
  said: text,
});

/** The connection is another one. */
export const withConnection = (now: Conversation): Conversation => ({
  ...now,
  said: undefined,
  doubtful: now.said ?? now.doubtful,
});

function withDoubtSettled(now: Conversation, messages: readonly ChatMessage[]): Conversation {
  const { doubtful } = now;
  if (doubtful === undefined) return now;
  const times = (all: readonly ChatMessage[]): number =>
    all.filter(
      ({ role, content }) =>
        role === "user" && content.some((block) => block.type === "text" && block.text === doubtful),
    ).length;
  const settled = { ...now, doubtful: undefined };
  if (times(messages) >= times(now.messages)) return settled;
  return { ...settled, unsaid: doubtful, problem: "The connection was lost: your last message did not arrive." };
}

export const withoutPermission = (now: Conversation, requestId: string): Conversation => ({
  ...now,
  permissions: withoutRequest(now, requestId),
});

const withMessage = (now: Conversation, message: ChatMessage): Conversation => ({
  ...now,
  messages: [...now.messages, message].slice(-MAX_MESSAGES),
});

const withoutRequest = ({ permissions }: Conversation, requestId: string): readonly PermissionRequest[] =>
  permissions.filter((one) => one.requestId !== requestId);

/** Only the conversation itself, not its subagents. */
function partialAfter(partial: string, given: unknown, parent: string | null): string {
  const event = given as { type?: unknown; delta?: { type?: unknown; text?: unknown } } | null | undefined;
  if (parent !== null) return partial;
  if (event?.type === "message_start") return "";
  const { type, text } = event?.delta ?? {};
  return event?.type === "content_block_delta" && type === "text_delta" && typeof text === "string"
    ? partial + text
    : partial;
}

const MAX_SHOWN_CHARS = 20_000;

/** A content block as text; undefined if it is not shown. */
export function blockText(
  block: ContentBlock,
): { readonly kind: "text" | "thinking" | "tool" | "result"; readonly text: string } | undefined {
  switch (block.type) {
    case "text":
      return { kind: "text", text: cut(block.text) };
    case "thinking":
      return { kind: "thinking", text: cut(block.thinking) };
    case "tool_use":
      return { kind: "tool", text: cut(`${block.name} ${JSON.stringify(block.input)}`) };
    case "tool_result":
      return { kind: "result", text: cut(resultText(block.content)) };
    default:
      return undefined;
  }
}

function resultText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = (content as { readonly text?: unknown }[]).map((one) => one.text);
  return texts.filter((text): text is string => typeof text === "string").join("\n");
}

const cut = (text: unknown): string => (typeof text === "string" ? text.slice(0, MAX_SHOWN_CHARS) : "");
