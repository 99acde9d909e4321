/**
 * Codex's JSON mode: lines of `codex exec --json` as normalized events. A command is an item that is started and
 * completed; an item that comes only completed is reported as both.
 */
import { invalidArgument } from "../../../protocol/errors.ts";
import { isFields } from "../../../protocol/text/jsonObject.ts";
import { type AgentStream, type CodingEvent, type CodingParser, isPlain, option } from "../agentStream.ts";
import { given, type JsonLine, listAt, numberAt, objectAt, textAt } from "../jsonFields.ts";

/** Open tool calls that are remembered, so that each is reported once; past this one may be reported twice. */
const MAX_OPEN_TOOL_CALLS = 1_000;

export const stream: AgentStream = {
  promptArgs: ({ prompt, resumeSessionId, model, sandbox }) => {
    if (resumeSessionId !== undefined) {
      throw invalidArgument(
        'codex goes on with a session in a terminal only: POST /api/terminals with mode:"codex" and resumeSessionId',
      );
    }
    return [
      "exec",
      "--json",
      ...option("--model", model),
      ...option("--sandbox", sandbox),
      ...(isPlain(prompt) ? [prompt] : ["--", prompt]),
    ];
  },
  parser,
};

function parser(): CodingParser {
  const begun = new Set<string>();
  return (line) => {
    switch (line["type"]) {
      case "thread.started":
        return [
          {
            type: "session.start",
            session: given({ provider: "codex" as const, providerSessionId: textAt(line, "thread_id") }),
          },
        ];
      case "item.started":
      case "item.completed":
        return itemEvents(objectAt(line, "item") ?? {}, line["type"] === "item.completed", begun);
      case "turn.completed":
        return tokenEvents(objectAt(line, "usage"));
      case "turn.failed":
        return [failed(textAt(objectAt(line, "error") ?? {}, "message"), false)];
      case "error":
        return [failed(textAt(line, "message"), true)];
      default:
        return [];
    }
  };
}

const failed = (message = "the program failed", recoverable: boolean): CodingEvent => ({
  type: "error",
  error: { message, recoverable },
});

function tokenEvents(usage: JsonLine | undefined): readonly CodingEvent[] {
  if (usage === undefined) return [];
  const tokens = given({
    inputTokens: numberAt(usage, "input_tokens") ?? 0,
    outputTokens: numberAt(usage, "output_tokens") ?? 0,
    cachedTokens: numberAt(usage, "cached_input_tokens"),
  });
  return [{ type: "token.usage", tokens }];
}

function itemEvents(item: JsonLine, isCompleted: boolean, begun: Set<string>): readonly CodingEvent[] {
  const text = textAt(item, "text") ?? "";
  switch (item["type"]) {
    case "agent_message":
      return isCompleted ? [{ type: "message.assistant", message: { role: "assistant", content: text } }] : [];
    case "reasoning":
      return isCompleted ? [{ type: "reasoning", reasoning: text }] : [];
    case "error":
      return isCompleted ? [failed(textAt(item, "message"), true)] : [];
    case "command_execution":
    case "file_change":
    case "mcp_tool_call":
    case "web_search":
      return toolEvents(item, isCompleted, begun);
    default:
      return [];
  }
}

function toolEvents(item: JsonLine, isCompleted: boolean, begun: Set<string>): readonly CodingEvent[] {
  const callId = textAt(item, "id") ?? "";
  const name = nameOf(item);
  const isReported = begun.has(callId);
  const call: CodingEvent = { type: "tool.call", tool: { callId, name, arguments: argumentsOf(item) } };
  if (!isCompleted) {
    if (begun.size < MAX_OPEN_TOOL_CALLS) begun.add(callId);
    return isReported ? [] : [call];
  }
  begun.delete(callId);
  const exitCode = numberAt(item, "exit_code");
  const isError = item["status"] === "failed" || (exitCode ?? 0) !== 0;
  const tool = given({ callId, name, output: outputOf(item), isError, exitCode });
  return [...(isReported ? [] : [call]), { type: "tool.result", tool }];
}

function nameOf(item: JsonLine): string {
  const [type, server, tool] = ["type", "server", "tool"].map((name) => textAt(item, name) ?? "");
  return type === "mcp_tool_call" ? `${server}.${tool}` : (type ?? "");
}

function argumentsOf(item: JsonLine): unknown {
  const { command, changes, arguments: given_, query } = item;
  switch (item["type"]) {
    case "command_execution":
      return { command };
    case "file_change":
      return { changes };
    case "web_search":
      return { query };
    default:
      return given_;
  }
}

function outputOf(item: JsonLine): string {
  if (item["type"] === "command_execution") return textAt(item, "aggregated_output") ?? "";
  if (item["type"] === "file_change") {
    return (listAt(item, "changes") ?? [])
      .filter(isFields)
      .map((change) => `${textAt(change, "kind") ?? ""} ${textAt(change, "path") ?? ""}`)
      .join("\n");
  }
  const result = objectAt(item, "result");
  const parts = (result === undefined ? undefined : listAt(result, "content")) ?? [];
  return parts
    .filter(isFields)
    .flatMap((part) => textAt(part, "text") ?? [])
    .join("\n");
}
