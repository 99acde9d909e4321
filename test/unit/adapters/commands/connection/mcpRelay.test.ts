/** `tmuxwire mcp` between pipes and a WebSocket: every request is answered once. */
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import type { WebSocket } from "ws";
import { expect, test } from "vitest";
import type { Io } from "../../../../../adapters/cli/cliIo.ts";
import { STREAM_MAX_MESSAGE_BYTES } from "../../../../../protocol/api/native/nativeFrames.ts";
import { McpRelay } from "../../../../../adapters/commands/connection/mcpRelay.ts";

const OPEN = 1;
const CLOSING = 2;

/** Responds to every request in a later turn. */
class FakeSocket extends EventEmitter {
  readonly OPEN = OPEN;
  readyState = OPEN;
  readonly sent: string[] = [];

  send(line: string): void {
    this.sent.push(line);
    const { id } = JSON.parse(line) as { id?: number };
    if (id !== undefined)
      setImmediate(() => this.emit("message", Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, result: {} }))));
  }

  close(): void {
    this.readyState = CLOSING;
  }
}

function relay(connect: () => Promise<FakeSocket>) {
  const stdin = new PassThrough();
  const written: object[] = [];
  const io = {
    stdin,
    signal: new AbortController().signal,
    out: async (text: string) => {
      if (text !== "") written.push(JSON.parse(text) as object);
    },
    err: () => undefined,
  } as unknown as Io;
  const ended = new McpRelay({ io, connect: async () => (await connect()) as unknown as WebSocket }).run();
  const ask = (id: number): void => void stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`);
  return { stdin, written, ended, ask };
}

const answered = (id: number) => ({ jsonrpc: "2.0", id, result: {} });

test("what was piped in is answered before the relay ends", async () => {
  const { stdin, written, ended, ask } = relay(async () => new FakeSocket());
  ask(1);
  ask(2);
  stdin.end();
  await ended;
  expect(written).toEqual([answered(1), answered(2)]);
});

test("a request that comes while a connection closes is answered by the next one alone", async () => {
  const sockets = [new FakeSocket(), new FakeSocket()] as const;
  const [first, second] = sockets;
  let connections = 0;
  const { stdin, written, ended, ask } = relay(async () => {
    if ((connections += 1) === 1) return first;
    // The first one's end is told while the next is made.
    first.emit("close");
    return second;
  });
  ask(1);
  await expect.poll(() => written).toEqual([answered(1)]);
  first.readyState = CLOSING;
  ask(2);
  await expect.poll(() => second.sent.length).toBe(1);
  stdin.end();
  await ended;
  expect(written).toEqual([answered(1), answered(2)]);
});

test("a message is a line that ends with LF, whatever its text holds and however it comes", async () => {
  const socket = new FakeSocket();
  const { stdin, written, ended } = relay(async () => socket);
  const message = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "ping",
    params: { text: "a\u2028b\u2029\u{1f600}" },
  });
  for (const byte of Buffer.from(`${message}\n`)) stdin.write(Buffer.from([byte]));
  stdin.end();
  await ended;
  expect(written).toEqual([answered(1)]);
  expect(socket.sent).toEqual([message]);
});

test("a message that the daemon would close the connection for is refused, and the others are answered", async () => {
  const socket = new FakeSocket();
  const { stdin, written, ended, ask } = relay(async () => socket);
  const large = { jsonrpc: "2.0", id: 1, method: "tools/call", params: "x".repeat(STREAM_MAX_MESSAGE_BYTES) };
  stdin.write(`${JSON.stringify(large)}\n`);
  ask(2);
  stdin.end();
  await ended;
  expect(written).toEqual([
    {
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32_000, message: expect.stringContaining("send it in pieces") as string },
    },
    answered(2),
  ]);
});

test("what a lost connection leaves unanswered is said to be lost, once", async () => {
  const socket = new FakeSocket();
  socket.send = (line) => void socket.sent.push(line);
  const { stdin, written, ended, ask } = relay(async () => socket);
  ask(1);
  await expect.poll(() => socket.sent.length).toBe(1);
  socket.emit("close");
  stdin.end();
  await ended;
  expect(written).toEqual([{ jsonrpc: "2.0", id: 1, error: { code: -32_000, message: expect.any(String) as string } }]);
});
