/** A session of the kind `codingcli`: a program with one prompt, whose events are normalized across programs. */
import type { NormalizedEvent } from "../../../protocol/api/freshell/sessionEvents.ts";
import { AgentSession, type SessionHost, type SessionPlan } from "./agentSession.ts";
import type { CodingEvent, CodingParser } from "../../agents/agentStream.ts";
import type { JsonLine } from "../../agents/jsonFields.ts";

/** What its subscribers get; with names added it is a frame. */
export type CodingNotice =
  | { readonly type: "codingcli.event"; readonly event: NormalizedEvent }
  | { readonly type: "codingcli.stderr"; readonly text: string }
  | { readonly type: "codingcli.exit"; readonly exitCode: number };

/** As shells report a program that could not be started. */
const NOT_STARTED_EXIT_CODE = 127;

export class CodingSession extends AgentSession<CodingNotice> {
  declare readonly kind: "codingcli";
  readonly #parse: CodingParser;
  #count = 0;
  #saidEnd = false;

  constructor(plan: SessionPlan, host: SessionHost, parse: CodingParser) {
    super("codingcli", "running", plan, host);
    this.#parse = parse;
  }

  /** @throws AppError INVALID_TARGET, RESOURCE_LIMIT, COMMAND_TIMEOUT */
  say(text: string): Promise<void> {
    return this.program.write(text);
  }

  async interrupt(): Promise<void> {
    this.program.interrupt();
  }

  protected line(line: JsonLine): void {
    for (const event of this.#parse(line)) this.#event(event);
  }

  protected badLine(message: string): void {
    this.#event({ type: "error", error: { message, recoverable: true } });
  }

  protected errors(text: string): void {
    this.tell({ type: "codingcli.stderr", text });
  }

  protected over(why: string | undefined): void {
    const error = why === undefined ? {} : { error: { message: why, recoverable: false } };
    if (!this.#saidEnd) this.#event({ type: "session.end", ...error });
    this.tell(this.exit());
  }

  /** Of a session that has ended. */
  exit(): CodingNotice {
    return { type: "codingcli.exit", exitCode: this.exitCode ?? NOT_STARTED_EXIT_CODE };
  }

  #event(event: CodingEvent): void {
    const { session, message, tool } = event;
    if (session !== undefined) {
      this.cliSessionId = session.providerSessionId ?? this.cliSessionId;
      this.model = session.model ?? this.model;
    }
    if (event.type === "session.end") this.#saidEnd = true;
    if (event.type === "message.assistant") this.text.line(message?.content ?? "");
    else if (event.type === "tool.call") this.text.toolCall(tool?.name ?? "");
    else if (event.type === "tool.result") this.text.line(tool?.output ?? "");
    this.#count += 1;
    const { id: sessionId, codingProvider: provider } = this;
    const timestamp = new Date(this.host.nowUnixMs()).toISOString();
    this.tell({
      type: "codingcli.event",
      event: { ...event, timestamp, sessionId, provider, sequenceNumber: this.#count },
    });
  }
}
