import { expect, test } from "vitest";
import { MAX_OPEN_TEAMS, TEAM_IDLE_MS } from "../../../../adapters/team/teamLimits.ts";
import { TeamServers } from "../../../../adapters/team/teamServers.ts";
import { StubServer } from "../../../../daemon/servers/stub/stubServer.ts";
import { AppError } from "../../../../protocol/errors.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

function servers(more: { readonly fail?: () => AppError | undefined; readonly hasAgents?: () => boolean } = {}) {
  const clock = new FakeClock();
  const opened: string[] = [];
  const closed: string[] = [];
  const teams = new TeamServers({
    rootDir: "/nonexistent/teams",
    env: {},
    clock,
    hasAgents: more.hasAgents,
    start: async ({ socketPath }) => {
      const failure = more.fail?.();
      if (failure !== undefined) throw failure;
      opened.push(socketPath);
      const server = new StubServer({ nowUnixMs: () => 0, onListenerError: () => undefined });
      const close = server.close.bind(server);
      server.close = () => {
        closed.push(socketPath);
        return close();
      };
      return server;
    },
  });
  return { clock, teams, opened, closed };
}

const path = (team: string): string => `/nonexistent/teams/${team}/tmux.sock`;
const nothing = (): Promise<undefined> => Promise.resolve(undefined);

test("a team's server is opened once, also by several at once, and left when nobody has asked for a while", async () => {
  const { clock, teams, opened, closed } = servers();
  await Promise.all([teams.use("a", nothing), teams.use("a", nothing)]);
  expect(opened).toEqual([path("a")]);
  clock.advanceMs(TEAM_IDLE_MS - 1);
  await teams.use("a", nothing);
  clock.advanceMs(TEAM_IDLE_MS - 1);
  expect(closed).toEqual([]);
  clock.advanceMs(1);
  await Promise.resolve();
  expect([teams.openCount, clock.pendingTimers]).toEqual([0, 0]);
  await teams.use("a", nothing);
  expect([opened.length, closed]).toEqual([2, [path("a")]]);
});

test("one in which an agent runs is left when none has for a while", async () => {
  let runs = true;
  const { clock, teams, closed } = servers({ hasAgents: () => runs });
  await teams.use("a", nothing);
  clock.advanceMs(5 * TEAM_IDLE_MS);
  await Promise.resolve();
  expect([teams.openCount, closed]).toEqual([1, []]);
  runs = false;
  clock.advanceMs(TEAM_IDLE_MS);
  await new Promise(setImmediate);
  expect([teams.openCount, closed]).toEqual([0, [path("a")]]);
});

test("one that is at work is not left", async () => {
  const { clock, teams, closed } = servers();
  let finish = (): void => undefined;
  const work = teams.use("a", () => new Promise<void>((resolve) => (finish = resolve)));
  await teams.use("b", nothing);
  clock.advanceMs(5 * TEAM_IDLE_MS);
  await Promise.resolve();
  expect(closed).toEqual([path("b")]);
  finish();
  await work;
  clock.advanceMs(TEAM_IDLE_MS);
  await Promise.resolve();
  expect(closed).toEqual([path("b"), path("a")]);
});

test("there is room for so many; the one used longest ago makes it, and one at work does not", async () => {
  const names = Array.from({ length: MAX_OPEN_TEAMS }, (_, at) => `team-${at}`);
  const { teams, clock, closed } = servers();
  await teams.use("a", nothing);
  clock.advanceMs(1);
  for (const name of names) await teams.use(name, nothing);
  expect(closed).toEqual([path("a")]);
  const full = servers();
  for (const name of names) void full.teams.use(name, () => new Promise(() => undefined));
  await expect(full.teams.use("b", nothing)).rejects.toMatchObject({ code: "RESOURCE_LIMIT" });
});

test("a start that fails has the contract's name and is tried again by the next request", async () => {
  const missing = { details: { reason: "tmux_not_installed" } };
  const left = new AppError("CONNECTION_LOST", "lost (server exited)", { details: { tmux: "need UTF-8 locale" } });
  const failures = [
    new AppError("TMUX_UNAVAILABLE", "no tmux", missing),
    new AppError("CONFIGURATION_INVALID", "too long"),
    new AppError("TMUX_UNAVAILABLE", "tmux could not be started", { cause: left }),
  ];
  const { teams, opened } = servers({ fail: () => failures.shift() });
  await expect(teams.use("a", nothing)).rejects.toMatchObject({ details: { team: "tmux_not_installed" } });
  await expect(teams.use("a", nothing)).rejects.toMatchObject({
    message: expect.stringContaining("too long") as unknown,
    details: { team: "tmux_error", stderr: "", command: `tmux -f /dev/null -S ${path("a")} start-server` },
  });
  // tmux that is there and fails is not one that is missing, and what it said is told.
  await expect(teams.use("a", nothing)).rejects.toMatchObject({
    details: { team: "tmux_error", stderr: "need UTF-8 locale" },
  });
  await teams.use("a", nothing);
  expect(opened).toHaveLength(1);
});

test("asking about a team without a server starts none; after closing there are none", async () => {
  const { teams, opened } = servers();
  expect(await teams.useIfThere("a", async (server) => server === undefined)).toBe(true);
  expect(opened).toEqual([]);
  await teams.use("a", nothing);
  expect(await teams.useIfThere("a", async (server) => server === undefined)).toBe(false);
  await teams.close();
  await expect(teams.use("a", nothing)).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
});
