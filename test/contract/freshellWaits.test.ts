/** Waits of the Freshell contract over HTTP on a stub server: what is asked, limits, responses. The engine has its own tests. */
import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FRESHELL_TOKEN, FreshellFixture, type FreshellFixtureOptions } from "../support/daemon/freshellFixture.ts";
import { stubServer } from "../support/daemon/nativeServer.ts";
import { eventually } from "../support/clock/eventually.ts";

let freshell: FreshellFixture;
let id: string;
beforeEach(() => startWith({}));
afterEach(() => freshell[Symbol.asyncDispose]());

async function startWith(options: FreshellFixtureOptions): Promise<void> {
  freshell = await FreshellFixture.start(stubServer(), options);
  id = (await freshell.create()).terminalId;
}
async function restartWith(options: FreshellFixtureOptions): Promise<void> {
  await freshell[Symbol.asyncDispose]();
  await startWith(options);
}
const wait = (asked: object, terminalId = id) =>
  freshell.call("POST", "/api/waits", { target: { terminalId }, timeoutSec: 30, ...asked });
const type = (text: string) => freshell.call("POST", `/api/terminals/${id}/input`, { data: text });
const isActive = (count: number) => eventually(() => freshell.waits.metrics().wait_active === count);
/** Armed, then typed. */
async function waitWhile(asked: object, text: string) {
  const answer = wait(asked);
  await isActive(1);
  await type(text);
  return answer;
}
const fault = (code: string, more: object = {}) => ({
  error: { code, message: expect.any(String) as unknown, ...more },
});

describe("F104 F105 F106 F107 F109: what is found", () => {
  test("a literal by default, a regex when it is asked for", async () => {
    expect((await waitWhile({ pattern: "a.c", timeoutSec: 0.2 }, "abc")).json).toEqual(
      fault("TIMEOUT", { details: expect.anything() as unknown }),
    );
    const { status, json } = await waitWhile({ pattern: "a.c", regex: true }, "xabcx");
    expect([status, json]).toEqual([
      200,
      {
        matched: [{ predicate: "pattern", text: "abc", outputSeq: expect.any(Number) as unknown }],
        outputSeq: expect.any(Number) as unknown,
        elapsedMs: expect.any(Number) as unknown,
      },
    ]);
    expect((await waitWhile({ pattern: "a.c", literal: true }, "a.c")).status).toBe(200);
  });

  test("from now on, or from so many lines before", async () => {
    await type("one");
    await type("two");
    expect((await wait({ pattern: "two", timeoutSec: 0.05 })).status).toBe(408);
    expect((await wait({ pattern: "two", from: "tail:1" })).status).toBe(200);
    expect((await wait({ pattern: "one", from: "tail:1", timeoutSec: 0.05 })).status).toBe(408);
    expect((await wait({ pattern: "one", from: "tail:50" })).status).toBe(200);
  });

  test("F121: all predicates together; a time-out says how far each came", async () => {
    const { status, json } = await waitWhile(
      { pattern: "x", exit: true, stableSec: 50, prompt: true, timeoutSec: 0.2 },
      "x",
    );
    expect([status, json]).toMatchObject([
      408,
      {
        error: {
          code: "TIMEOUT",
          details: {
            predicates: {
              pattern: true,
              exit: false,
              prompt: false,
              stable: { satisfied: false, quietMs: expect.any(Number) as unknown },
            },
          },
        },
      },
    ]);
  });

  test("F112: silence, counted from the beginning of the wait", async () => {
    const { json } = await wait({ stableSec: 0.1 });
    expect(json).toMatchObject({ matched: [{ predicate: "stable" }] });
    expect(json["elapsedMs"]).toBeGreaterThanOrEqual(99);
  });
});

