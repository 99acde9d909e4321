/** The daemon with a host that tells little or nothing besides starting tmux: it starts, runs, submits and answers. */
import { describe, expect, test } from "vitest";
import type { Host } from "../../daemon/host/host.ts";
import { spawnsTotal } from "../../daemon/host/spawnCount.ts";
import { runCommand } from "../../daemon/shell/runCommand.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { guestAgent } from "../support/agents/agentPrograms.ts";
import { engines, untilState } from "../support/agents/agentsEngines.ts";
import { dashboardFixture } from "../support/daemon/dashboardFixture.ts";
import { AGENT, atWork } from "../support/daemon/dashboardTurns.ts";
import { eventually } from "../support/clock/eventually.ts";
import { attached, guestFixture, paneOf, userSession } from "../support/tmux/guestFixture.ts";
import { fakePs, type FakePs, HOSTS, macos } from "../support/tmux/hosts.ts";
import { breakConnection, ownedFixture } from "../support/tmux/ownedFixture.ts";

const KINDS: readonly (readonly [name: string, make: () => { readonly host: Host; readonly ps?: FakePs }])[] = [
  ["one that knows nothing", () => ({ host: HOSTS["one that knows nothing"]!() })],
  [
    "macOS",
    () => {
      const ps = fakePs();
      return { host: macos(ps), ps };
    },
  ],
];

describe.each(KINDS)("%s", (_, make) => {
  test("a server of our own: start, new, run, the end of a pane, a lost connection, a second start", async () => {
    const { host, ps } = make();
    await using fixture = await ownedFixture({ host });
    const { server, socket } = fixture;
    const startedBefore = [spawnsTotal(), ps?.counts.started];
    const session = await server.createSession({ name: "work", command: ["sh"] });
    const pane = session.activePane!;
    const ran = await runCommand(
      { server, pane, clock: systemClock },
      { command: "echo one-$((40+2)); (exit 3)", timeoutMs: 20_000, maxOutputBytes: 10_000 },
    );
    expect(Buffer.from(ran.bytes).toString()).toContain("one-42");
    expect(ran).toMatchObject({ exitCode: 3 });
    const ending = await server.createSession({ name: "ending", command: ["sh", "-c", "read x; exit 4"] });
    await server.input(ending.activePane!, [{ kind: "keys", keys: ["Enter"] }]);
    await eventually(
      () => server.findPane(ending.activePane!)?.exit !== undefined || server.findSession("ending") === undefined,
    );
    // Nothing of this was worth a process.
    expect([spawnsTotal(), ps?.counts.started]).toEqual(startedBefore);
    // Another daemon is told who is there, as far as anybody can tell.
    const env = { PATH: process.env["PATH"] ?? "" };
    const [client] = attached(socket);
    const isKnown = ps !== undefined || client?.pid === process.pid;
    const who = isKnown ? `pid ${process.pid}` : `its tmux client has pid ${client?.pid}`;
    await expect(
      startOwnedServer({ host, socketPath: socket.socketPath, env, clock: systemClock }),
    ).rejects.toMatchObject({ code: "INCONSISTENT_STATE", message: expect.stringContaining(`(${who})`) as string });
    await breakConnection(fixture);
    expect(server.findSession("work")?.activePane).toBe(pane);
    await server.close();
    await using again = await ownedFixture({ host, socketPath: socket.socketPath });
    expect(again.server.findSession("work")?.activePane).toBe(pane);
  });

  test("the user's server: the end of a program in a kept pane is reported with the next heartbeat", async () => {
    const { host } = make();
    const quick = { host, heartbeatMs: 100 };
    await using fixture = await guestFixture((user) => {
      userSession(user, "a", ["sh", "-c", "read x; exit 5"]);
      user.tmux("set-option", "-g", "remain-on-exit", "on");
    }, quick);
    const { server, socket } = fixture;
    const pane = paneOf(server, "a");
    socket.tmux("send-keys", "-t", pane, "Enter");
    await eventually(() => server.findPane(pane)?.exit !== undefined);
    expect(server.findPane(pane)?.exit?.exitCode).toBe(5);
  });

  test("a prompt reaches the program, and is seen to be taken", async () => {
    const { host, ps } = make();
    await using agent = await guestAgent("dialog", { host });
    using engine = engines();
    const { server, pane, channel } = agent;
    using watched = engine.readiness.watch(server, pane);
    await untilState(watched, "idle");
    expect(ps?.counts.started ?? 0).toBeLessThanOrEqual(1);
    const before = ps?.counts.started ?? 0;
    const result = await engine.delivery.submit({ server, pane, text: "say hello" });
    expect(result.outcome).toBe("submitted");
    expect(channel.submits()).toEqual(["say hello"]);
    // What the delivery is for was looked at; a few times at most.
    if (ps !== undefined) expect([1, 2, 3]).toContain(ps.counts.started - before);
    expect(engine.errors).toEqual([]);
  });

  test("the dashboard answers a question", async () => {
    const { host } = make();
    await using agent = await guestAgent("dialog", { options: { busyMs: 0 }, host });
    await using dashboard = await dashboardFixture(agent.server);
    const events = await atWork(dashboard, agent.pane);
    await agent.channel.tell("busy");
    const tool = { session_id: "s1", tool_name: "Bash", tool_input: { command: "rm -rf build" } };
    await dashboard.hook("permission-request", tool);
    await agent.channel.tell("ask", { kind: "permission" });
    await events.next(({ event, data }) => {
      const question = data["question"] as { options?: unknown[] } | null | undefined;
      return event === "card_refresh" && (question?.options?.length ?? 0) > 0;
    });
    const answered = await dashboard.respond(AGENT, { text: "1" });
    expect(answered.json).toMatchObject({ status: "ok", new_state: "processing" });
    await agent.channel.next("tool");
    expect(agent.channel.count("tool")).toBe(1);
  });
});
