/** Links without tmux: one per session, each pane on one of them, gone when idle, opened again with back-off. */
import { beforeEach, expect, test } from "vitest";
import { GuestLink, type LinkChannel } from "../../../../daemon/servers/guest/guestLink.ts";
import { GuestLinks } from "../../../../daemon/servers/guest/guestLinks.ts";
import { AppError } from "../../../../protocol/errors.ts";
import type { PaneId, SessionId } from "../../../../protocol/ids.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";
import { fakeConnection, turn } from "../../../support/tmux/fakeTransport.ts";

const IDLE_MS = 1_000;
const [one, two] = ["$1" as SessionId, "$2" as SessionId];
const [p1, p2] = ["%1" as PaneId, "%2" as PaneId];
const ignore = { advanced: () => undefined, gap: () => undefined, exited: () => undefined, closed: () => undefined };

let clock = new FakeClock();
let attached: SessionId[] = [];
let left: SessionId[] = [];
let reopened = 0;
let refuse: AppError | undefined;
let links = makeLinks();

function makeLinks(): GuestLinks {
  return new GuestLinks({
    clock,
    idleMs: IDLE_MS,
    onReopen: () => (reopened += 1),
    make: (session, hooks) =>
      new GuestLink({
        session,
        epoch: `e${attached.length}`,
        clock,
        retainBytes: 1_024,
        open: async (): Promise<LinkChannel> => {
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
        areReadersOurs: () => true,
        otherReader: () => undefined,
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
  links = makeLinks();
});

test("a pane stays with its link; a link that is there is preferred to a better one that is not", async () => {
  const link = links.forPane(p1, [two]);
  link?.source(p1);
  await turn();
  expect(links.forPane(p1, [one, two])).toBe(link);
  expect(links.forPane(p2, [one, two])).toBe(link);
  expect(links.forPane(p2, [one])?.session).toBe(one);
  expect(links.forPane(p2, [])).toBeUndefined();
  expect(attached).toEqual([two, one]);
});

test("only output of panes in use is kept, the other bytes are counted", async () => {
  const link = links.forPane(p1, [one])!;
  const source = link.source(p1);
  await turn();
  const line = Buffer.from("abc\\012");
  link.takeEscaped(1, line, 0, line.length);
  link.takeEscaped(2, line, 0, line.length);
  link.announce();
  expect(source.outputSeq).toBe(4);
  expect(link.captureContext(p1).totalOutputBytes()).toBeGreaterThan(4);
  expect(link.panes).toEqual([p1]);
});

test("what nobody uses is let go after the idle time, panes first, the session with its last", async () => {
  const link = links.forPane(p1, [one])!;
  const unsubscribe = link.source(p1).subscribe(ignore);
  const other = link.source(p2);
  const closings: AppError[] = [];
  await turn();
  clock.advanceMs(IDLE_MS - 1);
  other.read(0);
  clock.advanceMs(IDLE_MS - 1);
  expect(link.panes).toEqual([p1, p2]);
  clock.advanceMs(2);
  expect(link.panes).toEqual([p1]);
  clock.advanceMs(10 * IDLE_MS);
  expect(link.panes).toEqual([p1]);
  other.subscribe({ ...ignore, closed: (error) => closings.push(error) });
  await turn();
  expect(closings).toMatchObject([{ code: "CONNECTION_LOST" }]);
  unsubscribe();
  unsubscribe();
  clock.advanceMs(IDLE_MS - 1);
  expect(links.all()).toEqual([link]);
  clock.advanceMs(2);
  expect(links.all()).toEqual([]);
  expect(left).toEqual([one]);
  expect(reopened).toBe(0);
  expect(clock.pendingTimers).toBe(0);
});

test("work keeps its link, and is told when it goes", async () => {
  const link = links.forPane(p1, [one])!;
  let finish: () => void = () => undefined;
  const working = link.use(p1, () => new Promise<void>((resolve) => (finish = resolve)));
  await turn();
  clock.advanceMs(10 * IDLE_MS);
  expect(links.all()).toEqual([link]);
  finish();
  await working;
  const waiting = links.forPane(p2, [two])!.use(p2, async () => "never");
  links.get(two)?.close(new AppError("CONNECTION_LOST", "gone"));
  await expect(waiting).rejects.toMatchObject({ code: "CONNECTION_LOST", message: "gone" });
  await expect(link.use(p1, async () => 1, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
});

test("a lost stream that was in use can be opened again at once, one that cannot be opened later and later", async () => {
  links.forPane(p1, [one])!.source(p1).subscribe(ignore);
  await turn();
  links.get(one)?.close(new AppError("CONNECTION_LOST", "lost"));
  clock.advanceMs(0);
  expect(reopened).toBe(1);
  refuse = new AppError("CONNECTION_LOST", "refused");
  const waits: number[] = [];
  for (let time = 0; time < 9; time += 1) {
    links.forPane(p1, [one])!.source(p1).subscribe(ignore);
    await turn();
    expect(links.all()).toEqual([]);
    waits.push(msUntilReopened());
  }
  expect(waits).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
});

test("a pane that is elsewhere loses its stream, its neighbours do not; closing ends everything", async () => {
  const link = links.forPane(p1, [one])!;
  const errors: Record<string, AppError> = {};
  for (const pane of [p1, p2]) link.source(pane).subscribe({ ...ignore, closed: (error) => (errors[pane] = error) });
  await turn();
  links.checkPlaces((pane) => pane !== p1);
  expect(errors).toMatchObject({ [p1]: { code: "CONNECTION_LOST" } });
  expect(link.panes).toEqual([p2]);
  clock.advanceMs(0);
  expect(reopened).toBe(1);
  links.close(new AppError("CONNECTION_LOST", "stopping"));
  links.close(new AppError("CONNECTION_LOST", "again"));
  expect(errors[p2]?.message).toBe("stopping");
  expect(left).toEqual([one]);
  expect(clock.pendingTimers).toBe(0);
});
