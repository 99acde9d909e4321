/** Windows and panes of a real tmux, by us and by a person at a terminal. */
import { expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { Follower, layoutWalk, listedLines, treeLines } from "../support/tmux/layoutScenario.ts";
import { breakConnection, ownedFixture } from "../support/tmux/ownedFixture.ts";
import { userControl } from "../support/tmux/userControl.ts";

test.each(["owned", "guest"] as const)(
  "30 operations by us and 30 by a person, %s: the tree is what tmux lists, by events alone as well",
  async (kind) => {
    const { refused, events, spawned, log } = await layoutWalk(kind, 7, 30);
    expect(refused).toBeLessThan(15);
    expect(events).toBeGreaterThan(30);
    expect(spawned).toBe(0);
    // A guest before 3.7 is spoken of when it is opened.
    expect(log.filter((line) => !("event" in line && line.event === "tmux.old"))).toEqual([]);
  },
);

test("what happened while the connection was away is told after it, and another server's ids are other things", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const make = () => server.createSession({ name: "work", command: ["cat"], cols: 100, rows: 30 });
  const { id } = await make();
  const follower = new Follower(server.layout.tree());
  server.layout.watch((events) => {
    for (const event of events) follower.take(event);
  });
  const isTrue = async (): Promise<boolean> => {
    await using control = await userControl(socket, "work");
    const listed = (await listedLines(control)).join("\n");
    return treeLines(server.layout.tree()).join("\n") === listed && treeLines(follower.tree).join("\n") === listed;
  };
  const back = breakConnection(fixture);
  socket.tmux("split-window", "-d", "-t", "=work:", "cat");
  socket.tmux("rename-window", "-t", "=work:", "away");
  await back;
  await eventually(isTrue);
  expect(follower.tree.windows).toMatchObject([{ name: "away", panes: { length: 2 } }]);

  const before = server.status().identity;
  const [pane] = server.panes();
  socket.tmux("kill-server");
  await eventually(() => server.status().state === "ready" && server.status().identity !== before);
  // The first of its kind again, and nothing of what it was.
  expect((await make()).id).toBe(id);
  await eventually(isTrue);
  expect(follower.faults).toEqual([]);
  expect(server.findPane(pane!.id)?.pid).not.toBe(pane!.pid);
});
