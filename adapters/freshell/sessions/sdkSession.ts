/**
 * A session of the kind `sdk`: an agent with JSON both ways, for a whole conversation. Each of its lines becomes at
 * most a few events; only people answer what it asks.
 */
import type {
  ContentBlock,
  HistoryMessage,
  PermissionRequest,
  SdkEvent,
  SessionStatus,
} from "../../../protocol/api/freshell/sessionEvents.ts";
import type { PermissionAnswer, SessionImage } from "../../../protocol/api/freshell/sessions.ts";
import { AgentSession, type SessionHost, type SessionPlan, type SessionText } from "./agentSession.ts";
import { contentOf, resultText, toolsOf, usageOf } from "../../agents/sdkMessages.ts";
import { given, type JsonLine, listAt, numberAt, objectAt, textAt } from "../../agents/jsonFields.ts";
import { MAX_HISTORY_BYTES, MAX_HISTORY_MESSAGES, MAX_OPEN_PERMISSIONS } from "../freshellLimits.ts";
import { AppError } from "../../../protocol/errors.ts";

type InitEvent = Extract<SdkEvent, { type: "sdk.session.init" }>;
type Listener = (event: SdkEvent) => void;

/** What the program asks before it does something. Only people answer. */
interface OpenRequest {
  readonly request: PermissionRequest;
  /** The program's own id, which may be anything. */
  readonly programsId: string;
}

export class SdkSession extends AgentSession<SdkEvent> {
  declare readonly kind: "sdk";
  readonly history: SessionHistory;
  readonly #words: SdkText;
  /** By ids of ours, until somebody answers or the program withdraws them. */
  readonly #open = new Map<string, OpenRequest>();
  #tools: readonly { readonly name: string }[] = [];
  #lastInit = "";
  #asked = 0;

  constructor(plan: SessionPlan, host: SessionHost) {
    super("sdk", "starting", plan, host);
    this.history = new SessionHistory(host.nowUnixMs);
    this.#words = new SdkText(this.text);
    // Its response is the first sign of life: it prints nothing else before the first message.
    this.#ask("initialize").catch(() => undefined);
  }

  protected override get openPermissions(): number {
    return this.#open.size;
  }

