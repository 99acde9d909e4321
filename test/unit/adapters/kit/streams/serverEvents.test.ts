/** What is kept of a server's events, for whom, and for how long. */
import { expect, test } from "vitest";
import type { EventReader } from "../../../../../adapters/kit/streams/eventLog.ts";
import { ServerEvents } from "../../../../../adapters/kit/streams/serverEvents.ts";
import type { PaneReadiness, Readiness, ReadinessWatcher } from "../../../../../daemon/readiness/readiness.ts";
import type { PaneId, WindowId } from "../../../../../protocol/ids.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { stubServer } from "../../../../support/daemon/nativeServer.ts";
import { PROFILES } from "../../../../support/agents/agentCatalogue.ts";

interface Told {
  readonly type: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

const idle: Readiness = { state: "idle", source: "none", sinceUnixMs: 1, position: undefined, profile: "shell" };

/** Panes that are watched, and a way to say what they do. */
function fakeReadiness() {
  const watched = new Map<PaneId, { current: Readiness; tell: (readiness: Readiness) => void }>();
  const watcher: ReadinessWatcher = {
    profiles: PROFILES,
    known: () => undefined,
    hadAgent: () => false,
    watch: (_server, pane): PaneReadiness => {
      const listeners = new Set<(readiness: Readiness) => void>();
      const entry = {
        current: idle,
        tell: (readiness: Readiness) => {
          entry.current = readiness;
          for (const listener of listeners) listener(readiness);
        },
      };
      watched.set(pane, entry);
      return {
        get current() {
          return entry.current;
        },
        subscribe: (listener) => {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
        report: () => undefined,
        probe: () => Promise.resolve(entry.current),
        [Symbol.dispose]: () => void watched.delete(pane),
      };
    },
  };
  return { watched, watcher };
}

async function scene() {
  const server = stubServer();
  await server.createSession({ name: "work" });
  const clock = new FakeClock();
  const { watched, watcher } = fakeReadiness();
  const errors: unknown[] = [];
  const events = new ServerEvents({
    server,
    readiness: watcher,
    agents: undefined,
    clock,
    onError: (error) => errors.push(error),
  });
  const open = (after?: string, readiness = false) => {
    const told: Told[] = [];
    const send = (type: string, data: string, id: string): void => {
      told.push({ type, id, data: JSON.parse(data) as Told["data"] });
    };
    const reader: EventReader = events.open({ room: () => 1, send }, after, { readiness });
    reader.pump();
    return { told, reader, types: () => told.map(({ type }) => type) };
  };
  const rename = (name: string) =>
    server.layout.run({ kind: "rename-window", window: "@0" as WindowId, name }).then(() => undefined);
  return { server, clock, watched, events, open, rename, errors };
}

test("readiness is told to those who ask, from the whole tree on, and watched for no one else", async () => {
  const { server, watched, open, rename } = await scene();
  const plain = open();
  expect(watched.size).toBe(0);
  const asking = open(undefined, true);
  expect(asking.told[0]?.data).toMatchObject({ readiness: { "%0": { state: "idle" } } });
  expect(plain.told[0]?.data).not.toHaveProperty("readiness");
  watched.get("%0" as PaneId)?.tell({ ...idle, state: "busy" });
  await rename("x");
  expect(asking.types()).toEqual(["reset", "readiness", "window-renamed"]);
  expect(plain.types()).toEqual(["reset", "window-renamed"]);
  await server.createSession({ name: "b" });
  expect([...watched.keys()]).toEqual(["%0", "%1"]);
  await server.killSession(server.findSession("b")!.id);
  expect([...watched.keys()]).toEqual(["%0"]);
  // From a place at which it was told it goes on; from one before that everything is told again.
  const [, busy] = asking.told;
  const again = open(busy!.id, true);
  expect(again.types()[0]).toBe("window-renamed");
  for (const { reader } of [asking, again]) reader.close();
  expect(watched.size).toBe(0);
  const late = open(busy!.id, true);
  expect(late.told[0]).toMatchObject({ type: "reset", data: { reason: "unknown" } });
  expect(open(busy!.id).types()[0]).toBe("window-renamed");
});

test("readers that come back within a minute miss nothing; after that everything is told anew", async () => {
  const { clock, open, rename, events } = await scene();
  const first = open();
  first.reader.close();
  first.reader.close();
  await rename("one");
  clock.advanceMs(59_000);
  const second = open(first.told[0]!.id);
  expect(second.types()).toEqual(["window-renamed"]);
  clock.advanceMs(120_000);
  second.reader.close();
  clock.advanceMs(61_000);
  await rename("two");
  expect(open(second.told[0]!.id).told).toMatchObject([{ type: "reset", data: { reason: "unknown" } }]);
  const { id } = events.tree();
  expect(open(id).told).toEqual([]);
});

test("states of the connection are told once each", async () => {
  const { server, open, errors } = await scene();
  const { told } = open();
  await server.close();
  expect(told.map(({ type, data }) => [type, data["state"]])).toEqual([
    ["reset", "ready"],
    ["server-state", "closed"],
  ]);
  expect(errors).toEqual([]);
});

const LONG = { id: "1", text: "x".repeat(10_000), options: [], multi: false };

test.each(["events", "bytes"])("a reader that has fallen behind the last %s gets the whole tree", async (of) => {
  const { events, open, rename, watched } = await scene();
  open(undefined, true);
  const { id: first } = events.tree();
  const tell = async (at: number): Promise<void> => {
    if (of === "events") await rename(`${at}`);
    else watched.get("%0" as PaneId)?.tell({ ...idle, state: "asking", dialog: LONG });
  };
  const kept = of === "events" ? 4_096 : Math.floor(4_194_304 / 10_200);
  for (let at = 0; at < kept; at += 1) await tell(at);
  expect(open(first, true).types()[0]).not.toBe("reset");
  for (let at = 0; at < kept / 20; at += 1) await tell(at);
  expect(open(first, true).types()).toEqual(["reset"]);
});
