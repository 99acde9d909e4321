/** Responses that take long: their own status when they come soon, blanks and then JSON when they do not. */
import { Hono } from "hono";
import { expect, test } from "vitest";
import { longResponse } from "../../../../../adapters/kit/streams/longResponse.ts";
import { errorBody } from "../../../../../adapters/native/errorBody.ts";
import { visibleError } from "../../../../../adapters/kit/guard/httpErrors.ts";
import type { GuardEnv } from "../../../../../adapters/kit/guard/requestGuard.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

const shown = (error: unknown): object => errorBody(visibleError(error));

function answering() {
  const clock = new FakeClock();
  let settle: { resolve: (answer: object) => void; reject: (error: unknown) => void } | undefined;
  const work = new Promise<object>((resolve, reject) => {
    settle = { resolve, reject };
  });
  let signal: AbortSignal | undefined;
  const app = new Hono<GuardEnv>();
  app.onError((error, c) => c.text(error.message, 408));
  app.get("/", (c) =>
    longResponse(c, { clock, errorBody: shown }, (given) => {
      signal = given;
      return work;
    }),
  );
  const abort = new AbortController();
  const response = app.request("http://localhost/", { signal: abort.signal });
  return { clock, response, ...settle!, abort, signal: () => signal };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("one that comes soon is an ordinary response", async () => {
  const { clock, response, resolve } = answering();
  clock.advanceMs(9_999);
  resolve({ ok: true });
  expect(await (await response).text()).toBe('{"ok":true}');
  expect(clock.pendingTimers).toBe(0);
});

test("an error that comes soon has its own status", async () => {
  const { clock, response, reject } = answering();
  reject(new AppError("TIMEOUT", "too late"));
  expect((await response).status).toBe(408);
  expect(clock.pendingTimers).toBe(0);
});

test("one that comes late is preceded by a blank every 10 s", async () => {
  const { clock, response, resolve } = answering();
  clock.advanceMs(10_000);
  const answer = await response;
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
  clock.advanceMs(10_000);
  clock.advanceMs(10_000);
  resolve({ ok: true });
  const text = await answer.text();
  expect(text).toBe('   {"ok":true}');
  expect(JSON.parse(text)).toEqual({ ok: true });
  expect(clock.pendingTimers).toBe(0);
});

test("an error that comes late stands in the body", async () => {
  const { clock, response, reject } = answering();
  clock.advanceMs(10_000);
  const answer = await response;
  reject(new AppError("TIMEOUT", "too late", { details: { predicates: {} } }));
  expect(JSON.parse(await answer.text())).toEqual({
    error: { code: "TIMEOUT", message: "too late", details: { predicates: {} } },
  });
});

test("a client that leaves ends the work and the blanks", async () => {
  const { clock, response, signal, abort } = answering();
  clock.advanceMs(10_000);
  const answer = await response;
  abort.abort();
  expect(signal()?.aborted).toBe(true);
  await answer.body?.cancel();
  await turn();
  expect(clock.pendingTimers).toBe(0);
});
