// oxlint-disable typescript/no-unsafe-assignment, typescript/strict-boolean-expressions -- the kit is plain JavaScript, untyped
/**
 * The kit's fake model API (AGENT_KIT) as all programs need it: Copilot puts the time before every prompt, which would hide
 * the kit's directives, and Qwen has another name for its shell than the kit knows, so both are rewritten on the way. Run as
 * a program it takes the kit's variables.
 */
import { writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const { startFakeApi } = await import(pathToFileURL(join(process.env.AGENT_KIT, "fake-api.mjs")).href);

/** As Qwen, and as the kit calls it. */
const SHELLS = ['"name":"run_shell_command"', '"name":"bash"'];
/** A prompt `tool Edit INPUT` (or `Read`) has that tool of Claude's called, not its shell; what calls it stands in the answer. */
const OWN_TOOL = /tool (Edit|Read) (?=\{)/g;
const SHELL_CALL = '"name":"Bash"';
const CALL_INPUT = /"partial_json":("(?:[^"\\]|\\.)*")/;
const withTool = (part, name) =>
  part.replace(SHELL_CALL, `"name":"${name}"`).replace(CALL_INPUT, (_all, input) => {
    const { command } = JSON.parse(JSON.parse(input));
    return `"partial_json":${JSON.stringify(command.slice(name.length + 1))}`;
  });
const TIME = /<current_datetime>[^<]*<\/current_datetime>(?:\\n)*/g;

export async function startFakeModel() {
  const api = await startFakeApi();
  const pass = async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked = Buffer.concat(chunks).toString();
    // Gemini's shell has Qwen's name, and the kit knows it: only what comes by Qwen's API is rewritten.
    const isQwens = request.url.endsWith("/chat/completions") && asked.includes(SHELLS[0]);
    const ownTool = request.url.startsWith("/v1/messages") ? [...asked.matchAll(OWN_TOOL)].at(-1)?.[1] : undefined;
    const timeless = asked.replaceAll(TIME, "");
    const body = Buffer.from(isQwens ? timeless.replaceAll(...SHELLS) : timeless);
    const { method } = request;
    const headers = { "content-type": request.headers["content-type"] ?? "application/json" };
    const onward = http.request(`${api.url}${request.url}`, { method, headers });
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      // The kit writes whole events.
      answer.on("data", (part) => {
        if (isQwens) response.write(String(part).replaceAll(SHELLS[1], SHELLS[0]));
        else response.write(ownTool === undefined ? part : withTool(String(part), ownTool));
      });
      answer.on("end", () => response.end());
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.end(body);
  };
  const server = http.createServer((request, response) => {
    pass(request, response).catch((error) => response.destroy(error));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${server.address().port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
    api.close();
  };
  return { ...api, url, port: server.address().port, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { port } = await startFakeModel();
  writeFileSync(process.env.FAKE_API_PORTFILE, String(port));
  process.on("SIGTERM", () => process.exit(0));
}
