/** User options of panes of real servers: exact, outliving the daemon, moving with the pane, and nothing else set on a guest. */
import { expect, test } from "vitest";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { eventually } from "../support/clock/eventually.ts";
import { guestFixture, paneOf, userSession, userState } from "../support/tmux/guestFixture.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { checkUserOptions, twoPanes } from "../support/tmux/panesWithOptions.ts";

test("on an owned server, across our restart", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  await server.createSession({ name: "a", command: ["cat"] });
  await server.createSession({ name: "b", command: ["cat"] });
  const panes = twoPanes(server);
  await checkUserOptions(server, panes);
  const { identity } = server.status();
  await server.setPaneUserOption(panes[1], "agent", "7 #{pid}\n");
  await server.close();
  await using again = await startOwnedServer({
    socketPath: socket.socketPath,
    env: paneEnvironment(process.env),
    clock: systemClock,
  });
  expect(await again.paneUserOptions("agent")).toEqual(new Map([[panes[1], "7 #{pid}\n"]]));
  expect(identity).toMatch(/^\d+\.\d+$/);
  expect(again.status().identity).toBe(identity);
});

test("on a guest, which is the same again when they are taken away", async () => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "a");
    userSession(socket, "b");
    socket.tmux("link-window", "-d", "-s", "=a:0", "-t", "=b:7");
  });
  const { server, socket } = fixture;
  const before = userState(socket);
  await checkUserOptions(server, twoPanes(server));
  expect(userState(socket)).toBe(before);
});

test("on a guest, across our restart and wherever the pane goes, but not into a new server", async () => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "a");
    userSession(socket, "b");
  });
  const { server, socket } = fixture;
  const pane = paneOf(server, "a");
  await server.setPaneUserOption(pane, "agent", "7");
  // Nothing that we would have written.
  socket.tmux("set-option", "-p", "-t", paneOf(server, "b"), "@tmuxwire_agent", "50%");
  expect(await server.paneUserOptions("agent")).toEqual(new Map([[pane, "7"]]));
  socket.tmux("split-window", "-d", "-t", pane, "cat");
  socket.tmux("break-pane", "-d", "-s", pane);
  await server.close();
  await using again = await fixture.another();
  expect(again.status().identity).toBe(server.status().identity);
  expect(await again.paneUserOptions("agent")).toEqual(new Map([[pane, "7"]]));
  const { identity } = again.status();
  socket.tmux("kill-server");
  await eventually(() => again.status().identity === undefined);
  await expect(again.setPaneUserOption(pane, "agent", "7")).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  await eventually(() => {
    try {
      userSession(socket, "a");
      return true;
    } catch {
      // The old one is not gone yet.
      return false;
    }
  });
  await eventually(() => again.findSession("a")?.activePane !== undefined);
  expect(paneOf(again, "a")).toBe(pane);
  expect(again.status().identity).toMatch(/^\d+\.\d+$/);
  expect(again.status().identity).not.toBe(identity);
  expect(await again.paneUserOptions("agent")).toEqual(new Map());
});
