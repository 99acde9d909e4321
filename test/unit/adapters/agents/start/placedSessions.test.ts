/** When a conversation that is not known yet is looked for again, and who is not brought back. */
import { expect, onTestFinished, test } from "vitest";
import { agentsOf, PlacedSessions } from "../../../../../adapters/agents/start/placedSessions.ts";
import type { AgentDirectory } from "../../../../../adapters/agents/running/agentDirectory.ts";
import { AgentStore } from "../../../../../adapters/agents/running/agentStore.ts";
import type { Transcripts } from "../../../../../adapters/agents/start/transcripts.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

type Listener = Parameters<AgentDirectory["subscribe"]>[0];
type EventListener = Parameters<AgentDirectory["onEvent"]>[0];

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** @param foundAt the look that finds it */
function scene(foundAt: number) {
  const clock = new FakeClock();
  const pass = async (...steps: readonly number[]): Promise<void> => {
    for (const ms of steps) {
      clock.advanceMs(ms);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await settled();
    }
  };
  const looks: number[] = [];
  let listener: Listener = () => undefined;
  const server = { layout: { watch: () => () => undefined }, status: () => ({ state: "connecting" }) };
  const places = new PlacedSessions({
    agents: {
      subscribe: (tell: Listener) => ((listener = tell), () => undefined),
      onEvent: () => () => undefined,
    } as unknown as AgentDirectory,
    transcripts: {
      sessionOf: async () => (looks.push(clock.nowMs()) === foundAt ? { sessionId: "it" } : undefined),
    } as unknown as Transcripts,
    clock,
    nowUnixMs: () => 0,
    onError: (error) => expect.unreachable(String(error)),
  });
  const tell = async (kind: string, state = "idle", sinceUnixMs = 0): Promise<void> => {
    listener({
      kind,
      agent: { id: "one", server, readiness: { state, sinceUnixMs } },
    } as unknown as Parameters<Listener>[0]);
    await settled();
  };
  return { pass, looks, places, tell };
}

const ALL = [0, 500, 2_500, 12_500];

test("a conversation that is not known when a turn ends is looked for three times more", async () => {
  const { pass, looks, tell } = scene(Infinity);
  await tell("changed");
  await pass(500, 2_000, 10_000, 60_000);
  expect(looks).toEqual(ALL);
});

test("one that is found is not looked for again until the next turn", async () => {
  const { pass, looks, tell } = scene(2);
  await tell("changed");
  await pass(500, 2_000);
  await tell("changed");
  expect(looks).toEqual([0, 500]);
  await tell("changed", "busy", 1);
  expect(looks).toEqual([0, 500, 2_500]);
});

test.each<[string, (scene_: ReturnType<typeof scene>) => Promise<void> | void, readonly number[]]>([
  ["another turn begins the looks anew", ({ tell }) => tell("changed", "idle", 1), [0, 0, 500, 2_500, 12_500]],
  ["a question ends the looks", ({ tell }) => tell("changed", "blocked", 1), [0]],
  ["an agent that has ended is not looked for", ({ tell }) => tell("ended"), [0]],
  ["nothing is looked for after the close", ({ places }) => places.close(), [0]],
])("%s", async (_what, act, expected) => {
  const parts = scene(Infinity);
  await parts.tell("changed");
  await act(parts);
  await parts.pass(500, 2_000, 10_000, 60_000);
  expect(parts.looks).toEqual(expected);
});

test("an agent that ended while no daemon looked is not brought back with its server", () => {
  const store = new AgentStore({ path: ":memory:", nowUnixMs: () => 0, log: silentLog });
  onTestFinished(() => store.close());
  const windows = [{ id: "@1", name: "w", cols: 80, rows: 24, layout: "", panes: ["%1", "%2"], activePane: "%1" }];
  const server = {
    layout: {
      watch: () => () => undefined,
      tree: () => ({ sessions: [{ name: "work", windows: [{ window: "@1" }], activeWindow: "@1" }], windows }),
    },
    status: () => ({ state: "ready", identity: "the server" }),
    processes: { cwdNow: () => "/" },
  };
  const running = ["quit", "stays"].map((id, at) => {
    return {
      id,
      name: id,
      serverName: "main",
      kind: { name: "agent" },
      pane: windows[0]!.panes[at],
      server,
      process: { pid: 1 },
    };
  });
  const daemon = (agents: readonly unknown[]) => {
    const told: { change?: Listener; event?: EventListener } = {};
    const places = new PlacedSessions({
      agents: {
        subscribe: (tell: Listener) => ((told.change = tell), () => undefined),
        onEvent: (tell: EventListener) => ((told.event = tell), () => undefined),
        agents: () => agents,
        database: store.database,
      } as unknown as AgentDirectory,
      transcripts: {} as Transcripts,
      clock: new FakeClock(),
      nowUnixMs: () => 0,
      onError: (error) => expect.unreachable(String(error)),
    });
    return { places, told };
  };
  const names = ({ places }: ReturnType<typeof daemon>) =>
    places.gone(() => false).flatMap((place) => agentsOf(place).map(({ name }) => name));
  const first = daemon(running);
  first.told.change?.({ kind: "changed", agent: running[0] } as unknown as Parameters<Listener>[0]);
  expect(names(first)).toEqual(["quit", "stays"]);
  first.places.close();
  const next = daemon([]);
  next.told.event?.({ kind: "gone", id: "quit", name: "quit", serverName: "main", socket: undefined });
  expect(names(next)).toEqual(["stays"]);
  next.told.event?.({ kind: "gone", id: "stays", name: "stays", serverName: "main", socket: undefined });
  expect(names(next)).toEqual([]);
});
