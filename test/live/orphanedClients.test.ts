/** Control clients of ours that a dead daemon has left: the next one ends them, and no other client. */
import { describe, expect, test } from "vitest";
import { attachArguments } from "../../daemon/servers/owned/hub.ts";
import { eventually } from "../support/clock/eventually.ts";
import { attached, guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { orphanedClient } from "../support/daemon/orphanedClient.ts";
import { ownedFixture, type PrivateSocket, privateSocket } from "../support/tmux/ownedFixture.ts";

const pids = (socket: PrivateSocket): readonly number[] => attached(socket).map(({ pid }) => pid);
const GUEST = ["-u", "-N", "attach-session", "-E", "-f", "ignore-size,pause-after=10"];

describe.skipIf(process.platform !== "linux")("with /proc", () => {
  test("of an owned server: the next start has the server, and the programs go on", async () => {
    await using socket = privateSocket();
    const hub = attachArguments("__tmuxwire-left", 1_000, 10, {});
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
