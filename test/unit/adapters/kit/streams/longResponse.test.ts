/** Responses that take long: their own status when they come soon; blanks and then JSON, or lines of it, when they do not. */
import { Hono } from "hono";
import { expect, test } from "vitest";
import {
  longResponse,
  streamedResponse,
  textResponse,
  wantsLines,
  wantsText,
} from "../../../../../adapters/kit/streams/longResponse.ts";
import { errorBody } from "../../../../../adapters/kit/operations/errorBody.ts";
import { visibleError } from "../../../../../adapters/kit/guard/httpErrors.ts";
import type { GuardEnv } from "../../../../../adapters/kit/guard/requestGuard.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import { deferred } from "../../../../support/clock/deferred.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

type Listener = Parameters<Parameters<typeof streamedResponse>[2]>[1];

/** A request whose work is settled by the test. */
function asked(kind: "long" | "streamed", statusOf?: () => 202) {
  const clock = new FakeClock();
  const work = deferred<object>();
  const called = deferred<{ signal: AbortSignal; told: Listener }>();
  const options = { clock, errorBody: (error: unknown) => errorBody(visibleError(error)) };
  const app = new Hono<GuardEnv>();
  app.onError((error, c) => c.text(error.message, 408));
  app.get("/", (c) => {
    const run = (signal: AbortSignal, told?: Listener): Promise<object> => {
      called.resolve({ signal, told: told! });
      return work.promise;
    };
    return kind === "long" ? longResponse(c, { ...options, statusOf }, run) : streamedResponse(c, options, run);
  });
  const abort = new AbortController();
  const response = app.request("http://localhost/", { signal: abort.signal });
  return { clock, work, response, called: called.promise, abort };
}

test("one that comes soon is an ordinary response", async () => {
  const { clock, response, work, called } = asked("long");
  clock.advanceMs(9_999);
  // What it does on its way is for a stream alone.
  expect((await called).told).toBeUndefined();
  work.resolve({ ok: true });
  expect(await (await response).text()).toBe('{"ok":true}');
  expect(clock.pendingTimers).toBe(0);
});

test("one that comes soon may have a status of its own", async () => {
  const { response, work } = asked("long", () => 202);
  work.resolve({ ok: true });
  expect((await response).status).toBe(202);
});

test("an error that comes soon has its own status", async () => {
  const { clock, response, work } = asked("long");
  work.reject(new AppError("TIMEOUT", "too late"));
  expect((await response).status).toBe(408);
  expect(clock.pendingTimers).toBe(0);
});

test("one that comes late is preceded by a blank every 10 s", async () => {
  const { clock, response, work } = asked("long");
  clock.advanceMs(10_000);
  const answer = await response;
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
  clock.advanceMs(10_000);
  clock.advanceMs(10_000);
  work.resolve({ ok: true });
  const text = await answer.text();
  expect(text).toBe('   {"ok":true}');
  expect(JSON.parse(text)).toEqual({ ok: true });
  expect(clock.pendingTimers).toBe(0);
});

test("an error that comes late stands in the body", async () => {
  const { clock, response, work } = asked("long");
  clock.advanceMs(10_000);
  const answer = await response;
  work.reject(new AppError("TIMEOUT", "too late", { details: { predicates: {} } }));
  expect(JSON.parse(await answer.text())).toEqual({
    error: { code: "TIMEOUT", message: "too late", details: { predicates: {} } },
  });
});

