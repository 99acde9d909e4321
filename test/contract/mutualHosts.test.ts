/** Lists of machines that have each other as hosts, and of one that owes its responses. */
import { expect, test, vi } from "vitest";
import { RemoteHosts } from "../../adapters/remote/remoteHosts.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { cutLink } from "../support/daemon/cutLink.ts";
import { nearFixture } from "../support/daemon/farHost.ts";
import { nativeFixture, noAgentless, noAgents, stubServer } from "../support/daemon/nativeServer.ts";
import { Disposables } from "../support/disposables.ts";

/** A machine with a server, `main`, and no hosts yet. */
async function machine(opened: Disposables) {
  const server = stubServer();
  const links: Awaited<ReturnType<typeof cutLink>>[] = [];
  const remote = new RemoteHosts({
    servers: new Map([["main", server]]),
    hosts: [],
    link: () => links[0]!,
    agentless: noAgentless,
    save: () => undefined,
    clock: systemClock,
  });
  const fixture = opened.use(await nativeFixture(server, { remote, agents: noAgents }));
  opened.use({ [Symbol.asyncDispose]: () => remote.close() });
  const asksItsHosts = vi.spyOn(remote, "withTheirs");
  const add = async (name: string, port: number): Promise<void> => {
    links.push(await cutLink(port));
    await remote.add({ name, destination: name }, undefined);
  };
  return { fixture, add, asksItsHosts };
}

test("machines that have each other as hosts list each server once, and do not ask in a circle", async () => {
  await using opened = new Disposables();
  const [here, there] = [await machine(opened), await machine(opened)];
  await here.add("there", there.fixture.port);
  await there.add("here", here.fixture.port);
  for (const { asksItsHosts } of [here, there]) asksItsHosts.mockClear();
  const { json } = await here.fixture.call("GET", "/v1/servers");
  expect((json["servers"] as { name: string }[]).map(({ name }) => name)).toEqual(["main", "main@there"]);
  expect(json["unreachable"]).toBeUndefined();
  expect([here, there].map(({ asksItsHosts }) => asksItsHosts.mock.calls.length)).toEqual([1, 0]);
});

test("a machine that owes responses is not asked for more and more of them", async () => {
  const server = stubServer();
  await using far = await nativeFixture(server, { agents: noAgents });
  await using near = await nearFixture(far.port);
  near.link.stall();
  for (let count = 0; count < 30; count += 1) {
    // oxlint-disable-next-line no-await-in-loop -- the first one is waited for, the others are not
    const { json } = await near.call("GET", "/v1/servers");
    expect(json["unreachable"]).toEqual(["far"]);
  }
  expect(near.link.connections).toBeLessThan(10);
});
