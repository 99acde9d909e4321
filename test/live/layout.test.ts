/** Windows and panes of a real tmux, by us and by a person at a terminal. */
import { describe, expect, test } from "vitest";
import { spawnsTotal } from "../../daemon/connection/spawnCount.ts";
import { ownedFixture } from "../support/ownedFixture.ts";
import { userClient } from "../support/guestFixture.ts";
import { Follower, walkLayouts } from "../support/layoutScenario.ts";
import { userControl } from "../support/userControl.ts";

describe("an owned server", () => {
  test("60 operations by us and as many by a person: the tree is what tmux lists, by events alone as well", async () => {
    await using fixture = await ownedFixture();
    const { server, socket } = fixture;
    await server.createSession({ name: "home", command: ["sh"] });
    await server.createSession({ name: "work", command: ["cat"], cols: 100, rows: 30 });
    await using person = await userClient(socket, "home");
    await using control = await userControl(socket, "home");
    const follower = new Follower(server.layout.tree());
    server.layout.watch((events) => {
      for (const event of events) follower.take(event);
    });
    const spawned = spawnsTotal();
    const { refused } = await walkLayouts({ server, person, control, follower, seed: 7, count: 60 });
    expect(refused).toBeLessThan(30);
    expect(follower.events).toBeGreaterThan(60);
    expect(spawnsTotal()).toBe(spawned);
    expect(fixture.log).toEqual([]);
  });
});
