/** How answers and keys reach the daemon: once, in order, and never silently lost. */
import { describe, expect, test } from "vitest";
import type { AgentCard } from "../../../../../adapters/dashboard/page/model/agentCard.ts";
import type { Answered } from "../../../../../adapters/dashboard/page/net/api.ts";
import { Refused } from "../../../../../adapters/pages/askServer.ts";
import { createApi } from "../../../../../adapters/dashboard/page/net/api.ts";
import {
  InputSender,
  MAX_PIECE_CHARS,
  MAX_WAITING_CHARS,
  SEND_WITHIN_MS,
} from "../../../../../adapters/dashboard/page/net/inputSender.ts";
import type { AnswerResult } from "../../../../../adapters/dashboard/page/net/sendAnswer.ts";
import { sendAnswer } from "../../../../../adapters/dashboard/page/net/sendAnswer.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const answered = (body: unknown): Answered => ({ body, serverUnixMs: undefined });
const refusal = (status: number, errorType: string, retryAfterMs?: number): Refused =>
  new Refused(`words of ${errorType}`, status, errorType, { retryAfterMs });

/** Sends one answer to a server that answers so, one after another. */
async function send(...outcomes: (Refused | Answered)[]) {
  const clock = new FakeClock();
  const keys: string[] = [];
  const retries: number[] = [];
  const outcomeOf: { result?: AnswerResult } = {};
  const sending = sendAnswer({
    card: { agent_id: 3 } as AgentCard,
    answer: { kind: "text", text: "yes" },
    idempotencyKey: "key",
    clock,
    onRetry: (tries) => retries.push(tries),
    api: {
      respond: async (agentId, body, key) => {
        expect([agentId, body]).toEqual([3, { mode: "text", text: "yes" }]);
        keys.push(key);
        const outcome = outcomes.shift();
        if (outcome === undefined || outcome instanceof Refused) throw outcome ?? new Error("asked once too often");
        return outcome;
      },
      operate: () => Promise.reject(new Error("it is on this machine")),
    },
  }).then((made) => {
    outcomeOf.result = made;
    return made;
  });
  for (let count = 0; count < 20 && outcomeOf.result === undefined; count++) {
    // oxlint-disable-next-line no-await-in-loop -- time goes on between two tries
    await settled();
    clock.advanceMs(500);
  }
  return { result: await sending, keys, retries, pendingTimers: clock.pendingTimers };
}

describe("an answer", () => {
  test("is delivered, with the server's own latency", async () => {
    const { result, keys } = await send(answered({ status: "ok", delivery: "queued", latency_ms: 84 }));
    expect(result).toEqual({ kind: "delivered", delivery: "queued", latencyMs: 84 });
    const noted = await send(answered({ delivery: "echoed_unconfirmed", latency_ms: 84, screen_note: "No API key" }));
    expect(noted.result).toMatchObject({ screenNote: "No API key" });
    expect(keys).toEqual(["key"]);
  });

  test.each([
    ["502", refusal(502, "not_echoed")],
    ["503", refusal(503, "tmux_not_running")],
    ["no answer", refusal(0, "unreachable")],
  ])("is tried again with the same key after %s", async (_name, first) => {
    const { result, keys, retries } = await send(first, answered({ delivery: "submitted", latency_ms: 12 }));
    expect(result).toEqual({ kind: "delivered", delivery: "submitted", latencyMs: 12 });
    expect(keys).toEqual(["key", "key"]);
    expect(retries).toEqual([2]);
  });

  test("is given up after three tries, with the server's words, and leaves no timer", async () => {
    const { result, keys, pendingTimers } = await send(...[1, 2, 3].map(() => refusal(502, "not_echoed")));
    expect(result).toEqual({
      kind: "failed",
      errorType: "not_echoed",
      message: "words of not_echoed",
      textWritten: false,
    });
    expect(keys).toHaveLength(3);
    expect(pendingTimers).toBe(0);
  });

  test.each([400, 404, 409, 500])("is not tried again after %d", async (status) => {
    const { result, keys } = await send(refusal(status, "no"));
    expect(result).toEqual({ kind: "failed", errorType: "no", message: "words of no", textWritten: false });
    expect(keys).toHaveLength(1);
  });

  test("does not wait for a server that asks for much patience", async () => {
    const { keys } = await send(refusal(503, "full", 60_000));
    expect(keys).toHaveLength(1);
  });
});

