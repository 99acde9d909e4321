/** A guest whose clients can only be of tmux's own program: before 3.7 they wait until the server is calm (docs/tmuxFacts.md 50). */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { openPtyTransport } from "../../daemon/host/ptyTransport.ts";
import { introductionTo } from "../../daemon/servers/guest/guestProbe.ts";
import { nativeServer } from "../../adapters/operations/outputs.ts";
import type { ServerEvent } from "../../daemon/tmux/inventory.ts";
import { eventually } from "../support/clock/eventually.ts";
import { ECHOING_LINES, guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import type { PrivateSocket } from "../support/tmux/ownedFixture.ts";

function mustBeCalm(socket: PrivateSocket): boolean {
  const version = socket.tmux("display-message", "-p", "#{version}").trim();
  if (introductionTo(version, false) === "calm") return true;
  console.log(`tmux ${version} takes clients at any time: nothing is tried`);
  return false;
}

/** Sessions come and go until the returned function is called: nothing attaches meanwhile. */
function restless(socket: PrivateSocket): () => Promise<void> {
  const over = new AbortController();
  const going = (async () => {
    while (!over.signal.aborted) {
      socket.tmux("new-session", "-d", "-s", "passing", "cat");
      await delay(50);
      socket.tmux("kill-session", "-t", "=passing");
      await delay(50);
    }
  })();
  return async () => {
    over.abort();
    await going;
  };
}

const twoSessions = (socket: PrivateSocket): void => {
  userSession(socket, "base");
  userSession(socket, "other", ECHOING_LINES);
};
const isMet = (events: readonly ServerEvent[]): boolean => events.some(({ kind }) => kind === "session-created");

test("the state shows that clients wait and since when, while sessions or clients change", async () => {
  await using fixture = await guestFixture(twoSessions, { transport: openPtyTransport });
  const { server, socket, events } = fixture;
  if (!mustBeCalm(socket)) return;
  const beganUnixMs = Date.now();
  const panes = server.panes().map(({ id }) => id);
  const rest = restless(socket);
  try {
    await eventually(() => isMet(events));
    for (const pane of panes) server.output(pane);
    await eventually(() => server.status().waiting !== undefined);
    expect(server.status()).toMatchObject({ state: "ready", waiting: { for: "calm" } });
    expect(server.status().waiting!.sinceUnixMs).toBeGreaterThanOrEqual(beganUnixMs - 1);
    expect(nativeServer("user", server).waiting).toEqual(server.status().waiting);
  } finally {
    await rest();
  }
  await eventually(() => server.status().waiting === undefined);
  expect(nativeServer("user", server)).not.toHaveProperty("waiting");
});

test("meanwhile panes are captured over the base connection, and streams begin with a declared gap", async () => {
  await using fixture = await guestFixture(twoSessions, { transport: openPtyTransport });
  const { server, socket, events } = fixture;
  if (!mustBeCalm(socket)) return;
  const panes = server.panes().map(({ id }) => id);
  const gaps = new Map<string, object[]>();
  const ignore = (): void => undefined;
  const rest = restless(socket);
  try {
    await eventually(() => isMet(events));
    for (const pane of panes) {
      gaps.set(pane, []);
      const gap = (one: object): void => void gaps.get(pane)!.push(one);
      server.output(pane).subscribe({ advanced: ignore, gap, exited: ignore, closed: ignore });
    }
    await eventually(() => server.status().waiting !== undefined);
    const { activePane: other } = server.findSession("other")!;
    socket.tmux("send-keys", "-t", other!, "late", "Enter");
    await eventually(async () => (await server.capture(other!)).lines.includes("<late>"));
    expect((await server.snapshot(other!)).position.outputSeq).toBe(0);
    expect(server.status().waiting).toBeDefined();
    expect([...gaps.values()].flat()).toEqual([]);
  } finally {
    await rest();
  }
  await eventually(() => server.status().waiting === undefined);
  await eventually(() => [...gaps.values()].flat().length === 1);
  expect([...gaps.values()].flat()).toMatchObject([{ reason: "paused", from: 0, to: 1 }]);
});
