import { beforeEach, describe, expect, test } from "vitest";
import { HostLink } from "../../../../adapters/remote/hostLink.ts";
import type { HostConnection } from "../../../../adapters/remote/sshConnection.ts";
import type { HostFailure } from "../../../../adapters/remote/sshFailure.ts";
import { AppError } from "../../../../protocol/errors.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

const failure = (state: HostFailure): AppError =>
  new AppError("DAEMON_UNREACHABLE", `it is ${state}`, { details: { host: "build", state } });

let clock: FakeClock;
let link: HostLink;
/** What the next attempts come to; without one, they connect. */
let outcomes: AppError[];
let attemptsMs: number[];
let lose: (error: AppError) => void;
let closed: number;
let closing: Error | undefined;
let errors: unknown[];
let responds: boolean;
let kinds: string[];

beforeEach(() => {
  clock = new FakeClock();
  [outcomes, attemptsMs, closed, responds, kinds] = [[], [], 0, true, []];
  [closing, errors] = [undefined, []];
  link = new HostLink({
    name: "build",
    destination: "build",
    directory: "/nowhere",
    loginPath: "/nonexistent",
    env: {},
    clock,
    nowUnixMs: () => 1_000_000 + clock.nowMs(),
    onError: (error) => errors.push(error),
    random: () => 1,
    open: (_options, onLost) => {
      attemptsMs.push(clock.nowMs());
      const outcome = outcomes.shift();
      if (outcome !== undefined) return Promise.reject(outcome);
      lose = onLost;
      return Promise.resolve<HostConnection>({
        host: { version: "0.1.0", tmux: "3.3a", socketPath: "/there", token: "secret" },
        socketPath: "/here",
        ask: () => (responds ? Promise.resolve() : Promise.reject(failure("unreachable"))),
        close: () => {
          closed += 1;
          return closing === undefined ? Promise.resolve() : Promise.reject(closing);
        },
      });
    },
  });
  link.subscribe(({ kind }) => kinds.push(kind));
});

