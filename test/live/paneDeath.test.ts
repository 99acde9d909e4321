/**
 * A pane's death is told by an event and not by the next heartbeat, however it dies; test/load/paneDeath.load.test.ts has
 * the figures.
 */
import { describe, expect, test } from "vitest";
import { linuxHost } from "../../daemon/host/linux/linuxHost.ts";
import { DEATHS, type DeathName, deaths, serverDeaths } from "../support/tmux/paneDeaths.ts";
import { eventually } from "../support/clock/eventually.ts";
import { ownedFixture, privateSocket } from "../support/tmux/ownedFixture.ts";
import { withDyingServer } from "../support/tmux/dyingServer.ts";

/** Longer than any test. */
const HEARTBEAT_MS = 3_600_000;

describe.each(["guest", "owned"] as const)("%s", (kind) => {
  test.each(Object.keys(DEATHS) as DeathName[])("%s", async (name) => {
    const reportedMs = await withDyingServer(kind, (scene) => deaths(scene, name, 6), HEARTBEAT_MS);
    expect(reportedMs).toHaveLength(6);
  });

  test.each(["kill-server", "SIGKILL"] as const)("the whole server, by %s", async (how) => {
    const reportedMs = await withDyingServer(kind, (scene) => serverDeaths(scene, how, 2), HEARTBEAT_MS);
    expect(reportedMs).toHaveLength(2);
  });
});

test("a pane that never had a program stays dead without a status, and is queried less and less often", async () => {
  await using directory = privateSocket();
  // No terminal of anybody else's is a reason to look.
  await using fixture = await ownedFixture({ host: linuxHost({ terminals: directory.directory }) });
  const { server, socket } = fixture;
  await server.createSession({ name: "a", command: ["cat"] });
  socket.tmux("set-hook", "-g", "after-list-panes", "set-option -ga @asked x");
  const asked = (): number => socket.tmux("show-options", "-gqv", "@asked").trim().length;
  socket.tmux("split-window", "-d", "-t", "=a:", "");
  const startMs = performance.now();
  await eventually(() => asked() >= 6);
  expect(performance.now() - startMs).toBeGreaterThan(600);
});
