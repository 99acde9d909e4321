/** A machine with tmux alone, over a link that does nothing. Real ones: test/programs/agentlessHosts. */
import { expect, test, vi } from "vitest";
import { AgentlessHost } from "../../../../adapters/remote/agentlessHost.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

type Options = ConstructorParameters<typeof AgentlessHost>[0];

test("a machine that is late with its answer is not asked again meanwhile: each question takes a session", async () => {
  const clock = new FakeClock();
  let answer: (ms: number) => void = () => undefined;
  const check = vi.fn<() => Promise<number>>(() => new Promise((resolve) => (answer = resolve)));
  const host = new AgentlessHost({
    record: { name: "nas", destination: "nas.example", agentless: true },
    link: { state: { kind: "connected", sinceUnixMs: 0 }, check, subscribe: () => () => undefined } as never,
    origin: "0",
    clock,
    open: vi.fn<Options["open"]>(),
    servers: new Map(),
  });
  const late = [host.check(), host.check()];
  clock.advanceMs(1_000);
  expect((await Promise.all(late)).map(({ roundTripMs }) => roundTripMs)).toEqual([null, null]);
  const third = host.check();
  expect(check.mock.calls.length).toBe(1);
  answer(1_200);
  expect((await third).roundTripMs).toBe(1_200);
  const next = host.check();
  expect(check.mock.calls.length).toBe(2);
  answer(14);
  expect((await next).roundTripMs).toBe(14);
});

test("a caller that has left while the machine was away is told so, although the server is open by then", async () => {
  let connect: (to: object) => void = () => undefined;
  const connecting = new Promise<object>((resolve) => (connect = resolve));
  const open = vi.fn<Options["open"]>(async () => ({}) as never);
  const host = new AgentlessHost({
    record: { name: "nas", destination: "nas.example", agentless: true },
    link: {
      state: { kind: "connecting", sinceUnixMs: 0 },
      connection: () => connecting,
      subscribe: () => () => undefined,
    } as never,
    origin: "0",
    clock: new FakeClock(),
    open,
    servers: new Map(),
  });
  const [leaving, staying] = [new AbortController(), new AbortController()];
  const left = host.reach("default", () => leaving.signal);
  const stayed = host.reach("default", () => staying.signal);
  leaving.abort(new Error("it has left"));
  connect({ host: { sockets: ["default"], socketDirectory: "/tmp/tmux-1" } });
  await expect(left).rejects.toThrow("it has left");
  await stayed;
  expect(open.mock.calls.length).toBe(1);
});
