import { once } from "node:events";
import { connect } from "node:net";
import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import type { GuardEnv } from "../../../../../adapters/kit/guard/requestGuard.ts";
import { listen } from "../../../../../adapters/kit/listeners/listen.ts";
import { requestAbort } from "../../../../../adapters/kit/guard/requestAbort.ts";
import { systemClock } from "../../../../../daemon/time/clock.ts";

const GONE = { code: "CANCELLED", message: "the client closed the connection" };

/** What a handler gets whose client leaves before or after it asks. */
async function abortOf(asks: "before" | "after"): Promise<AbortController> {
  const app = new Hono<GuardEnv>();
  const listener = await listen({ fetch: app.fetch, host: "127.0.0.1", port: 0, clock: systemClock });
  const client = connect(listener.port, "127.0.0.1");
  try {
    return await new Promise((resolve) => {
      app.get("/", async (c) => {
        const early = asks === "before" ? requestAbort(c) : undefined;
        const left = once(c.env.outgoing!, "close");
        client.destroy();
        await left;
        resolve(early ?? requestAbort(c));
        return c.body(null, 204);
      });
      client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    });
  } finally {
    await listener.close();
  }
}

describe("requestAbort", () => {
  test.each(["before", "after"] as const)("asked for %s the client leaves", async (asks) => {
    const { signal } = await abortOf(asks);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject(GONE);
  });

  test.each([true, false])("without a socket; aborted already: %s", async (isAborted) => {
    const caller = new AbortController();
    if (isAborted) caller.abort();
    const app = new Hono<GuardEnv>();
    let abort: AbortController | undefined;
    app.get("/", (c) => {
      abort = requestAbort(c);
      return c.body(null, 204);
    });
    await app.request("/", { signal: caller.signal });
    caller.abort();
    expect(abort?.signal.reason).toMatchObject(GONE);
  });
});
