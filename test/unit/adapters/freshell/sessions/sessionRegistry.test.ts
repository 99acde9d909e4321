/** All sessions with a clock moved by hand: how long those that have ended can be read. */
import { afterEach, expect, test } from "vitest";
import { silentLog } from "../../../../../bench/silentLog.ts";
import { loadStreams } from "../../../../../adapters/agents/agentStream.ts";
import { SessionRegistry } from "../../../../../adapters/freshell/sessions/sessionRegistry.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { AGENTS } from "../../../../support/agents/agentCatalogue.ts";

const streams = await loadStreams(AGENTS);
let count = 0;
const clock = new FakeClock();
const registryOf = (program: string): SessionRegistry =>
  new SessionRegistry({
    clock,
    nowUnixMs: () => 1_000 + clock.nowMs(),
    newId: () => `id-${count++}`,
    epoch: "e",
    log: silentLog,
    streams,
    prepare: () => Promise.resolve({ file: program, cwd: "/", env: { PATH: process.env["PATH"] ?? "" } }),
  });
let registry = registryOf("/bin/true");
afterEach(() => registry.close());
const coding = { provider: "codingcli", codingProvider: "codex", prompt: "x" } as const;

test("one that has ended can be read for 30 minutes; then its waits are told that it is gone", async () => {
  const session = await registry.create(coding);
  await session.ended;
  const closed: string[] = [];
  session.text.subscribe({
    advanced: () => undefined,
    gap: () => undefined,
    exited: () => undefined,
    closed: ({ code }) => closed.push(code),
  });
  clock.advanceMs(1_799_999);
  expect([registry.find(session.id)?.status, registry.list().length, closed]).toEqual(["exited", 1, []]);
  clock.advanceMs(1);
  expect(() => registry.require("codex", session.id)).toThrow(/there is no session codex:/);
  expect([registry.find(session.id), registry.list(), closed]).toEqual([undefined, [], ["NOT_FOUND"]]);
});

test("of those that have ended the newest 64 are kept", async () => {
  registry = registryOf("/bin/true");
  const made = [];
  for (let at = 0; at < 70; at += 1) {
    const session = await registry.create(coding);
    await session.ended;
    clock.advanceMs(1);
    made.push(session);
  }
  expect(registry.list().map(({ id }) => id)).toEqual(made.slice(-64).map(({ id }) => id));
});