  /** Its properties, as far as it has reported them. */
  init(): InitEvent {
    const { cliSessionId, model, cwd } = this;
    return given({ type: "sdk.session.init" as const, cliSessionId, model, cwd, tools: this.#tools });
  }

  permissions(): readonly PermissionRequest[] {
    return [...this.#open.values()].map(({ request }) => request);
  }

  /** @param by the sender, which does not get its own message @throws AppError INVALID_TARGET, RESOURCE_LIMIT, COMMAND_TIMEOUT */
  async say(text: string, images: readonly SessionImage[] = [], by?: Listener): Promise<void> {
    const pictures = images.map(({ mediaType, data }) => ({
      type: "image",
      source: { type: "base64", media_type: mediaType, data },
    }));
    const words: ContentBlock = { type: "text", text };
    await this.#write({
      type: "user",
      message: { role: "user", content: [words, ...pictures] },
      parent_tool_use_id: null,
      session_id: this.cliSessionId ?? "default",
    });
    this.history.add("user", [words]);
    this.tell({ type: "sdk.user", content: [words] }, by);
    this.#turn("running");
  }

  async interrupt(): Promise<void> {
    await this.#ask("interrupt");
  }

  /** @throws AppError as `say` */
  async setModel(model: string): Promise<void> {
    await this.#ask("set_model", { model });
    this.model = model;
  }

  async setPermissionMode(mode: string): Promise<void> {
    await this.#ask("set_permission_mode", { mode });
  }

  /** @throws AppError NOT_FOUND, and as `say` */
  async respond(answer: PermissionAnswer, by?: Listener): Promise<void> {
    const { requestId } = answer;
    const open = this.#open.get(requestId);
    if (open === undefined) {
      throw new AppError(
        "NOT_FOUND",
        "there is no such permission request: it was answered or withdrawn, or never existed; attach again to see the open ones",
      );
    }
    this.#open.delete(requestId);
    const response = { subtype: "success", request_id: open.programsId, response: responseOf(answer, open.request) };
    try {
      await this.#write({ type: "control_response", response });
    } catch (error) {
      // The program did not get it: somebody can still answer.
      if (this.status !== "exited") this.#open.set(requestId, open);
      throw error;
    }
    this.tell({ type: "sdk.permission.cancelled", requestId }, by);
  }

  protected line(line: JsonLine): void {
    switch (line["type"]) {
      case "system":
        return this.#system(line);
      case "stream_event":
        return this.#stream(line);
      case "assistant":
        return this.#assistant(line);
      case "user":
        return this.#user(line);
      case "result":
        return this.#result(line);
      case "control_request":
        return this.#request(line);
      case "control_cancel_request":
        return this.#withdrawn(textAt(line, "request_id") ?? "");
      case "control_response":
        return this.#responded(objectAt(line, "response") ?? {});
      default:
        return undefined;
    }
  }

  protected badLine(message: string): void {
    this.tell({ type: "sdk.error", message });
  }

  /** Kept by the program for the message on its end. */
  protected errors(): void {}

  protected over(why: string | undefined): void {
    const unanswered = [...this.#open.keys()];
    this.#open.clear();
    for (const requestId of unanswered) this.tell({ type: "sdk.permission.cancelled", requestId });
    if (why !== undefined) this.tell({ type: "sdk.error", message: why });
    this.tell({ type: "sdk.status", status: "exited" });
    this.tell(given({ type: "sdk.exit" as const, exitCode: this.exitCode }));
  }

  #system(line: JsonLine): void {
    if (line["subtype"] === "init") {
      this.cliSessionId = textAt(line, "session_id") ?? this.cliSessionId;
      this.model = textAt(line, "model") ?? this.model;
      this.cwd = textAt(line, "cwd") ?? this.cwd;
      this.#tools = toolsOf(line).map((name) => ({ name }));
      // It repeats this at the beginning of every turn.
      const init = this.init();
      const text = JSON.stringify(init);
      if (text !== this.#lastInit) this.tell(init);
      this.#lastInit = text;
      if (this.status === "starting") this.#turn("connected");
    } else if (line["subtype"] === "status") {
      if (line["status"] === "compacting") this.#turn("compacting");
      else if (this.status === "compacting") this.#turn("running");
    }
  }

  #stream(line: JsonLine): void {
    const event = objectAt(line, "event");
    if (event === undefined) return;
    const parentToolUseId = textAt(line, "parent_tool_use_id") ?? null;
    this.#words.stream(event, parentToolUseId);
    this.tell({ type: "sdk.stream", event, parentToolUseId });
  }

  #assistant(line: JsonLine): void {
    const message = objectAt(line, "message");
    const content = contentOf(message);
    this.#words.assistant(content, textAt(line, "parent_tool_use_id") ?? null);
    this.history.add("assistant", content);
    const model = message === undefined ? undefined : textAt(message, "model");
    this.tell(given({ type: "sdk.assistant" as const, content, model, usage: usageOf(message) }));
    this.#turn("running");
  }

  #user(line: JsonLine): void {
    // The replayed output of one of its own commands.
    if (line["isReplay"] === true) return;
    const content = contentOf(objectAt(line, "message"));
    if (content.length === 0) return;
    this.#words.results(content);
    this.history.add("user", content);
    this.tell({ type: "sdk.user", content });
  }

  #result(line: JsonLine): void {
    this.tell(
      given({
        type: "sdk.result" as const,
        result: textAt(line, "subtype"),
        durationMs: numberAt(line, "duration_ms"),
        costUsd: numberAt(line, "total_cost_usd"),
        usage: usageOf(line),
      }),
    );
    this.#turn("idle");
  }

  #request(line: JsonLine): void {
    const programsId = textAt(line, "request_id") ?? "";
    const request = objectAt(line, "request") ?? {};
    if (request["subtype"] !== "can_use_tool") {
      const error = "this client answers can_use_tool only";
      const response = { subtype: "error", request_id: programsId, error };
      this.#write({ type: "control_response", response }).catch(() => undefined);
      return;
    }
    if (this.#open.size >= MAX_OPEN_PERMISSIONS) {
      const message = "the program asks for more permissions than a person can answer, and is ended";
      this.tell({ type: "sdk.error", message });
      this.kill();
      return;
    }
    const asked: PermissionRequest = given({
      requestId: this.host.newId(),
      subtype: "can_use_tool" as const,
      tool: { name: textAt(request, "tool_name") ?? "", input: objectAt(request, "input") ?? {} },
      toolUseID: textAt(request, "tool_use_id"),
      suggestions: listAt(request, "permission_suggestions"),
      blockedPath: textAt(request, "blocked_path"),
      decisionReason: textAt(request, "decision_reason"),
    });
    this.#open.set(asked.requestId, { request: asked, programsId });
    this.tell({ type: "sdk.permission.request", ...asked });
  }

  /** The program no longer wants an answer. */
  #withdrawn(programsId: string): void {
    for (const [requestId, open] of this.#open) {
      if (open.programsId !== programsId) continue;
      this.#open.delete(requestId);
      this.tell({ type: "sdk.permission.cancelled", requestId });
      return;
    }
  }

  #responded(response: JsonLine): void {
    if (response["subtype"] === "error") {
      const [what = ""] = (textAt(response, "request_id") ?? "").split("-");
      this.tell({
        type: "sdk.error",
        message: `the program refuses ${what}: ${textAt(response, "error") ?? "no reason"}`,
      });
    }
    if (this.status === "starting") this.#turn("connected");
  }

  #turn(status: SessionStatus): void {
    if (this.turnTo(status)) this.tell({ type: "sdk.status", status });
  }

  #ask(subtype: string, more: object = {}): Promise<void> {
    this.#asked += 1;
    const request = { subtype, ...more };
    return this.#write({ type: "control_request", request_id: `${subtype}-${this.#asked}`, request });
  }

  #write(line: object): Promise<void> {
    return this.program.write(`${JSON.stringify(line)}\n`);
  }
}

