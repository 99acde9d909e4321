/**
 * One agent program, one prompt, no screen: `node mcpAgentRun.mjs FAMILY HOME PROGRAM ARG…`, inside a network namespace of its
 * own (the kit's bin/offline). The model is scripted: it asks for the MCP tool `list`, and what comes back is told as one
 * line of JSON on stdout: the MCP tools that the program offered, and the result that it brought.
 */
import { spawn } from "node:child_process";
import { createServer } from "node:http";

const [family, home, program, ...args] = process.argv.slice(2);
/** Nobody else is in the namespace. */
const PORT = 4_999;
let [offered, result] = [[], undefined];
let calls = 0;

const FAMILIES = {
  anthropic: {
    tools: (body) => (body.tools ?? []).map(({ name }) => name),
    result: (body) => body.messages?.at(-1)?.content?.find?.((part) => part.type === "tool_result")?.content,
    answer: (send, tool) => {
      const message = {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "fake",
        content: [],
        stop_reason: null,
      };
      send("message_start", {
        type: "message_start",
        message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } },
      });
      const block =
        tool === undefined
          ? { type: "text", text: "" }
          : { type: "tool_use", id: `toolu_${(calls += 1)}`, name: tool, input: {} };
      send("content_block_start", { type: "content_block_start", index: 0, content_block: block });
      const delta =
        tool === undefined ? { type: "text_delta", text: "done" } : { type: "input_json_delta", partial_json: "{}" };
      send("content_block_delta", { type: "content_block_delta", index: 0, delta });
      send("content_block_stop", { type: "content_block_stop", index: 0 });
      const stop = { stop_reason: tool === undefined ? "end_turn" : "tool_use", stop_sequence: null };
      send("message_delta", { type: "message_delta", delta: stop, usage: { output_tokens: 1 } });
      send("message_stop", { type: "message_stop" });
    },
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "sk-ant-fake",
      DISABLE_TELEMETRY: "1",
      DISABLE_AUTOUPDATER: "1",
      // Else newer ones tell the model of tools only when it looks for them.
      ENABLE_TOOL_SEARCH: "false",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // Else it asks the model without the tools of a server that a busy machine has not started within 5 s.
      MCP_CONNECTION_NONBLOCKING: "0",
      MCP_CONNECT_TIMEOUT_MS: "60000",
      MCP_TIMEOUT: "60000",
    }),
  },
  responses: {
    // Codex gives a server's tools as one of type namespace.
    tools: (body) =>
      (body.tools ?? []).flatMap((tool) =>
        tool.type === "namespace" ? (tool.tools ?? []).map(({ name }) => `${tool.name}/${name}`) : [tool.name ?? ""],
      ),
    result: (body) => {
      const last = Array.isArray(body.input) ? body.input.at(-1) : undefined;
      return String(last?.type).endsWith("_output") ? last.output : undefined;
    },
    answer: (send, tool) => {
      const event = (type, more) => send(type, { type, ...more });
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      const [namespace, name] = tool?.includes("/") === true ? tool.split("/") : [undefined, tool];
      const called = {
        type: "function_call",
        id: "fc_1",
        call_id: `call_${(calls += 1)}`,
        name,
        namespace,
        arguments: "{}",
      };
      const content = [{ type: "output_text", text: "done", annotations: [] }];
      const item = tool === undefined ? { type: "message", id: "m_1", role: "assistant", content } : called;
      event("response.created", { response: { id: "resp_1", status: "in_progress", output: [] } });
      event("response.output_item.added", { output_index: 0, item });
      event("response.output_item.done", { output_index: 0, item });
      event("response.completed", { response: { id: "resp_1", status: "completed", output: [item], usage } });
    },
    env: () => ({ FAKE_KEY: "x" }),
  },
  chat: {
    tools: (body) => (body.tools ?? []).map((tool) => tool.function?.name ?? ""),
    result: (body) => body.messages?.findLast(({ role }) => role === "tool")?.content,
    answer: (send, tool) => {
      const base = { id: "chatcmpl_1", created: 1, model: "fake-model", object: "chat.completion.chunk" };
      const called = [{ index: 0, id: "call_1", type: "function", function: { name: tool, arguments: "{}" } }];
      const delta =
        tool === undefined ? { role: "assistant", content: "done" } : { role: "assistant", tool_calls: called };
      if (tool !== undefined) calls += 1;
      send(undefined, { ...base, choices: [{ index: 0, delta, finish_reason: null }] });
      const why = tool === undefined ? "stop" : "tool_calls";
      send(undefined, { ...base, choices: [{ index: 0, delta: {}, finish_reason: why }] });
      send(undefined, "[DONE]");
    },
    env: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    }),
  },
  gemini: {
    tools: (body) => (body.tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name)),
    result: (body) => body.contents?.at(-1)?.parts?.find((part) => part.functionResponse)?.functionResponse,
    answer: (send, tool) => {
      const part = tool === undefined ? { text: "done" } : { functionCall: { name: tool, args: {} } };
      const candidates = [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }];
      send(undefined, {
        candidates,
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      });
    },
    env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: "fake", GEMINI_CLI_NO_RELAUNCH: "1" }),
  },
}[family];

const server = createServer((request, response) => {
  let text = "";
  request.on("data", (data) => (text += data));
  request.on("end", () => {
    const body = text === "" ? {} : JSON.parse(text);
    const names = FAMILIES.tools(body).filter((name) => /tmuxwire/.test(name));
    if (names.length > 0) offered = names;
    const found = FAMILIES.result(body);
    if (found !== undefined) result = JSON.stringify(found);
    const list = names.find((name) => /(?:^|[_/])list$/.test(name));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (event, data) =>
      response.write(
        `${event === undefined ? "" : `event: ${event}\n`}data: ${data === "[DONE]" ? data : JSON.stringify(data)}\n\n`,
      );
    FAMILIES.answer(send, found === undefined && calls === 0 && list !== undefined ? list : undefined);
    response.end();
  });
});
server.listen(PORT, "127.0.0.1", () => {
  const env = { PATH: process.env.PATH, HOME: home, TERM: "dumb", ...FAMILIES.env(`http://127.0.0.1:${PORT}`) };
  const child = spawn(program, args, { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data) => (said = `${said}${data}`.slice(-4_000)));
  child.once("close", (code) => {
    process.stdout.write(`${JSON.stringify({ offered, result, code, said })}\n`);
    process.exit(0);
  });
});
