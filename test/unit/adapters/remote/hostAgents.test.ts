import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { HostAgents, MAX_HOST_AGENTS } from "../../../../adapters/remote/hostAgents.ts";
import { RemoteHost } from "../../../../adapters/remote/remoteHost.ts";
import { EXAMPLE_AGENT, EXAMPLE_MESSAGE } from "../../../../adapters/operations/examples.ts";
import { systemClock } from "../../../../daemon/time/clock.ts";
import type { HostEvent } from "../../../../protocol/api/dashboardHosts.ts";
import { Waiters } from "../../../support/clock/waiters.ts";
import { cutLink } from "../../../support/daemon/cutLink.ts";

interface Far extends AsyncDisposable {
  /** What a page is told, in order. */
  readonly events: HostEvent[];
  readonly until: <Type extends HostEvent["type"]>(type: Type) => Promise<Extract<HostEvent, { readonly type: Type }>>;
  /** Bytes that the page takes. */
  room: number;
  pump(): void;
  cut(): void;
  mend(): void;
}

/** A machine whose daemon sends these events to whoever follows its agents; undefined: it knows no such stream. */
async function far(sent: readonly (object | string)[] | undefined): Promise<Far> {
  const server = createServer((request, response) => {
    if (sent === undefined || request.url !== "/v1/agent-events") {
      const error = { code: "NOT_FOUND", message: "there is nothing at this path" };
      response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ error }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const each of sent) response.write(`data: ${typeof each === "string" ? each : JSON.stringify(each)}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const link = await cutLink((server.address() as AddressInfo).port);
  const host = new RemoteHost({ name: "far", destination: "far.example" }, link, systemClock);
  const events: HostEvent[] = [];
  const waiters = new Waiters();
  const at = { room: 1 };
  const reader = new HostAgents({
    hosts: { all: () => [host], subscribe: (listener) => link.subscribe(() => listener("far")) },
    clock: systemClock,
    out: {
      room: () => at.room,
      write: (frame) => {
        events.push(JSON.parse(/^data: (.*)$/m.exec(String(frame))?.[1] ?? "") as HostEvent);
        waiters.probe();
      },
    },
  });
  reader.pump();
  return Object.assign(at, {
    events,
    until: (type: HostEvent["type"]) => waiters.until(() => events.find((event) => event.type === type)) as never,
    pump: () => reader.pump(),
    cut: () => link.cut(),
    mend: () => link.mend(),
    [Symbol.asyncDispose]: async () => {
      reader.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await link.close();
    },
  });
}

const agentId = (number: number): string => `agent-${String(number).padStart(12, "0")}`;
const agents = (...list: readonly object[]) => ({ type: "agents", agents: list, messages: [] });

test("a page is told of the machine, then of its agents under their names here", async () => {
  await using at = await far([{ type: "agents", agents: [EXAMPLE_AGENT], messages: [EXAMPLE_MESSAGE] }]);
  const told = await at.until("host_agents");
  expect(at.events[0]).toMatchObject({ type: "hosts", hosts: [{ name: "far", state: "connected" }] });
  expect(told.host).toBe("far");
  expect(told.agents[0]).toMatchObject({
    id: `${EXAMPLE_AGENT.id}@far`,
    name: `${EXAMPLE_AGENT.name}@far`,
    server: `${EXAMPLE_AGENT.server}@far`,
    pane: EXAMPLE_AGENT.pane,
  });
  expect(told.messages[0]).toMatchObject({ id: `${EXAMPLE_MESSAGE.id}@far`, agent: `${EXAMPLE_MESSAGE.agent}@far` });
});

test("what a machine sends too much of is cut, and what is called what no agent is stays out", async () => {
  const long = "x".repeat(100_000);
  const question = {
    id: long,
    text: long,
    multi: false,
    options: Array.from({ length: 500 }, (_none, index) => ({
      index,
      label: "x".repeat(2_000),
      keys: [long.slice(0, 99)],
    })),
  };
  await using at = await far([
    agents(
      {
        ...EXAMPLE_AGENT,
        name: long,
        lastMessage: long,
        task: { text: long, sinceUnixMs: 1 },
        cwd: `/${long}`,
        question,
      },
      { ...EXAMPLE_AGENT, id: "../../servers" },
      { ...EXAMPLE_AGENT, id: agentId(2), pane: "0/../../x" },
    ),
  ]);
  const told = await at.until("host_agents");
  expect(told.agents).toHaveLength(1);
  expect(told.agents[0]?.question?.options).toHaveLength(64);
  expect(JSON.stringify(told).length).toBeLessThan(100_000);
  expect((await at.until("host_problem")).problem).toContain("some of its agents cannot be shown");
});

test("an event that is longer than any is a problem, and not read on", async () => {
  await using at = await far([`"${"x".repeat(5_000_000)}`, agents(EXAMPLE_AGENT)]);
  expect((await at.until("host_problem")).problem).toContain("too long");
  expect(at.events.map(({ type }) => type)).toEqual(["hosts", "host_problem"]);
});

test("a machine has a bounded number of agents, however it brings them in", async () => {
  const many = Array.from({ length: MAX_HOST_AGENTS - 1 }, (_none, at) => ({ ...EXAMPLE_AGENT, id: agentId(at) }));
  const one = (number: number, state = "busy") => ({
    type: "agent",
    agent: { ...EXAMPLE_AGENT, id: agentId(number), state },
  });
  await using at = await far([agents(...many), one(1_000), one(1_001), one(3, "ended"), one(1_002), agents()]);
  expect((await at.until("host_problem")).problem).toBe(`only ${MAX_HOST_AGENTS} of its agents are shown`);
  await expect.poll(() => at.events.filter(({ type }) => type === "host_agents").length).toBe(2);
  const shown = at.events.flatMap((event) => (event.type === "host_agent" ? [event.agent.id] : []));
  expect(shown).toEqual([1_000, 3, 1_002].map((number) => `${agentId(number)}@far`));
});

test("lines that are no events are told once, and the ones after them are read", async () => {
  await using at = await far(["{", '{"type":"agents"}', '{"type":"hosts","hosts":[]}', agents(EXAMPLE_AGENT)]);
  await at.until("host_agents");
  expect(at.events.map(({ type }) => type)).toEqual(["hosts", "host_problem", "host_agents"]);
});

test("one that floods is read no faster than a page can draw", async () => {
  const flood = Array.from({ length: 1_000 }, () => ({ type: "agent", agent: EXAMPLE_AGENT }));
  const startedMs = systemClock.nowMs();
  await using at = await far([agents(), ...flood]);
  await expect.poll(() => at.events.length, { timeout: 10_000 }).toBeGreaterThan(300);
  // 200 at once, then the same each second.
  expect(systemClock.nowMs() - startedMs).toBeGreaterThan(900);
  expect(at.events.length).toBeLessThan(500);
});

test("a page that takes nothing gets nothing, and later all of it", async () => {
  await using at = await far([agents(EXAMPLE_AGENT)]);
  at.room = 0;
  at.cut();
  at.mend();
  at.cut();
  expect(at.events.length).toBeLessThanOrEqual(2);
  const before = at.events.length;
  at.room = 1;
  at.pump();
  expect(at.events.slice(before)).toMatchObject([{ type: "host", host: { state: "unreachable" } }]);
  at.mend();
  await at.until("host_agents");
  expect(at.events.at(-2)).toMatchObject({ type: "host", host: { state: "connected" } });
});

test("an older daemon there is a problem with what to do about it, not an endless try", async () => {
  await using at = await far(undefined);
  expect((await at.until("host_problem")).problem).toBe(
    "its agents cannot be shown: install the same version of tmuxwire on both machines",
  );
});