/**
 * The text of such a session: pieces of a message as they come, then the rest of the whole message. The program
 * writes each part of a message once in pieces, and then once as a whole.
 */
export class SdkText {
  readonly #text: SessionText;
  /** Characters streamed of the current part, by the tool call that it belongs to: subagents write as well. */
  readonly #streamed = new Map<string, number>();
  /** The writer of the last piece. */
  #writer = "";

  constructor(text: SessionText) {
    this.#text = text;
  }

  /** An event of the Messages API. */
  stream(event: JsonLine, parent: string | null): void {
    const key = parent ?? "";
    if (event["type"] === "content_block_start" || event["type"] === "message_start") {
      this.#streamed.delete(key);
      return;
    }
    const delta = objectAt(event, "delta");
    const piece = delta?.["type"] === "text_delta" ? (textAt(delta, "text") ?? "") : "";
    if (piece === "") return;
    // Concurrent writers get lines of their own.
    if (this.#writer !== key) this.#text.endLine();
    this.#writer = key;
    this.#text.write(piece);
    this.#streamed.set(key, (this.#streamed.get(key) ?? 0) + piece.length);
  }

  assistant(content: readonly ContentBlock[], parent: string | null): void {
    const key = parent ?? "";
    for (const block of content) {
      if (block.type === "tool_use") this.#text.toolCall(block.name);
      if (block.type !== "text") continue;
      const streamed = this.#streamed.get(key) ?? 0;
      this.#streamed.delete(key);
      if (streamed === 0) this.#text.line(block.text);
      else this.#text.write(block.text.slice(streamed));
      this.#text.endLine();
    }
  }

  results(content: readonly ContentBlock[]): void {
    for (const block of content) if (block.type === "tool_result") this.#text.line(resultText(block));
  }
}

/** What was said in a session, for subscribers that come later: the newest of it, within bounds of messages and bytes. */
export class SessionHistory {
  readonly #nowUnixMs: () => number;
  #messages: { readonly message: HistoryMessage; readonly bytes: number }[] = [];
  #bytes = 0;

  constructor(nowUnixMs: () => number) {
    this.#nowUnixMs = nowUnixMs;
  }

  add(role: HistoryMessage["role"], content: readonly ContentBlock[]): void {
    const message: HistoryMessage = { role, content, timestamp: new Date(this.#nowUnixMs()).toISOString() };
    const bytes = Buffer.byteLength(JSON.stringify(message)) + 1;
    this.#messages.push({ message, bytes });
    this.#bytes += bytes;
    let gone = 0;
    while (
      this.#messages.length - gone > 1 &&
      (this.#bytes > MAX_HISTORY_BYTES || this.#messages.length - gone > MAX_HISTORY_MESSAGES)
    ) {
      this.#bytes -= this.#messages[gone]?.bytes ?? 0;
      gone += 1;
    }
    if (gone > 0) this.#messages = this.#messages.slice(gone);
  }

  messages(): readonly HistoryMessage[] {
    return this.#messages.map(({ message }) => message);
  }
}

function responseOf(answer: PermissionAnswer, { tool }: PermissionRequest): object {
  const { behavior, updatedInput, updatedPermissions, message, interrupt } = answer;
  if (behavior === "allow") return given({ behavior, updatedInput: updatedInput ?? tool.input, updatedPermissions });
  return given({ behavior, message: message ?? "Denied by user", interrupt });
}
