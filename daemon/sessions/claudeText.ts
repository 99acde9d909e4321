/**
 * The text of a Claude Code session: pieces of a message as they come, then the rest of the whole message. Claude Code
 * writes each part of a message once in pieces, and then once as a whole.
 */
import type { ContentBlock } from "../../protocol/api/freshell/sessionEvents.ts";
import { resultText } from "./claudeMessages.ts";
import { objectAt, textAt } from "./jsonFields.ts";
import type { JsonLine } from "./sessionProgram.ts";
import { type SessionText, toolLine } from "./sessionText.ts";

export class ClaudeText {
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
      if (block.type === "tool_use") this.#text.line(toolLine(block.name));
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