describe("F108 F122 F125 F130: what is refused, at once and without a place", () => {
  test.each<[object, number, string, RegExp]>([
    [{}, 400, "INVALID_ARGUMENT", /predicate/],
    [{ exit: false, prompt: false }, 400, "INVALID_ARGUMENT", /predicate/],
    [{ pattern: "x", literal: true, regex: true }, 400, "INVALID_ARGUMENT", /literal and regex/],
    [{ regex: true, exit: true }, 400, "INVALID_ARGUMENT", /pattern/],
    [{ pattern: "" }, 400, "INVALID_ARGUMENT", /^pattern: /],
    [{ pattern: "x", from: "tail:0" }, 400, "INVALID_ARGUMENT", /^from: /],
    [{ pattern: "x", from: "yesterday" }, 400, "INVALID_ARGUMENT", /^from: /],
    [{ pattern: "x", more: 1 }, 400, "INVALID_ARGUMENT", /more/],
    [{ pattern: "x", timeoutSec: 0 }, 400, "INVALID_ARGUMENT", /^timeoutSec: /],
    [{ pattern: "x", timeoutSec: -1 }, 400, "INVALID_ARGUMENT", /^timeoutSec: /],
    [{ stableSec: -1 }, 400, "INVALID_ARGUMENT", /stable/],
    [{ pattern: "x", timeoutSec: 3_601 }, 429, "RESOURCE_LIMIT", /timeout/],
    // 4,097 bytes in 3,000 characters.
    [{ pattern: `${"é".repeat(1_097)}${"x".repeat(1_903)}` }, 429, "RESOURCE_LIMIT", /pattern bytes/],
    [{ pattern: "(?=x)", regex: true }, 400, "INVALID_ARGUMENT", /look-ahead/],
    [{ pattern: "(x)\\1", regex: true }, 400, "INVALID_ARGUMENT", /back-reference/],
    [{ pattern: "(x", regex: true }, 400, "INVALID_ARGUMENT", /\(/],
  ])("%j", async (asked, status, code, message) => {
    const answer = await wait(asked);
    expect([answer.status, answer.json]).toMatchObject([
      status,
      { error: { code, message: expect.stringMatching(message) as unknown } },
    ]);
    expect(freshell.waits.metrics().wait_active).toBe(0);
  });

  test("F139: a terminal that is not there, and one that goes meanwhile", async () => {
    expect(await wait({ exit: true }, "x".repeat(21))).toMatchObject({ status: 404, json: fault("NOT_FOUND") });
    expect(await freshell.call("POST", "/api/waits", { target: { paneId: "p" }, exit: true })).toMatchObject({
      status: 400,
    });
    const waiting = wait({ pattern: "never" });
    await isActive(1);
    await freshell.call("POST", `/api/terminals/${id}/kill`);
    expect(await waiting).toMatchObject({ status: 404, json: fault("NOT_FOUND") });
    await isActive(0);
  });
});

describe("F123 F124 F126 F127 F128 F131 F135: limits", () => {
  const limits = { maxGlobal: 8, maxPerTarget: 4, maxTimeoutSec: 3_600, maxPatternBytes: 4_096, maxRegexPerTarget: 1 };

  test("so many in all, on one terminal, with a regex; others are not concerned", async () => {
    await restartWith({ config: { waits: limits } });
    const waiting = [wait({ pattern: "never", regex: true })];
    await isActive(1);
    expect(await wait({ pattern: "no", regex: true })).toMatchObject({
      status: 429,
      json: { error: { code: "RESOURCE_LIMIT" } },
    });
    for (let count = 2; count <= 4; count += 1) {
      waiting.push(wait({ pattern: "never" }));
      await isActive(count);
    }
    expect(await wait({ pattern: "no" })).toMatchObject({ status: 429 });
    const other = (await freshell.create()).terminalId;
    for (let count = 5; count <= 8; count += 1) {
      waiting.push(wait({ pattern: "never" }, other));
      await isActive(count);
    }
    const third = (await freshell.create()).terminalId;
    expect(await wait({ pattern: "no" }, third)).toMatchObject({ status: 429 });
    // A regex goes first when it is nearly full: three quarters of eight.
    expect(await wait({ pattern: "no", regex: true }, third)).toMatchObject({ status: 429 });
    const { text } = await freshell.call("GET", "/api/metrics");
    expect(text).toMatch(/^wait_active 8$/m);
    expect(text).toMatch(/^wait_resource_limit_total 4$/m);
    // Identical ones on one terminal share a matcher.
    expect(text).toMatch(/^wait_matchers 3$/m);
    for (const terminalId of [id, other]) await freshell.call("POST", `/api/terminals/${terminalId}/kill`);
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(404);
  });

  test("more than the engine's own number, when that is asked for", async () => {
    await restartWith({ config: { waits: { ...limits, maxGlobal: 600, maxPerTarget: 600 } } });
    const client = await freshell.connect();
    for (let at = 0; at < 600; at += 1) {
      client.send({
        type: "wait.start",
        requestId: `w${at}`,
        target: { terminalId: id },
        pattern: "go",
        timeoutSec: 60,
      });
    }
    await isActive(600);
    await type("go");
    for (let at = 0; at < 600; at += 1) expect(await client.next("wait.result")).toMatchObject({ ok: true });
    await isActive(0);
  });

  test("without RE2 a literal still works", async () => {
    await restartWith({ config: { disableRegex: true } });
    expect(await wait({ pattern: "x", regex: true })).toMatchObject({
      status: 501,
      json: { error: { code: "UNSUPPORTED_PATTERN_ENGINE" } },
    });
    expect((await waitWhile({ pattern: "x" }, "x")).status).toBe(200);
  });

  test("a connection that closes frees its wait", async () => {
    const outgoing = request(`${freshell.url}/api/waits`, {
      method: "POST",
      headers: { "x-auth-token": FRESHELL_TOKEN, "content-type": "application/json" },
    });
    outgoing.on("error", () => undefined);
    outgoing.end(JSON.stringify({ target: { terminalId: id }, pattern: "never", timeoutSec: 60 }));
    await isActive(1);
    outgoing.destroy();
    await isActive(0);
    expect((await freshell.call("GET", "/api/metrics")).text).toMatch(/^wait_cancelled_total 1$/m);
  });
});
