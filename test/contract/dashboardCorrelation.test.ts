/** Which agent a hook is of: how it is found, and when a new one is made (docs/contracts/dashboard.md §3). */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { DashboardOptions } from "../../adapters/dashboard/dashboardParts.ts";
import { UNSEEN_MS } from "../../adapters/dashboard/dashboardLimits.ts";
import { UUID } from "../support/daemon/dashboardFixture.ts";
import { eachHasScene, scene } from "../support/daemon/dashboardScene.ts";
import { eventually } from "../support/clock/eventually.ts";
import { ownDirectory } from "../support/daemon/ownDirectory.ts";

/** In which no agent runs. */
const runningAgents = (more: Partial<DashboardOptions["running"]>): DashboardOptions["running"] => {
  const subscribe = () => () => undefined;
  const running = { onCheck: subscribe, subscribe, agents: () => [], reported: () => undefined, ...more };
  return running as DashboardOptions["running"];
};

eachHasScene();

describe("a hook is assigned to its agent", () => {
  const methodOf = async (body: object, headers?: Record<string, string>) => {
    const { status, json } = await scene.hook("session-start", body, headers);
    return [status, json["correlation_method"], json["is_new_agent"], json["agent_id"]];
  };

  test("by its session, after its first hook", async () => {
    const agentId = await scene.register();
    expect(await methodOf({})).toEqual([200, "session_id", false, agentId]);
    // The session counts before the pane and the directory.
    expect(await methodOf({ working_directory: "/", tmux_pane: "%9" })).toEqual([200, "session_id", false, agentId]);
  });

  test("by the launcher's uuid, by its pane, by its directory, else a new one in a registered project", async () => {
    const directory = ownDirectory();
    const register = async (uuid: string, pane?: string) =>
      (
        await scene.dashboard.call("POST", "/api/sessions", {
          session_uuid: uuid,
          project_path: directory,
          ...(pane === undefined ? {} : { tmux_pane_id: pane }),
        })
      ).json["agent_id"];
    const inPane = await register(UUID, scene.pane);
    const waiting = await register(UUID.replace("0", "1"));
    const launched = await register(UUID.replace("0", "2"));
    const start = (session: string, body: object) => methodOf({ session_id: session, ...body });
    const at = { working_directory: directory };
    expect(await start("a", { ...at, headspace_session_id: UUID.replace("0", "2"), tmux_pane: scene.pane })).toEqual([
      200,
      "headspace_session_id",
      false,
      launched,
    ]);
    // That one is in the pane now.
    expect(await start("b", { ...at, tmux_pane: scene.pane })).toEqual([200, "tmux_pane_id", false, launched]);
    const byDirectory = [
      await start("c", at),
      await start("d", { working_directory: join(directory, "..") + "/" + directory.split("/").pop() }),
    ];
    expect(byDirectory.map(([status, method]) => [status, method])).toEqual([
      [200, "working_directory"],
      [200, "working_directory"],
    ]);
    expect(new Set(byDirectory.map(([, , , id]) => id))).toEqual(new Set([inPane, waiting]));
    const [, method, isNew, created] = await start("e", at);
    expect([method, isNew]).toEqual(["created", true]);
    expect([inPane, waiting, launched]).not.toContain(created);
    expect(await start("e", at)).toEqual([200, "session_id", false, created]);
  });

  test("an unregistered directory is dropped, unless a live pane of ours is in it", async () => {
    const { status, json } = await scene.hook("session-start", { working_directory: "/" });
    expect([status, json["status"]]).toEqual([404, "dropped"]);
    expect((await scene.hook("session-start", { working_directory: "/", tmux_pane: "%999" })).status).toBe(404);
    const [ok, method, isNew, agentId] = await methodOf({ cwd: "/tmp" }, { "x-tmux-pane": scene.pane });
    expect([ok, method, isNew]).toEqual([200, "created", true]);
    expect(await scene.card(Number(agentId))).toMatchObject({
      project_path: "/tmp",
      project_name: "tmp",
      tmux_pane_id: scene.pane,
    });
  });

  test("a pane of another session or server is not assigned", async () => {
    const agentId = await scene.register({ pane: undefined });
    await scene.hook("stop", { tmux_pane: scene.pane, tmux_session: "somebody-else" });
    expect(await scene.card(agentId)).toMatchObject({ tmux_pane_id: null });
    await scene.hook("stop", { tmux_pane: scene.pane, tmux_session: "agent" });
    expect(await scene.card(agentId)).toMatchObject({ tmux_pane_id: scene.pane, tmux_session: "agent" });
  });

  test("a pane belongs to the agent that moved into it last", async () => {
    const first = await scene.register();
    const second = await scene.server.createSession({ name: "second" });
    const other = await scene.hook("session-start", { session_id: "s2", cwd: "/tmp", tmux_pane: second.activePane });
    const otherId = Number(other.json["agent_id"]);
    await scene.hook("stop", { session_id: "s2", tmux_pane: scene.pane });
    expect(await scene.card(otherId)).toMatchObject({ tmux_pane_id: scene.pane });
    expect(await scene.card(first)).toMatchObject({ tmux_pane_id: null, is_bridge_connected: false });
  });

  test("an ended agent is active again after its next hook", async () => {
    const agentId = await scene.register();
    expect((await scene.hook("session-end")).json).toEqual({ status: "ok", agent_id: agentId, state: "complete" });
    expect(await scene.card(agentId)).toBeUndefined();
    expect(await methodOf({})).toEqual([200, "db_session_id", false, agentId]);
    expect(await scene.card(agentId)).toBeDefined();
  });

  test.each([true, false])("an ended agent is followed again in its pane, named by its hook: %s", async (isNamed) => {
    const agentId = await scene.register();
    await scene.hook("session-end");
    await methodOf({ source: "resume", ...(isNamed ? { tmux_pane: scene.pane } : {}) });
    await eventually(async () => (await scene.card(agentId))?.["is_bridge_connected"] === true);
    scene.shows("asking", undefined);
    expect(await scene.card(agentId)).toMatchObject({ tmux_pane_id: scene.pane, readiness: { state: "asking" } });
  });

  test("an agent without a pane ends when nobody has heard of it for a week, until its next hook", async () => {
    let nowUnixMs = Date.now();
    let check = (): void => undefined;
    const onCheck = (listener: () => void) => {
      const before = check;
      check = () => [before, listener].forEach((each) => each());
      return () => undefined;
    };
    await using there = await scene.another({ running: runningAgents({ onCheck }), nowUnixMs: () => nowUnixMs });
    const start = (session: string, pane?: string) =>
      there.hook("session-start", { session_id: session, cwd: "/tmp", tmux_pane: pane });
    const cards = async () =>
      ((await there.call("GET", "/api/agents")).json["agents"] as Record<string, unknown>[]).map((card) => card["id"]);
    const other = await scene.server.createSession({ name: "other" });
    const [stays, goes] = [await start("a", scene.pane), await start("b", other.activePane)].map(
      ({ json }) => json["agent_id"],
    );
    await scene.server.killSession(other.id);
    nowUnixMs += UNSEEN_MS;
    check();
    expect(await cards()).toEqual([stays, goes]);
    const events = await there.events();
    nowUnixMs += 1;
    check();
    expect((await events.next("session_ended")).data).toMatchObject({ agent_id: goes });
    expect(await cards()).toEqual([stays]);
    expect((await start("b")).json).toMatchObject({ agent_id: goes });
    expect(await cards()).toEqual([stays, goes]);
  });

  test("what an agent says of itself is not said of who has its pane's number on another server", async () => {
    const told: unknown[] = [];
    const reported = (...[, pane, { lastMessage }]: Parameters<DashboardOptions["running"]["reported"]>) =>
      void told.push([pane, lastMessage]);
    await using there = await scene.another({ running: runningAgents({ reported }) });
    const stop = (words: string, where: object = {}) =>
      there.hook("stop", { session_id: "a", cwd: "/tmp", last_assistant_message: words, ...where });
    await stop("here", { tmux_pane: scene.pane });
    await stop("still here");
    await stop("on another server", { tmux_pane: scene.pane, tmux_session: "somebody-else" });
    const was = scene.server.status();
    scene.server.status = () => ({ ...was, identity: "another" });
    await stop("after this server was started again");
    expect(told).toEqual([
      [scene.pane, "here"],
      [scene.pane, "still here"],
    ]);
  });

  test("an ended agent that names no pane is in none that others have meanwhile", async () => {
    const agentId = await scene.register();
    await scene.hook("session-end");
    const other = await scene.hook("session-start", { session_id: "s2", cwd: "/tmp", tmux_pane: scene.pane });
    await methodOf({});
    expect(await scene.card(agentId)).toMatchObject({ tmux_pane_id: null });
    expect(await scene.card(Number(other.json["agent_id"]))).toMatchObject({ tmux_pane_id: scene.pane });
  });
});

test("a stop waits until tmux has every note of who is in a pane, also one that it refuses", async () => {
  const answers: ((error?: Error) => void)[] = [];
  const notes: unknown[] = [];
  scene.server.setPaneUserOption = (_pane, _name, value) =>
    new Promise((resolve, reject) => {
      notes.push(value);
      answers.push((error) => (error === undefined ? resolve() : reject(error)));
    });
  const agentId = await scene.register();
  await scene.hook("session-end");
  expect(notes).toEqual([`${agentId}:${UUID}`, undefined]);
  let isSettled = false;
  const settled = scene.dashboard.settled().then(() => (isSettled = true));
  answers[0]!();
  await Promise.resolve();
  await new Promise(setImmediate);
  expect(isSettled).toBe(false);
  answers[1]!(new Error("no such pane"));
  await settled;
});
