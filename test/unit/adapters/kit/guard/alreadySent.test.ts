import { Hono } from "hono";
import { expect, test, vi } from "vitest";
import { alreadySent } from "../../../../../adapters/kit/guard/alreadySent.ts";
import type { GuardEnv } from "../../../../../adapters/kit/guard/requestGuard.ts";
import { listen } from "../../../../../adapters/kit/listeners/listen.ts";
import { systemClock } from "../../../../../daemon/time/clock.ts";

test("a response that a handler has written is not written again, although the server is loaded", async () => {
  const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const app = new Hono<GuardEnv>();
  app.get("/", (c) => {
    c.env.outgoing!.writeHead(202, { "content-type": "text/plain" });
    c.env.outgoing!.write("by hand, ");
    setImmediate(() => c.env.outgoing!.end("to its end"));
    return alreadySent();
  });
  const listener = await listen({ fetch: app.fetch, host: "127.0.0.1", port: 0, clock: systemClock });
  try {
    const response = await fetch(`http://127.0.0.1:${listener.port}/`);
    expect([response.status, await response.text()]).toEqual([202, "by hand, to its end"]);
    expect(complaints).not.toHaveBeenCalled();
  } finally {
    await listener.close();
  }
});
