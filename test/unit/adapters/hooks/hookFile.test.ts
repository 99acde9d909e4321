/** The file that an agent loads to report its events, as it is loaded: what it posts, in which order, and that it throws nothing. */
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, expect, test } from "vitest";
import { hookedAgents, isHooked } from "../../../../adapters/hooks/agentHooks.ts";
import { hookFileText } from "../../../../adapters/hooks/hookFile.ts";
import { eventually } from "../../../support/clock/eventually.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

let home = "";
beforeEach(() => void (home = ownDirectory()));

interface Told {
  readonly path: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
}

async function dashboard() {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece: Buffer) => (text += piece.toString()));
    request.on("end", () => {
      told.push({ path: request.url, headers: request.headers, body: JSON.parse(text) as Told["body"] });
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    told,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The file as an agent loads it. */
async function loaded(name: string, dashboardUrl: string, secretsPath = join(home, "none")) {
  const agent = hookedAgents().find((one) => one.name === name)!;
  if (!isHooked(agent, "plugin")) throw new Error(`${name} loads no code`);
  const file = join(home, `${name}.mjs`);
  writeFileSync(file, hookFileText(agent, { dashboardUrl, secretsPath, scriptPath: "" }));
  return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
}

type Handler = (event: object, context: object) => unknown;

async function pi(dashboardUrl: string, secretsPath?: string) {
  const handlers = new Map<string, Handler>();
  const { default: extension } = await loaded("pi", dashboardUrl, secretsPath);
  (extension as (pi: object) => void)({ on: (name: string, handler: Handler) => handlers.set(name, handler) });
  const context = { cwd: "/project", sessionManager: { getSessionId: () => "s-1" } };
  return (name: string, event: object = {}): unknown => handlers.get(name)!(event, context);
}

test("pi tells in order, with the pane and the token, and is never kept waiting", async () => {
  using board = await dashboard();
  const secrets = join(home, "pi.curl");
  writeFileSync(secrets, 'header = "Authorization: Bearer a\\"b"\n');
  process.env["TMUX_PANE"] = "%7";
  process.env["TMUX"] = "/tmp/x,12,0";
  const happens = await pi(board.url, secrets);
  expect(happens("session_start", { reason: "startup" })).toBeUndefined();
  expect(happens("before_agent_start", { prompt: "do it" })).toBeUndefined();
  const messages = [{ role: "assistant", content: [{ type: "text", text: "done" }] }];
  expect(happens("agent_end", { messages })).toBeUndefined();
  await eventually(() => board.told.length === 3);
  expect(board.told.map(({ path }) => path)).toEqual(["/hook/session-start", "/hook/user-prompt-submit", "/hook/stop"]);
  for (const { headers, body } of board.told) {
    expect(headers).toMatchObject({ "x-tmux-pane": "%7", "x-tmux": "/tmp/x,12,0", authorization: 'Bearer a"b' });
    expect(body).toMatchObject({ session_id: "s-1", working_directory: "/project" });
  }
  expect(board.told[1]?.body["prompt"]).toBe("do it");
  expect(board.told[2]?.body["last_assistant_message"]).toBe("done");
});

test("without a dashboard nothing is thrown", async () => {
  const happens = await pi("http://127.0.0.1:1");
  for (let at = 0; at < 200; at += 1) expect(happens("before_agent_start", { prompt: String(at) })).toBeUndefined();
  expect(happens("agent_end", { messages: undefined })).toBeUndefined();
});

test("opencode tells of its own sessions, not of those that they start", async () => {
  using board = await dashboard();
  const { TmuxwirePlugin: plugin } = await loaded("opencode", board.url);
  type Plugin = (place: object) => Promise<Record<string, (input: object, output?: object) => Promise<void>>>;
  const made = await (plugin as Plugin)({ directory: "/project" });
  const event = (type: string, properties: object) => made["event"]!({ event: { type, properties } });
  await event("session.created", { info: { id: "child", parentID: "s-1" } });
  await made["chat.message"]!({ sessionID: "child" }, { parts: [{ type: "text", text: "its own" }] });
  await made["chat.message"]!({ sessionID: "s-1" }, { parts: [{ type: "text", text: "do it" }] });
  await event("permission.asked", { sessionID: "s-1", permission: "bash", metadata: { command: "ls" } });
  await event("permission.replied", { sessionID: "s-1" });
  await event("session.idle", { sessionID: "child" });
  await event("session.idle", { sessionID: "s-1" });
  await event("something.else", {});
  await eventually(() => board.told.length === 5);
  expect(board.told.map(({ path }) => path?.slice("/hook/".length))).toEqual(
    "session-start user-prompt-submit permission-request post-tool-use stop".split(" "),
  );
  expect(new Set(board.told.map(({ body }) => body["session_id"]))).toEqual(new Set(["s-1"]));
});
