/** Control clients of ours that a dead daemon has left: the next one ends them, and no other client. */
import { describe, expect, test } from "vitest";
import type { Host } from "../../daemon/host/host.ts";
import { openPipeTransport } from "../../daemon/host/clients/pipeTransport.ts";
import { ourFlags } from "../../daemon/servers/orphanedClients.ts";
import { attachArguments } from "../../daemon/servers/owned/hub.ts";
import { eventually } from "../support/clock/eventually.ts";
import { orphanedClient, orphanedPipeClient } from "../support/daemon/orphanedClient.ts";
import { HOSTS } from "../support/tmux/hosts.ts";
import { attached, guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { ownedFixture, type PrivateSocket, privateSocket } from "../support/tmux/ownedFixture.ts";

const pids = (socket: PrivateSocket): readonly number[] => attached(socket).map(({ pid }) => pid);
const GUEST = ["-u", "-N", "attach-session", "-E", "-f", "ignore-size,pause-after=10"];

describe.skipIf(process.platform !== "linux")("with /proc", () => {
  test("of an owned server: the next start has the server, and the programs go on", async () => {
    await using socket = privateSocket();
    const hub = attachArguments("__tmuxwire-left", 1_000, {});
    using orphan = await orphanedClient(["-u", "-f", "/dev/null", "-S", socket.socketPath, ...hub]);
    socket.tmux("new-session", "-d", "-s", "work", "cat");
    expect(pids(socket)).toEqual([orphan.pid]);
    await using fixture = await ownedFixture({ socketPath: socket.socketPath });
    expect(fixture.server.sessions().map(({ name }) => name)).toEqual(["work"]);
    await eventually(() => !pids(socket).includes(orphan.pid));
    const sessions = socket.tmux("list-sessions", "-F", "#{session_name}");
    expect(sessions).not.toContain("__tmuxwire-left");
  });

  test("of a guest: the next one ends it, and leaves the user's and a living guest's", async () => {
    await using fixture = await guestFixture((user) => void userSession(user, "a"));
    const path = fixture.socket.socketPath;
    using orphan = await orphanedClient(["-S", path, ...GUEST]);
    using users = await orphanedClient(["-u", "-S", path, "attach-session"]);
    const before = pids(fixture.socket);
    expect(before).toEqual(expect.arrayContaining([orphan.pid, users.pid]));
    expect(before.length).toBe(3);
    const next = await fixture.another();
    try {
      await eventually(() => !pids(fixture.socket).includes(orphan.pid));
      expect(pids(fixture.socket)).toEqual(expect.arrayContaining(before.filter((pid) => pid !== orphan.pid)));
      expect(next.status().state).toBe("ready");
    } finally {
      await next.close();
    }
  });
});

/** Hosts that tell which process started which. */
describe.skipIf(process.platform !== "linux").each(["linux", "macOS"] as const)("on pipes: %s", (name) => {
  const host = (): Host => HOSTS[name]!();

  test("of an owned server: the next start has the server", async () => {
    await using socket = privateSocket();
    const hub = attachArguments("__tmuxwire-left", 1_000, {});
    using orphan = await orphanedPipeClient(["-u", "-f", "/dev/null", "-S", socket.socketPath, ...hub]);
    await eventually(() => pids(socket).includes(orphan.pid));
    socket.tmux("new-session", "-d", "-s", "work", "cat");
    await using fixture = await ownedFixture({ socketPath: socket.socketPath, host: host() });
    expect(fixture.server.sessions().map(({ name: session }) => session)).toEqual(["work"]);
    await eventually(() => !pids(socket).includes(orphan.pid));
  });

  test("of a guest: the next one ends it, and leaves the user's and a living guest's", async () => {
    await using fixture = await guestFixture((user) => void userSession(user, "a"), { transport: openPipeTransport });
    const path = fixture.socket.socketPath;
    const ours = (flags: string): readonly string[] => ["-S", path, "-u", "-N", "attach-session", "-E", "-f", flags];
    using orphan = await orphanedPipeClient(ours(ourFlags()));
    using users = await orphanedPipeClient(ours("ignore-size,pause-after=10"));
    await eventually(() => [orphan, users].every(({ pid }) => pids(fixture.socket).includes(pid)));
    const before = pids(fixture.socket);
    expect(before.length).toBe(3);
    const next = await fixture.another({ host: host() });
    try {
      await eventually(() => !pids(fixture.socket).includes(orphan.pid));
      expect(pids(fixture.socket)).toEqual(expect.arrayContaining(before.filter((pid) => pid !== orphan.pid)));
      expect(next.status().state).toBe("ready");
    } finally {
      await next.close();
    }
  });
});
