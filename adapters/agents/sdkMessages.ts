/** Messages as the `sdk` kind of session has them: their parts, and the results of tools. */
import type { ContentBlock, SessionUsage } from "../../protocol/api/freshell/sessionEvents.ts";
import { isFields } from "../../protocol/text/jsonObject.ts";
import { given, type JsonLine, listAt, numberAt, objectAt, textAt } from "./jsonFields.ts";

/** Unknown parts, from a later version, are passed on unchanged. */
export function contentOf(message: JsonLine | undefined): readonly ContentBlock[] {
  if (message === undefined) return [];
  const text = textAt(message, "content");
  if (text !== undefined) return [{ type: "text", text }];
  return (listAt(message, "content") ?? []).filter(isFields).map(blockOf);
}

function blockOf(block: JsonLine): ContentBlock {
  switch (block["type"]) {
    case "text":
      return { type: "text", text: textAt(block, "text") ?? "" };
    case "thinking":
      return { type: "thinking", thinking: textAt(block, "thinking") ?? "" };
    case "tool_use":
      return {
        type: "tool_use",
        id: textAt(block, "id") ?? "",
        name: textAt(block, "name") ?? "",
        input: objectAt(block, "input") ?? {},
      };
    case "tool_result":
      return given({
        type: "tool_result" as const,
        tool_use_id: textAt(block, "tool_use_id") ?? "",
        content: textAt(block, "content") ?? listAt(block, "content"),
        is_error: typeof block["is_error"] === "boolean" ? block["is_error"] : undefined,
      });
    default:
      return block as unknown as ContentBlock;
  }
}

/** What a tool returned, as text; pictures are left out. */
export function resultText({ content }: Extract<ContentBlock, { type: "tool_result" }>): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .filter(isFields)
    .map((part) => textAt(part, "text"))
    .filter((text) => text !== undefined)
    .join("\n");
}

export function usageOf(line: JsonLine | undefined): SessionUsage | undefined {
  const usage = line === undefined ? undefined : objectAt(line, "usage");
  if (usage === undefined) return undefined;
  return given({
    input_tokens: numberAt(usage, "input_tokens") ?? 0,
    output_tokens: numberAt(usage, "output_tokens") ?? 0,
    cache_creation_input_tokens: numberAt(usage, "cache_creation_input_tokens"),
    cache_read_input_tokens: numberAt(usage, "cache_read_input_tokens"),
  });
}

export const toolsOf = (line: JsonLine): readonly string[] =>
  (listAt(line, "tools") ?? []).filter((tool) => typeof tool === "string");
