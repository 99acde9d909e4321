/** What workers' sessions are called: the next free name, and what is no name (docs/contracts/team.md). */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sessions, stays, type TeamFixture, teamFixture } from "../fixtures/team/teamFixture.ts";
import { eventually } from "../support/clock/eventually.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";

const IS_KEEPING = keepsPanes();

const nameOf = async (started: ReturnType<TeamFixture["start"]>): Promise<unknown> =>
  (await started).json["sessionName"];

describe("names", () => {
  test("go on from the highest, dead or alive", async () => {
    await using team = await teamFixture({ ...stays });
    for (const name of ["p-1", "p-2", "p-3"]) expect(await nameOf(team.start({ sessionPrefix: "p" }))).toBe(name);
    team.tmux("kill-session", "-t", "=p-2");
    await eventually(async () => !JSON.stringify((await team.call("list")).json).includes("p-2"));
    expect(await nameOf(team.start({ sessionPrefix: "p" }))).toBe("p-4");
    if (!IS_KEEPING) return;
    // One that has ended is still there.
    team.tmux("respawn-pane", "-k", "-t", "=p-4:", "true");
    await eventually(() => team.tmux("display-message", "-p", "-t", "=p-4:", "#{pane_dead}").trim() === "1");
    expect(await nameOf(team.start({ sessionPrefix: "p" }))).toBe("p-5");
    expect(await nameOf(team.start({ sessionPrefix: "p-1" }))).toBe("p-1-1");
  });

  test("are distinct when ten start at once, and a name that somebody else takes is passed over", async () => {
    await using team = await teamFixture({ ...stays });
    await team.start();
    team.tmux("new-session", "-d", "-s", "worker-2", "cat");
    const names = await Promise.all(Array.from({ length: 10 }, () => nameOf(team.start())));
    expect(new Set(names)).toHaveLength(10);
    expect(sessions(team)).toEqual(["worker-1", "worker-2", ...names.map(String)].sort());
  });

  test("with a dot come back as tmux has them, and are found by either", async () => {
    await using team = await teamFixture({ ...stays });
    expect(await nameOf(team.start({ sessionPrefix: "v1.2" }))).toBe("v1_2-1");
    expect(await nameOf(team.start({ sessionPrefix: "v1.2" }))).toBe("v1_2-2");
    const listed = await team.call("list", { sessionPrefix: "v1.2" });
    expect(listed.json["sessions"]).toMatchObject([{ name: "v1_2-1" }, { name: "v1_2-2" }]);
    for (const sessionName of ["v1_2-1", "v1.2-1"]) {
      expect((await team.call("capture", { sessionName })).json).toMatchObject({ sessionName: "v1_2-1" });
    }
  });

  test.each(["a b", "a;b", "$(x)", "", "-x", "a:b", "a/b", "..", ".", "é", "__tmuxwire-x", "x".repeat(65)])(
    "%j is no identifier",
    async (text) => {
      await using team = await teamFixture({ ...stays });
      const calls = [
        team.start({ sessionPrefix: text }),
        team.start({ sessionName: text }),
        team.start({ threadId: text }),
        team.start({ teamId: text }),
        team.call("list", { sessionPrefix: text }),
        team.call("list", { teamId: text }),
      ];
      for (const { status, json } of await Promise.all(calls)) {
        expect([status, json]).toMatchObject([400, { error: { code: "invalid_identifier" } }]);
      }
      expect(existsSync(join(team.home, ".pi/agent/tmux"))).toBe(false);
    },
  );
});
