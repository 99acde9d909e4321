import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient } from "../../../../adapters/client/client.ts";

class FakeWebSocket {
  static readonly made: FakeWebSocket[] = [];
  binaryType = "";
  readyState = 0;
  readonly sent: { readonly type: string; readonly id: number }[] = [];
  readonly #listeners: [string, (event: { readonly data: unknown }) => void][] = [];

  constructor() {
    FakeWebSocket.made.push(this);
  }

  addEventListener(type: string, listener: (event: { readonly data: unknown }) => void): void {
    this.#listeners.push([type, listener]);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as { type: string; id: number });
  }

  close(): void {}

  tell(type: "open" | "close" | "message", message?: object): void {
    if (type === "open") this.readyState = 1;
    if (type === "close") this.readyState = 3;
    for (const [known, listener] of this.#listeners) if (known === type) listener({ data: JSON.stringify(message) });
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  FakeWebSocket.made.length = 0;
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("a stream that closes just before its connection is lost is subscribed once on the next connection", async () => {
  const socket = createClient({ url: "http://127.0.0.1:1" }).openSocket({ WebSocket: FakeWebSocket });
  const events = socket.follow("main", "%1");
  const [first] = FakeWebSocket.made;
  first!.tell("open");
  first!.tell("message", {
    type: "subscribed",
    id: first!.sent[0]!.id,
    channel: 1,
    server: "main",
    pane: "%1",
    position: "e1:0",
    cols: 80,
    rows: 24,
  });
  await expect(events.next()).resolves.toMatchObject({ value: { kind: "open", position: "e1:0" } });
  // The stream's own delay is the longer one.
  vi.spyOn(Math, "random").mockReturnValueOnce(1).mockReturnValue(0);
  first!.tell("message", { type: "closed", channel: 1, code: "SHUTTING_DOWN", message: "the daemon is stopping" });
  first!.tell("close");
  await vi.advanceTimersByTimeAsync(60_000);
  const [, second, third] = FakeWebSocket.made;
  expect(third).toBeUndefined();
  second!.tell("open");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(second!.sent.map(({ type }) => type)).toEqual(["subscribe"]);
  socket.close();
});

test("a reader that leaves while its pane is subscribed again ends no other pane's stream", async () => {
  const socket = createClient({ url: "http://127.0.0.1:1" }).openSocket({ WebSocket: FakeWebSocket });
  const events = socket.follow("main", "%1");
  const open = { type: "subscribed", server: "main", pane: "%1", cols: 80, rows: 24 };
  const [first] = FakeWebSocket.made;
  first!.tell("open");
  first!.tell("message", { ...open, id: first!.sent[0]!.id, channel: 2, position: "e1:0" });
  await expect(events.next()).resolves.toMatchObject({ value: { kind: "open" } });
  first!.tell("close");
  await vi.advanceTimersByTimeAsync(60_000);
  const [, second] = FakeWebSocket.made;
  second!.tell("open");
  // In another daemon the number may be another pane's.
  await events.return();
  expect(second!.sent.map(({ type }) => type)).toEqual(["subscribe"]);
  second!.tell("message", { ...open, id: second!.sent[0]!.id, channel: 1, position: "e1:0" });
  expect(second!.sent[1]).toMatchObject({ type: "unsubscribe", channel: 1 });
  socket.close();
});

test("a stream that is not to be resumed fails when its connection is lost", async () => {
  const socket = createClient({ url: "http://127.0.0.1:1" }).openSocket({ WebSocket: FakeWebSocket });
  const refused = socket
    .follow("main", "%1", { resume: false })
    .next()
    .catch((error: unknown) => error);
  const [first] = FakeWebSocket.made;
  first!.tell("open");
  first!.tell("close");
  await vi.advanceTimersByTimeAsync(60_000);
  FakeWebSocket.made[1]!.tell("open");
  expect(FakeWebSocket.made[1]!.sent).toEqual([]);
  await expect(refused).resolves.toMatchObject({ code: "DAEMON_UNREACHABLE" });
  socket.close();
});
