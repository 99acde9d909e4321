/** What was said in a session, for subscribers that come later: the newest of it, within bounds of messages and bytes. */
import type { ContentBlock, HistoryMessage } from "../../protocol/api/freshell/sessionEvents.ts";
import { MAX_HISTORY_BYTES, MAX_HISTORY_MESSAGES } from "./sessionLimits.ts";

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
