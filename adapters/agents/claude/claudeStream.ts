/**
 * Claude Code's JSON mode: `-p --output-format stream-json` for one prompt, whose lines become normalized events, and
 * `--input-format stream-json` for a conversation.
 */
import { invalidArgument } from "../../../protocol/errors.ts";
import { type AgentStream, type CodingEvent, type CodingParser, isPlain, option } from "../agentStream.ts";
import { given, type JsonLine, numberAt, objectAt, textAt } from "../jsonFields.ts";
import { contentOf, resultText, toolsOf, usageOf } from "../sdkMessages.ts";

/** It would search for any other by name. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const isSession = (id: string): boolean => UUID.test(id);

export const stream: AgentStream = {
  promptArgs: ({ prompt, resumeSessionId, model, maxTurns, permissionMode }) => {
    requireSession(resumeSessionId);
    const options = [
      "--output-format",
      "stream-json",
      "--verbose",
      ...option("--resume", resumeSessionId),
      ...option("--model", model),
      ...option("--max-turns", maxTurns),
      ...option("--permission-mode", permissionMode),
    ];
    return isPlain(prompt) ? ["-p", prompt, ...options] : ["-p", ...options, "--", prompt];
  },
  conversationArgs: ({ resumeSessionId, model, permissionMode, effort }) => {
    requireSession(resumeSessionId);
    return [
      "--output-format",
      "stream-json",
      "--input-format",
      "stream-json",
      "--verbose",
      "--include-partial-messages",
      // It asks over the pipe.
      "--permission-prompt-tool",
      "stdio",
      ...option("--resume", resumeSessionId),
      ...option("--model", model),
      ...option("--permission-mode", permissionMode),
      ...(permissionMode === "bypassPermissions" ? ["--allow-dangerously-skip-permissions"] : []),
      ...option("--effort", effort),
    ];
  },
  parser: () => eventsOf,
  isSession,
};

function requireSession(id: string | undefined): void {
  if (id === undefined || isSession(id)) return;
  throw invalidArgument("resumeSessionId must be the UUID of a session of claude: use its cliSessionId");
}

const eventsOf: CodingParser = (line) => {
  switch (line["type"]) {
    case "system":
      return line["subtype"] === "init" ? [startOf(line)] : [];
    case "assistant":
    case "user":
      return messageEvents(line, line["type"]);
    case "result":
      return resultEvents(line);
    default:
      return [];
  }
};

const startOf = (line: JsonLine): CodingEvent => ({
  type: "session.start",
  session: given({
    provider: "claude" as const,
    providerSessionId: textAt(line, "session_id"),
    cwd: textAt(line, "cwd"),
    model: textAt(line, "model"),
    tools: toolsOf(line),
  }),
});

function messageEvents(line: JsonLine, role: "assistant" | "user"): readonly CodingEvent[] {
  const content = contentOf(objectAt(line, "message"));
  const words = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const events: CodingEvent[] = words === "" ? [] : [{ type: `message.${role}`, message: { role, content: words } }];
  for (const block of content) {
    if (block.type === "thinking") events.push({ type: "reasoning", reasoning: block.thinking });
    else if (block.type === "tool_use") {
      events.push({ type: "tool.call", tool: { callId: block.id, name: block.name, arguments: block.input } });
    } else if (block.type === "tool_result") {
      const { tool_use_id: callId, is_error: isError = false } = block;
      events.push({ type: "tool.result", tool: { callId, name: "", output: resultText(block), isError } });
    }
  }
  return events;
}

function resultEvents(line: JsonLine): readonly CodingEvent[] {
  const usage = usageOf(line);
  const tokens =
    usage === undefined
      ? undefined
      : given({
          inputTokens: usage.input_tokens,
          outputTokens: usage.output_tokens,
          cachedTokens: usage.cache_read_input_tokens,
          totalCost: numberAt(line, "total_cost_usd"),
        });
  const message = textAt(line, "result") ?? textAt(line, "subtype") ?? "the program failed";
  const error = line["is_error"] === true ? { message, recoverable: false } : undefined;
  return [given({ type: "session.end" as const, tokens, error }) as CodingEvent];
}
