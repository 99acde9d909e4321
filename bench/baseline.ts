/**
 * What the clients do today: a tmux process per operation, and polling. Measured at its best: no shell in between, the
 * pane's server has no other client, and the poll that sees the response is the first that could.
 */
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { check } from "./figures.ts";
import { benchEnvironment, SESSION } from "./privateServer.ts";

/** One tmux command in a process of its own; its stdout. */
export function tmuxProcess(socketPath: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("tmux", ["-u", "-S", socketPath, ...args], {
      env: benchEnvironment,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let stdout = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text: string) => (stdout += text));
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`tmux ${args[0]} exited with ${code}`));
    });
  });
}

export const sendText = (socketPath: string, text: string): Promise<string> =>
  tmuxProcess(socketPath, ["send-keys", "-t", SESSION, "-l", "--", text]);

export const captureLines = (socketPath: string, lines: number): Promise<string> =>
  tmuxProcess(socketPath, ["capture-pane", "-p", "-t", SESSION, "-S", `-${lines}`]);

/** A screen that does not show it within this many captures will not. */
const MAX_POLLS = 1_000;

/** Captures without a pause until `text` is on the screen: polling at its best. */
export async function pollUntilSeen(socketPath: string, text: string): Promise<void> {
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    if ((await tmuxProcess(socketPath, ["capture-pane", "-p", "-t", SESSION])).includes(text)) return;
  }
  check(false, `${text} did not appear`);
}

/** The add-in's present bridge between two looks at the screen (docs/contracts/addin.md §5). */
const BRIDGE_POLL_MS = 120;

export interface Bridge extends AsyncDisposable {
  readonly port: number;
}

interface BridgeRequest {
  readonly action: string;
  readonly text?: string;
  readonly keys?: readonly string[];
  readonly enter?: boolean;
  readonly lines?: number;
  readonly wait_for?: string;
}

/** The least bridge that serves the add-in's requests: a process per operation, a poll every 120 ms for `wait_for`. */
export async function startBridge(socketPath: string): Promise<Bridge> {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const output = await serve(socketPath, await readJson(request));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ok: true, output }));
  };
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  // Its client waits between two comparisons, and does not connect again.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(socketPath: string, request: BridgeRequest): Promise<string> {
  const { action, text, keys = [], enter, lines = 200, wait_for: waitFor } = request;
  if (action === "list_sessions") return tmuxProcess(socketPath, ["list-sessions", "-F", "#{session_name}"]);
  if (action !== "capture_pane") {
    if (text !== undefined) await sendText(socketPath, text);
    for (const key of keys) await tmuxProcess(socketPath, ["send-keys", "-t", SESSION, key]);
    if (enter === true) await tmuxProcess(socketPath, ["send-keys", "-t", SESSION, "Enter"]);
    if (action === "send_keys") return "";
  }
  const pattern = waitFor === undefined ? undefined : new RegExp(waitFor, "m");
  for (;;) {
    const output = await captureLines(socketPath, lines);
    if (pattern === undefined || pattern.test(output)) return output;
    await delay(BRIDGE_POLL_MS);
  }
}

async function readJson(request: IncomingMessage): Promise<BridgeRequest> {
  let text = "";
  request.setEncoding("utf8");
  for await (const part of request) text += String(part);
  return JSON.parse(text) as BridgeRequest;
}
