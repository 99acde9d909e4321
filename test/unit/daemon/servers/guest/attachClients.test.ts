/** Attach clients without tmux: one per session, each pane on one of them, gone when idle, opened again with back-off. */
import { beforeEach, expect, test } from "vitest";
import { AttachClient, type AttachChannel } from "../../../../../daemon/servers/guest/attachClient.ts";
import { AttachClients } from "../../../../../daemon/servers/guest/attachClients.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import type { PaneId, SessionId } from "../../../../../protocol/ids.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { fakeConnection, turn } from "../../../../support/tmux/fakeTransport.ts";
import { DEAF } from "../../../../support/tmux/output.ts";

const IDLE_MS = 1_000;
const [one, two] = ["$1" as SessionId, "$2" as SessionId];
const [p1, p2] = ["%1" as PaneId, "%2" as PaneId];

let clock = new FakeClock();
let attached: SessionId[] = [];
let left: SessionId[] = [];
let reopened = 0;
let refuse: AppError | undefined;
let clients = makeClients();

function makeClients(): AttachClients {
  return new AttachClients({
    clock,
    idleMs: IDLE_MS,
    onReopen: () => (reopened += 1),
    make: (session, hooks) =>
      new AttachClient({
        session,
        epoch: `e${attached.length}`,
        clock,
        retainBytes: 1_024,
        open: async (): Promise<AttachChannel> => {
          attached.push(session);
          if (refuse !== undefined) throw refuse;
          return { connection: fakeConnection().connection, close: () => void left.push(session) };
        },
        onListenerError: () => undefined,
        onRevived: () => undefined,
        windows: () => [],
        panesOf: () => [],
        isThere: () => true,
        onMoved: () => undefined,
        mayBeUnread: () => [],
        otherReader: () => undefined,
        onAttached: () => undefined,
        waiting: () => undefined,
        isServerIdle: () => false,
        ...hooks,
      }),
  });
}

function msUntilReopened(): number {
  const before = reopened;
  for (let ms = 10; ms <= 60_000; ms += 10) {
    clock.advanceMs(10);
    if (reopened > before) return ms;
  }
  return Number.NaN;
}

beforeEach(() => {
  clock = new FakeClock();
  [attached, left, reopened, refuse] = [[], [], 0, undefined];
  clients = makeClients();
});

test("a pane stays with its client; an existing one is preferred to a better one that is not there", async () => {
  const client = clients.forPane(p1, [two]);
  client?.source(p1);
  await turn();
  expect(clients.forPane(p1, [one, two])).toBe(client);
  expect(clients.forPane(p2, [one, two])).toBe(client);
  expect(clients.forPane(p2, [one])?.session).toBe(one);
  expect(clients.forPane(p2, [])).toBeUndefined();
  expect(attached).toEqual([two, one]);
});

test("only output of panes in use is kept, the other bytes are counted", async () => {
  const client = clients.forPane(p1, [one])!;
  const source = client.source(p1);
  await turn();
  const line = Buffer.from("abc\\012");
  client.takeEscaped(1, line, 0, line.length);
  client.takeEscaped(2, line, 0, line.length);
  client.announce();
  expect(source.outputSeq).toBe(4);
  const total = client.use(p1, async (panes) => panes.captureContext(p1).totalOutputBytes());
  expect(await total).toBeGreaterThan(4);
  expect(client.panes).toEqual([p1]);
});

test("what nobody uses is let go after the idle time, panes first, the session with its last", async () => {
  const client = clients.forPane(p1, [one])!;
  const unsubscribe = client.source(p1).subscribe(DEAF);
  const other = client.source(p2);
  const closings: AppError[] = [];
  await turn();
  clock.advanceMs(IDLE_MS - 1);
  other.read(0);
  clock.advanceMs(IDLE_MS - 1);
  expect(client.panes).toEqual([p1, p2]);
  clock.advanceMs(2);
  expect(client.panes).toEqual([p1]);
  clock.advanceMs(10 * IDLE_MS);
  expect(client.panes).toEqual([p1]);
  other.subscribe({ ...DEAF, closed: (error) => closings.push(error) });
  await turn();
  expect(closings).toMatchObject([{ code: "CONNECTION_LOST" }]);
  unsubscribe();
  unsubscribe();
  clock.advanceMs(IDLE_MS - 1);
  expect(clients.all()).toEqual([client]);
  clock.advanceMs(2);
  expect(clients.all()).toEqual([]);
  expect(left).toEqual([one]);
  expect(reopened).toBe(0);
  expect(clock.pendingTimers).toBe(0);
});

test("work keeps its attach client, and is told when it goes", async () => {
  const client = clients.forPane(p1, [one])!;
  let finish: () => void = () => undefined;
  const working = client.use(p1, () => new Promise<void>((resolve) => (finish = resolve)));
  await turn();
  clock.advanceMs(10 * IDLE_MS);
  expect(clients.all()).toEqual([client]);
  finish();
  await working;
  const waiting = clients.forPane(p2, [two])!.use(p2, async () => "never");
  clients.get(two)?.close(new AppError("CONNECTION_LOST", "gone"));
  await expect(waiting).rejects.toMatchObject({ code: "CONNECTION_LOST", message: "gone" });
  await expect(client.use(p1, async () => 1, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
});

test("a lost stream that was in use can be opened again at once, one that cannot be opened later and later", async () => {
  clients.forPane(p1, [one])!.source(p1).subscribe(DEAF);
  await turn();
  clients.get(one)?.close(new AppError("CONNECTION_LOST", "lost"));
  clock.advanceMs(0);
  expect(reopened).toBe(1);
  refuse = new AppError("CONNECTION_LOST", "refused");
  const waits: number[] = [];
  for (let time = 0; time < 9; time += 1) {
    clients.forPane(p1, [one])!.source(p1).subscribe(DEAF);
    await turn();
    expect(clients.all()).toEqual([]);
    waits.push(msUntilReopened());
  }
  expect(waits).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
});

test("a lost stream does not wait for another one that cannot be opened", async () => {
  clients.forPane(p1, [one])!.source(p1).subscribe(DEAF);
  await turn();
  refuse = new AppError("CONNECTION_LOST", "refused");
  for (let tries = 0; tries < 9; tries += 1) {
    clients.forPane(p2, [two])!.source(p2).subscribe(DEAF);
    await turn();
    if (tries < 8) msUntilReopened();
  }
  const before = reopened;
  clients.get(one)?.close(new AppError("CONNECTION_LOST", "lost"));
  clock.advanceMs(0);
  expect(reopened).toBe(before + 1);
  clients.close(new AppError("SHUTTING_DOWN", "closed"));
  expect(clock.pendingTimers).toBe(0);
});

test("a pane that is elsewhere loses its stream, its neighbours do not; closing ends everything", async () => {
  const client = clients.forPane(p1, [one])!;
  const errors: Record<string, AppError> = {};
  for (const pane of [p1, p2]) client.source(pane).subscribe({ ...DEAF, closed: (error) => (errors[pane] = error) });
  await turn();
  clients.checkPlaces((pane) => pane !== p1);
  expect(errors).toMatchObject({ [p1]: { code: "CONNECTION_LOST" } });
  expect(client.panes).toEqual([p2]);
  clock.advanceMs(0);
  expect(reopened).toBe(1);
  clients.close(new AppError("CONNECTION_LOST", "stopping"));
  clients.close(new AppError("CONNECTION_LOST", "again"));
  expect(errors[p2]?.message).toBe("stopping");
  expect(left).toEqual([one]);
  expect(clock.pendingTimers).toBe(0);
});
