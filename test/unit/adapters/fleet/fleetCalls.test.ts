/** A call over NATS reaches the published servers alone. */
import type { Msg } from "@nats-io/transport-node";
import { expect, test, vi } from "vitest";
import { FleetCalls } from "../../../../adapters/fleet/fleetCalls.ts";
import type { NatsLink } from "../../../../adapters/fleet/natsLink.ts";
import type { OperationContext } from "../../../../adapters/operations/operation.ts";
import { StubServer } from "../../../../daemon/servers/stub/stubServer.ts";

const stub = () => new StubServer({ nowUnixMs: Date.now, onListenerError: () => undefined });

test("an agent's name in a call's input reaches no pane of a server that is not published", async () => {
  const [published, other] = [stub(), stub()];
  await published.createSession({ name: "work" });
  const hidden = await other.createSession({ name: "hidden" });
  const runs = [published, other].map(({ layout }) => vi.spyOn(layout, "run").mockResolvedValue({}));
  const agent = { server: other, serverName: "other", pane: hidden.activePane! };
  const context = {
    servers: new Map([["main", published]]),
    agents: { running: (name: string) => (name === "api" ? agent : undefined), agents: () => [] },
    measure: async (_operation: string, work: () => unknown) => work(),
  } as unknown as OperationContext;
  let handle: (message: Msg) => void = () => undefined;
  const link = { answer: (_subject: string, callback: typeof handle) => ((handle = callback), () => undefined) };
  new FleetCalls(context, () => 1_048_576).serve(link as unknown as NatsLink, "box", new Set(["kill-pane"]));
  const call = (pane: string): Promise<object> =>
    new Promise((resolve) => {
      const data = Buffer.from(JSON.stringify({ server: "main", input: { pane } }));
      const respond = (text: string): boolean => (resolve(JSON.parse(text) as object), true);
      handle({ data, json: () => JSON.parse(data.toString()) as unknown, respond } as unknown as Msg);
    });
  expect(await call("api")).toMatchObject({ error: { code: "NOT_FOUND" } });
  expect(await call("work")).toHaveProperty("output");
  expect(runs.map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
});