/** Lets every promise settle that can. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const advance = async (ms: number): Promise<void> => {
  clock.advanceMs(ms);
  await settle();
};

const pathOf = async (to: HostLink): Promise<string> => (await to.connection()).socketPath;

test("connects when first asked, and whoever asks meanwhile shares the attempt", async () => {
  expect([link.state.kind, link.current?.host.token, attemptsMs]).toEqual(["idle", undefined, []]);
  expect(await Promise.all([pathOf(link), pathOf(link)])).toEqual(["/here", "/here"]);
  expect(await pathOf(link)).toBe("/here");
  expect(attemptsMs).toEqual([0]);
  expect(link.state).toEqual({
    kind: "connected",
    sinceUnixMs: 1_000_000,
    found: { version: "0.1.0", tmux: "3.3a" },
  });
  expect([link.current?.host.token, kinds]).toEqual(["secret", ["connecting", "connected"]]);
});

test("an unreachable host is tried again by itself: after 1 s, then after twice as long, up to 8 s", async () => {
  outcomes = Array.from({ length: 8 }, () => failure("unreachable"));
  await expect(link.connection()).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE", message: "it is unreachable" });
  for (let second = 0; second < 200; second += 1) await advance(1_000);
  expect(attemptsMs.map((ms) => ms / 1_000)).toEqual([0, 1, 3, 7, 15, 23, 31, 39, 47]);
  expect(link.state.kind).toBe("connected");
});

test("a caller has it tried at once, but not within a second of the last failure", async () => {
  outcomes = [failure("unreachable"), failure("unreachable"), failure("unreachable")];
  await expect(link.connection()).rejects.toThrow("unreachable");
  await advance(1_000);
  await advance(1_500);
  expect(attemptsMs).toEqual([0, 1_000]);
  await expect(link.connection()).rejects.toThrow("unreachable");
  expect(attemptsMs).toEqual([0, 1_000, 2_500]);
  const next = link.connection();
  await settle();
  expect(attemptsMs.length).toBe(3);
  await advance(1_000);
  expect((await next).socketPath).toBe("/here");
  expect([attemptsMs, clock.pendingTimers]).toEqual([[0, 1_000, 2_500, 3_500], 0]);
});

test.each(["auth_needed", "host_key_new", "host_key_changed", "no_tmuxwire", "no_tmux", "version", "refused"] as const)(
  "%s stays until somebody has done something about it",
  async (kind) => {
    outcomes = [failure(kind)];
    await expect(link.connection()).rejects.toMatchObject({ details: { host: "build", state: kind } });
    await advance(100_000);
    await expect(link.connection()).rejects.toThrow(`it is ${kind}`);
    expect([attemptsMs, clock.pendingTimers]).toEqual([[0], 0]);
    expect(link.state).toEqual({ kind, sinceUnixMs: 1_000_000, message: `it is ${kind}` });
    link.retry();
    expect(await pathOf(link)).toBe("/here");
    expect(attemptsMs).toEqual([0, 100_000]);
  },
);

test("settings that are wrong are an error without a retry", async () => {
  outcomes = [new AppError("INVALID_ARGUMENT", "no destination")];
  await expect(link.connection()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  expect([link.state.kind, clock.pendingTimers]).toEqual(["unreachable", 0]);
});

describe("a connection that is lost", () => {
  test("is restored by itself, and its token is forgotten", async () => {
    await link.connection();
    lose(failure("unreachable"));
    expect([link.state.kind, link.current?.host.token, closed]).toEqual(["unreachable", undefined, 1]);
    await advance(1_000);
    expect([link.state.kind, link.current?.host.token, attemptsMs]).toEqual(["connected", "secret", [0, 1_000]]);
  });

  test("is restored also where its files could not be removed", async () => {
    await link.connection();
    closing = new Error("EBUSY");
    lose(failure("unreachable"));
    await advance(1_000);
    expect([link.state.kind, errors]).toEqual(["connected", [closing]]);
    closing = undefined;
  });

  test("soon after it was made counts as a failure, later it does not", async () => {
    await link.connection();
    for (const [stableMs, backOffMs] of [
      [0, 1_000],
      [29_999, 2_000],
      [1_000, 4_000],
      [30_000, 1_000],
    ] as const) {
      await advance(stableMs);
      lose(failure("unreachable"));
      await advance(backOffMs - 1);
      expect(link.state.kind).toBe("unreachable");
      await advance(1);
      expect(link.state.kind).toBe("connected");
    }
  });

  test("is found by a check: a daemon that does not respond is connected to anew", async () => {
    expect(await link.check()).toBe(0);
    responds = false;
    await expect(link.check()).rejects.toThrow("unreachable");
    expect([link.state.kind, closed]).toEqual(["unreachable", 1]);
    responds = true;
    await advance(1_000);
    expect(await link.check()).toBe(0);
  });
});

describe("giving up", () => {
  test("a caller's signal ends its own wait alone", async () => {
    outcomes = [failure("unreachable")];
    await expect(link.connection()).rejects.toThrow("unreachable");
    const controller = new AbortController();
    const [one, other] = [link.connection(controller.signal), link.connection()];
    controller.abort(new Error("enough"));
    await expect(one).rejects.toThrow("enough");
    await advance(1_000);
    expect((await other).socketPath).toBe("/here");
  });

  test("closing ends the connection, whoever waits, and every attempt", async () => {
    await link.connection();
    await Promise.all([link.close(), link.close()]);
    expect([closed, link.state.kind, clock.pendingTimers]).toEqual([1, "idle", 0]);
    await expect(link.connection()).rejects.toThrow("the link to build is closed");
    link.retry();
    await advance(100_000);
    expect(attemptsMs).toEqual([0]);
  });

  test("closing while an attempt waits", async () => {
    outcomes = [failure("unreachable")];
    await expect(link.connection()).rejects.toThrow("unreachable");
    const [waiting] = await Promise.all([Promise.allSettled([link.connection()]), link.close()]);
    expect(waiting).toMatchObject([{ status: "rejected", reason: { message: "the link to build is closed" } }]);
    expect([attemptsMs, clock.pendingTimers, link.state.kind]).toEqual([[0], 0, "idle"]);
  });
});