test("a client that leaves ends the work and the blanks", async () => {
  const { clock, response, called, abort } = asked("long");
  clock.advanceMs(10_000);
  const answer = await response;
  abort.abort();
  expect((await called).signal.aborted).toBe(true);
  await answer.body?.cancel();
  expect(clock.pendingTimers).toBe(0);
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const linesOf = async (response: Response): Promise<unknown[]> =>
  (await response.text())
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);

test("tells what is typed and printed, then the result", async () => {
  const { clock, work, response, called } = asked("streamed");
  const { told } = await called;
  told.onTyped();
  told.onOutput(bytes("one\n"));
  work.resolve({ exitCode: 0 });
  const answer = await response;
  expect(answer.headers.get("content-type")).toBe("application/x-ndjson");
  expect(await linesOf(answer)).toEqual([{ typed: true }, { output: "b25lCg==" }, { exitCode: 0 }]);
  expect(clock.pendingTimers).toBe(0);
});

test("a result before anything is told is a line, too", async () => {
  const { work, response } = asked("streamed");
  work.resolve({ exitCode: 0 });
  const answer = await response;
  expect([answer.status, await answer.text()]).toEqual([200, '{"exitCode":0}\n']);
});

test("an error before anything is told has its own status, a later one is the last line", async () => {
  const early = asked("streamed");
  await early.called;
  early.work.reject(new AppError("TIMEOUT", "too late"));
  expect((await early.response).status).toBe(408);
  expect(early.clock.pendingTimers).toBe(0);

  const late = asked("streamed");
  (await late.called).told.onTyped();
  late.work.reject(new AppError("TIMEOUT", "too late"));
  expect(await linesOf(await late.response)).toEqual([
    { typed: true },
    { error: { code: "TIMEOUT", message: "too late" } },
  ]);
});

test("an empty line every 10 s keeps the connection", async () => {
  const { clock, work, response, called } = asked("streamed");
  await called;
  clock.advanceMs(20_000);
  work.resolve({ exitCode: 0 });
  expect(await (await response).text()).toBe('\n\n{"exitCode":0}\n');
});

test("what a slow reader cannot be given is counted, and nothing grows", async () => {
  const { work, response, called } = asked("streamed");
  const { told } = await called;
  const piece = new Uint8Array(1_048_576);
  for (let i = 0; i < 20; i += 1) told.onOutput(piece);
  const answer = await response;
  work.resolve({ exitCode: 0 });
  const lines = (await linesOf(answer)) as { output?: string; skipped?: number }[];
  const outputs = lines.filter(({ output }) => output !== undefined).length;
  const skipped = lines.reduce((sum, line) => sum + (line.skipped ?? 0), 0);
  expect(outputs).toBeLessThan(10);
  expect(outputs * piece.length + skipped).toBe(20 * piece.length);
  expect(lines.at(-1)).toEqual({ exitCode: 0 });
});

test("a reader that leaves ends the work", async () => {
  const { clock, response, called, work } = asked("streamed");
  const { signal, told } = await called;
  told.onTyped();
  await (await response).body?.cancel();
  expect(signal.aborted).toBe(true);
  expect(clock.pendingTimers).toBe(0);
  // Nobody reads this.
  told.onOutput(bytes("some"));
  told.onTyped();
  work.resolve({ exitCode: 0 });
  expect(await work.promise).toEqual({ exitCode: 0 });
});

test.each([
  ["application/x-ndjson", true],
  ["application/json, application/x-ndjson;q=0.5", true],
  ["*/*", false],
  [undefined, false],
])("Accept: %s", async (accept, expected) => {
  const app = new Hono<GuardEnv>();
  app.get("/", (c) => c.json(wantsLines(c)));
  const headers = accept === undefined ? {} : { accept };
  expect(await (await app.request("http://localhost/", { headers })).json()).toBe(expected);
});

test("text comes when it is complete, however late, with nothing before it", async () => {
  const clock = new FakeClock();
  const work = deferred<{ readonly text: string; readonly headers: Record<string, string> }>();
  const app = new Hono<GuardEnv>();
  app.get("/", (c) => textResponse(c, () => work.promise));
  const response = app.request("http://localhost/");
  clock.advanceMs(60_000);
  work.resolve({ text: "42 passed\n", headers: { "tmuxwire-exit-status": "0" } });
  const { status, headers } = await response;
  expect(await (await response).text()).toBe("42 passed\n");
  expect([status, headers.get("content-type"), headers.get("tmuxwire-exit-status")]).toEqual([
    200,
    "text/plain; charset=utf-8",
    "0",
  ]);
});

test("text that cannot be had is an error with its own status, and who goes away ends it", async () => {
  const app = new Hono<GuardEnv>();
  app.onError((error, c) => c.text(error.message, 408));
  const seen = deferred<AbortSignal>();
  app.get("/", (c) => textResponse(c, () => Promise.reject(new AppError("TIMEOUT", "too late"))));
  app.get("/ever", (c) =>
    textResponse(c, (signal) => {
      seen.resolve(signal);
      return new Promise(() => undefined);
    }),
  );
  expect((await app.request("http://localhost/")).status).toBe(408);
  const abort = new AbortController();
  void app.request("http://localhost/ever", { signal: abort.signal });
  const signal = await seen.promise;
  abort.abort();
  expect(signal.aborted).toBe(true);
});

test.each([
  ["text/plain", true],
  ["text/plain;charset=utf-8, */*", true],
  // As axios sends it.
  ["application/json, text/plain, */*", false],
  ["*/*", false],
  ["text/*", false],
  [undefined, false],
])("`Accept: %s` asks for text: %s", async (accept, wants) => {
  const app = new Hono<GuardEnv>();
  app.get("/", (c) => c.json(wantsText(c)));
  const response = await app.request("http://localhost/", accept === undefined ? {} : { headers: { accept } });
  expect(await response.json()).toBe(wants);
});
