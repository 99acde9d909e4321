/** The daemon dies and comes back; two daemons on one socket. */
import { expect, test } from "vitest";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { eventually } from "../support/clock/eventually.ts";
import { seen } from "../support/tmux/output.ts";
import { ownedFixture, privateSocket, type PrivateSocket } from "../support/tmux/ownedFixture.ts";
import { startProgram, text } from "../support/tmux/panePrograms.ts";
import { restarts } from "../support/daemon/restartScenario.ts";

const echo = ["sh", "-c", "stty raw -echo; printf 'ready;'; exec cat"] as const;

const hubsOf = (socket: PrivateSocket): string[] =>
  socket
    .tmux("list-sessions", "-F", "#{session_name}")
    .split("\n")
    .filter((name) => name.startsWith("__tmuxwire-"));

test("killed with -9 in a flood and started again: same panes, one hub, one set of hooks", async () => {
  await using socket = privateSocket();
  const result = await restarts(socket, 3);
  expect(result).toMatchObject({ programsLost: 0, operationsFailed: 0, mostHubs: 1, mostHooks: 3 });
});

test("a second daemon on the socket fails with INCONSISTENT_STATE and the first does not notice", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const program = await startProgram(server, "first", echo);
  const hooksNow = (): string => socket.tmux("show-hooks", "-g") + socket.tmux("show-hooks", "-g", "-w");
  const [hooks, hubs, epoch] = [hooksNow(), hubsOf(socket), server.status().epoch];
  await expect(
    startOwnedServer({ socketPath: socket.socketPath, env: paneEnvironment(process.env), clock: systemClock }),
  ).rejects.toMatchObject({
    code: "INCONSISTENT_STATE",
    message: expect.stringContaining(
      process.platform === "linux" ? `another tmuxwire daemon (pid ${process.pid}) uses` : "another tmuxwire daemon",
    ) as unknown,
  });
  await eventually(() => hubsOf(socket).length === 1);
  expect(hubsOf(socket)).toEqual(hubs);
  expect(hooksNow()).toBe(hooks);
  await server.input(program.pane, [text("still mine")]);
  await seen(program.source, program.startSeq, "still mine");
  expect(server.status()).toMatchObject({ state: "ready", epoch });
  await eventually(() => socket.tmux("list-windows", "-a", "-F", "#{session_name}").trim().split("\n").length === 3);
  expect(fixture.log).toEqual([]);
});

test("closing leaves the panes and takes the hub and its hooks along", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  await startProgram(server, "stays", echo);
  await server.close();
  await eventually(() => hubsOf(socket).length === 0);
  expect(socket.tmux("list-sessions", "-F", "#{session_name}")).toBe("stays\n");
  const hooks = socket.tmux("show-hooks", "-g") + socket.tmux("show-hooks", "-g", "-w");
  expect(hooks).not.toMatch(/\[\d{4,}\]/);
});
