/** Operations on some of the daemon's servers reach none of the others, however the subject is named. */
import { expect, test } from "vitest";
import { requireServed } from "../../../../adapters/serving/operationContext.ts";
import type { OperationContext } from "../../../../adapters/operations/operation.ts";
import { StubServer } from "../../../../daemon/servers/stub/stubServer.ts";
import { AppError } from "../../../../protocol/errors.ts";

const stub = () => new StubServer({ nowUnixMs: Date.now, onListenerError: () => undefined });

async function scene() {
  const [served, other] = [stub(), stub()];
  const session = await served.createSession({ name: "work" });
  const hidden = await other.createSession({ name: "hidden" });
  const agent = { server: other, serverName: "other", pane: hidden.activePane! };
  const find = (name: string) => {
    if (name === "api") return agent;
    throw new AppError("NOT_FOUND", "there is none");
  };
  const context = {
    servers: new Map([["main", served]]),
    agents: { running: (name: string) => (name === "api" ? agent : undefined), find, agents: () => [] },
    messages: { find: () => ({ agent: "api" }) },
  } as unknown as OperationContext;
  const isServed = (server: unknown): boolean => server === served;
  return { context, isServed, pane: session.activePane! };
}

test.each([
  ["its name", { agent: "api" }],
  ["a message to it", { message: "m1" }],
  ["its name as a pane", { server: "main", pane: "api" }],
  ["its name as a pane of a server that is not served", { server: "other", pane: "api" }],
])("an agent of another server is not reached by %s", async (_what, names) => {
  const { context, isServed } = await scene();
  expect(() => requireServed(context, names, isServed as never)).toThrow(
    expect.objectContaining({ code: "NOT_FOUND" }) as Error,
  );
});

test("what is served is reached", async () => {
  const { context, isServed, pane } = await scene();
  for (const names of [
    { server: "main", pane },
    { server: "main", pane: "work" },
    { server: "main", session: "work" },
  ]) {
    expect(() => requireServed(context, names, isServed as never)).not.toThrow();
  }
});