describe("keys", () => {
  /** A server that answers when the test says so. */
  function typing() {
    const sent: string[] = [];
    const problems: string[] = [];
    const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
    const clock = new FakeClock();
    const sender = new InputSender({
      clock,
      send: (input, signal) =>
        new Promise<void>((resolve, reject) => {
          sent.push(input);
          signal.addEventListener("abort", () => reject(new Error("no response")));
          waiting.push({ resolve, reject });
        }),
      onProblem: (message) => problems.push(message),
    });
    return { sender, sent, problems, clock, next: () => waiting.shift() };
  }

  test("go one request after another, what is typed meanwhile together", async () => {
    const { sender, sent, next } = typing();
    for (const key of ["a", "b", "c"]) sender.type(key);
    expect(sent).toEqual(["a"]);
    next()?.resolve();
    await settled();
    expect(sent).toEqual(["a", "bc"]);
    next()?.resolve();
    await settled();
    sender.type("d");
    expect(sent).toEqual(["a", "bc", "d"]);
  });

  test("are never sent again: what waited behind a failure is dropped and told", async () => {
    const { sender, sent, problems, next } = typing();
    sender.type("a");
    sender.type("b");
    next()?.reject(new Error("the pane is gone"));
    await settled();
    expect(sent).toEqual(["a"]);
    expect(problems).toEqual(["the pane is gone"]);
    sender.type("c");
    expect(sent).toEqual(["a", "c"]);
  });

  test("do not wait for ever for a response that does not come", async () => {
    const { sender, sent, problems, clock, next } = typing();
    sender.type("a");
    clock.advanceMs(SEND_WITHIN_MS - 1);
    next()?.resolve();
    await settled();
    sender.type("b");
    sender.type("c");
    clock.advanceMs(SEND_WITHIN_MS);
    await settled();
    expect([sent, problems]).toEqual([["a", "b"], ["no response"]]);
    sender.type("d");
    next();
    next()?.resolve();
    await settled();
    expect([sent.at(-1), clock.pendingTimers]).toEqual(["d", 0]);
  });

  test("that are pasted go in pieces, no character in two", async () => {
    const { sender, sent, next } = typing();
    const text = `a${"🌊".repeat(MAX_PIECE_CHARS)}`;
    sender.type(text);
    for (let count = 0; count < 4; count++) {
      next()?.resolve();
      // oxlint-disable-next-line no-await-in-loop -- one request after another
      await settled();
    }
    expect(sent.join("")).toBe(text);
    expect(sent.length).toBe(3);
    expect(sent.every((piece) => piece.length <= MAX_PIECE_CHARS && !/\p{Surrogate}/u.test(piece))).toBe(true);
  });

  test("that are too many are left out and told", () => {
    const { sender, sent, problems } = typing();
    sender.type("a");
    sender.type("b".repeat(MAX_WAITING_CHARS));
    sender.type("c");
    expect(sent).toEqual(["a"]);
    expect(problems[0]).toContain("too much");
  });
});

const NO_STREAM = (): Promise<undefined> => Promise.resolve(undefined);

describe("the stream of events", () => {
  const { signal } = new AbortController();

  test("comes over a WebSocket where one can be opened, from the event after the last", async () => {
    const response = new Response();
    const asked: string[] = [];
    const api = createApi(
      () => Promise.reject(new Error("nothing is requested")),
      (path) => {
        asked.push(path);
        return Promise.resolve(response);
      },
    );
    expect(await api.events("7", signal)).toBe(response);
    expect(asked).toEqual(["/api/page/events?last_event_id=7"]);
  });

  test("is requested where none can, so that a refusal is told", async () => {
    const api = createApi(() => Promise.resolve(new Response(null, { status: 401 })), NO_STREAM);
    await expect(api.events(undefined, signal)).rejects.toMatchObject({ status: 401 });
  });
});

describe("a token", () => {
  test("goes in a header and in no address", async () => {
    const asked: unknown[] = [];
    const api = createApi((path, init) => {
      asked.push([path, init]);
      return Promise.resolve(new Response(null, { status: 204 }));
    }, NO_STREAM);
    await api.giveToken("a&b");
    expect(asked).toEqual([["/api/token", { method: "POST", headers: { authorization: "Bearer a&b" } }]]);
  });

  test("that no header can carry is a wrong one", async () => {
    const api = createApi(() => Promise.reject(new Error("nothing is asked")), NO_STREAM);
    await expect(api.giveToken("pässword")).rejects.toMatchObject({ status: 401, message: /plain ASCII/ });
  });
});

describe("a refusal", () => {
  const errorOf = async (response: Response): Promise<Refused> => {
    const api = createApi(() => Promise.resolve(response), NO_STREAM);
    return api.agents(new AbortController().signal).then(
      () => {
        throw new Error("it should fail");
      },
      (error: unknown) => error as Refused,
    );
  };

  test.each([
    ['{"status":"error","error_type":"timeout","message":"too slow"}', 502, "timeout", "too slow"],
    ['{"error":"Session x already exists"}', 409, "http_409", "Session x already exists"],
    ["forbidden", 403, "http_403", "this dashboard does not allow pages from this address"],
    ["", 401, "http_401", "this dashboard needs a token"],
    ["<html>", 500, "http_500", "the server responded with 500"],
  ])("%s is told in the server's words when it has some", async (text, status, errorType, message) => {
    const error = await errorOf(new Response(text, { status, headers: { "retry-after": "3" } }));
    expect(error).toMatchObject({ status, code: errorType, message, retryAfterMs: 3_000 });
  });

  test("says its reason, and that something was typed", async () => {
    const body = {
      status: "error",
      error_type: "wrong_state",
      reason: "box_changed",
      message: "x",
      text_written: true,
    };
    const error = await errorOf(Response.json(body, { status: 409 }));
    expect(error).toMatchObject({ code: "box_changed", details: { text_written: true } });
  });

  test("no answer at all says what to look at", async () => {
    const api = createApi(() => Promise.reject(new TypeError("fetch failed")), NO_STREAM);
    await expect(api.agents(new AbortController().signal)).rejects.toMatchObject({
      status: 0,
      code: "unreachable",
      message: "tmuxwire cannot be reached: is the daemon running?",
    });
  });
});
