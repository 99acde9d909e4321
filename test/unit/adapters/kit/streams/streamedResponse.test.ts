/** Responses that tell output as it comes, as lines of JSON. */
import { Hono } from "hono";
import { expect, test } from "vitest";
import { streamedResponse, wantsLines } from "../../../../../adapters/kit/streams/streamedResponse.ts";
import { errorBody } from "../../../../../adapters/native/errorBody.ts";
import { visibleError } from "../../../../../adapters/kit/guard/httpErrors.ts";
import type { GuardEnv } from "../../../../../adapters/kit/guard/requestGuard.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

type Told = Parameters<Parameters<typeof streamedResponse>[2]>[1];

function deferred<Value>() {
  let settle: { resolve: (value: Value) => void; reject: (error: unknown) => void } | undefined;
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle! };
}

function answering() {
  const clock = new FakeClock();
  const work = deferred<object>();
  const called = deferred<{ signal: AbortSignal; told: Told }>();
  const app = new Hono<GuardEnv>();
  app.onError((error, c) => c.text(error.message, 408));
  app.get("/", (c) => {
    const given = { clock, errorBody: (error: unknown) => errorBody(visibleError(error)) };
    return streamedResponse(c, given, (signal, told) => {
      called.resolve({ signal, told });
      return work.promise;
    });
  });
  return { clock, work, response: app.request("http://localhost/"), called: called.promise };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const linesOf = async (response: Response): Promise<unknown[]> =>
  (await response.text())
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);

test("tells what is typed and printed, then the result", async () => {
  const { clock, work, response, called } = answering();
  const { told } = await called;
  told.onTyped();
  told.onOutput(bytes("one\n"));
  work.resolve({ exitCode: 0 });
  const answer = await response;
  expect(answer.headers.get("content-type")).toBe("application/x-ndjson");
  expect(await linesOf(answer)).toEqual([{ typed: true }, { output: "b25lCg==" }, { exitCode: 0 }]);
  expect(clock.pendingTimers).toBe(0);
});

test("an error before anything is told has its own status, a later one is the last line", async () => {
  const early = answering();
  await early.called;
  early.work.reject(new AppError("TIMEOUT", "too late"));
  expect((await early.response).status).toBe(408);
  expect(early.clock.pendingTimers).toBe(0);

  const late = answering();
  (await late.called).told.onTyped();
  late.work.reject(new AppError("TIMEOUT", "too late"));
  expect(await linesOf(await late.response)).toEqual([
    { typed: true },
    { error: { code: "TIMEOUT", message: "too late" } },
  ]);
});

test("an empty line every 10 s keeps the connection", async () => {
  const { clock, work, response, called } = answering();
  await called;
  clock.advanceMs(20_000);
  work.resolve({ exitCode: 0 });
  expect(await (await response).text()).toBe('\n\n{"exitCode":0}\n');
});

test("what a slow reader cannot be given is counted, and nothing grows", async () => {
  const { work, response, called } = answering();
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
  const { clock, response, called } = answering();
  const { signal, told } = await called;
  told.onTyped();
  await (await response).body?.cancel();
  expect(signal.aborted).toBe(true);
  expect(clock.pendingTimers).toBe(0);
  told.onOutput(bytes("nobody reads it"));
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
