/** The dashboard before the tmux server has been listed: it is asked already, and says only what it knows. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LISTED_PROBES_MS, RECONNECT_WITHIN_MS } from "../../adapters/dashboard/dashboardLimits.ts";
import { type Clock, systemClock } from "../../daemon/time/clock.ts";
import { databaseDirectory, type DashboardFixture, UUID } from "../support/daemon/dashboardFixture.ts";
import { DashboardScene } from "../support/daemon/dashboardScene.ts";
import { eventually } from "../support/clock/eventually.ts";
import { StubServer } from "../../daemon/servers/stub/stubServer.ts";
import type { PaneInfo, ServerEvent, ServerState, ServerStatus, SessionInfo } from "../../daemon/tmux/inventory.ts";
import type { PaneDetails } from "../../daemon/tmux/io.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";

/** Its process, and when that began. */
const LATE_PID = 4_242;
const IDENTITY = `${LATE_PID}.1700000000`;

class LateServer extends StubServer {
  readonly #reported = new Set<(event: ServerEvent) => void>();
  #state: ServerState = "connecting";
  #identity: string | undefined;
  #list: () => void = () => undefined;
  /** As a guest's: resolves when it is listed. */
  listed = Promise.resolve();

  constructor() {
    super({
      nowUnixMs: Date.now,
      onListenerError: (error) => {
        throw error;
      },
    });
    this.leave();
  }

  /** As it is to a daemon that has just been started. */
  leave(): void {
    this.#state = "connecting";
    this.#identity = undefined;
    this.listed = new Promise((resolve) => {
      this.#list = resolve;
    });
  }

  /** It has been listed. */
  arrive(): void {
    this.#state = "ready";
    this.#identity = IDENTITY;
    for (const listener of this.#reported) listener({ kind: "state", state: "ready" });
    this.#list();
  }

  override status(): ServerStatus {
    return { ...super.status(), state: this.#state, identity: this.#identity };
  }

  override sessions(): readonly SessionInfo[] {
    return this.#state === "ready" ? super.sessions() : [];
  }

  override findPane(pane: PaneId): PaneInfo | undefined {
    return this.#state === "ready" ? super.findPane(pane) : undefined;
  }

  override async describePane(pane: PaneId): Promise<PaneDetails> {
    if (this.#state === "ready") return super.describePane(pane);
    throw new AppError("CONNECTION_LOST", "tmux is not connected; reconnecting, try again shortly");
  }

  override subscribe(listener: (event: ServerEvent) => void): () => void {
    const unsubscribe = super.subscribe(listener);
    this.#reported.add(listener);
    return () => {
      this.#reported.delete(listener);
      unsubscribe();
    };
  }
}

const BUSY = "tmux does not answer at the moment. Try again shortly.";

let scene: DashboardScene;
let server: LateServer;
let pane: string;
let directory: ReturnType<typeof databaseDirectory>;

/** How many requests have begun to wait for the server. */
let waiting = 0;
const clock: Clock = {
  nowMs: () => systemClock.nowMs(),
  callAt: (atMs, callback) => {
    // A loaded machine takes its time between the two.
    const afterMs = atMs - systemClock.nowMs();
    if (afterMs <= RECONNECT_WITHIN_MS && afterMs > RECONNECT_WITHIN_MS - 200) waiting += 1;
    return systemClock.callAt(atMs, callback);
  },
};

/** A dashboard, restarted, over a server that is busy. */
const restarted = (): Promise<DashboardFixture> => {
  waiting = 0;
  return scene.another({ server, listed: server.listed, clock, databasePath: `${directory.path}/d.db` });
};

const agentsOf = async (dashboard: DashboardFixture) =>
  (await dashboard.call("GET", "/api/agents")).json["agents"] as Record<string, unknown>[];

/** Agent 1 waits in its prompt box, in this pane of the server. */
beforeEach(async () => {
  scene = await DashboardScene.start();
  directory = databaseDirectory();
  server = new LateServer();
  pane = (await server.createSession({ name: "agent" })).activePane ?? "none";
  server.arrive();
  await using before = await restarted();
  await before.call("POST", "/api/sessions", { session_uuid: UUID, project_path: "/p", tmux_pane_id: pane });
  await before.hook("session-start", { session_id: "s1", headspace_session_id: UUID });
  await before.hook("user-prompt-submit", { session_id: "s1", prompt: "go" });
  await before.hook("notification", { session_id: "s1", message: "Claude is waiting for your input" });
  server.leave();
});
afterEach(async () => {
  await server.close();
  await scene[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

describe("until the server is listed", () => {
  test("agents exist but cannot be answered; once it is listed they can, without a hook", async () => {
    await using dashboard = await restarted();
    expect(await agentsOf(dashboard)).toMatchObject([
      { agent_id: 1, state: "AWAITING_INPUT", tmux_pane_id: pane, is_bridge_connected: false },
    ]);
    const available = await dashboard.call("GET", "/api/respond/1/availability");
    expect(available.json).toEqual({ status: "ok", agent_id: 1, commander_available: false });
    const events = await dashboard.events("?types=commander_availability");
    server.arrive();
    expect((await events.next("commander_availability")).data).toMatchObject({ agent_id: 1, available: true });
    expect((await dashboard.respond(1, { text: "yes" })).status).toBe(200);
  });

  test("requests that need the pane are told to retry, not that the pane is gone", async () => {
    await using dashboard = await restarted();
    const asked = await Promise.all([
      dashboard.respond(1, { text: "yes" }),
      dashboard.respond(1, { mode: "keys", keys: ["Escape"] }),
      dashboard.call("POST", "/api/agents/1/input", { text: "y" }),
      dashboard.call("GET", "/api/agents/1/pane/stream"),
    ]);
    for (const { status, json } of asked) {
      expect([status, json]).toEqual([503, { status: "error", error_type: "tmux_not_running", message: BUSY }]);
    }
    expect([scene.submitted, scene.keys(), server.counters().outputBytes]).toEqual([[], [], 0]);
    // Nothing was typed, so the same may be asked again.
    server.arrive();
    expect((await dashboard.respond(1, { text: "yes" })).status).toBe(200);
  });

  test("an answer waits a moment for it", async () => {
    await using dashboard = await restarted();
    const answer = dashboard.respond(1, { text: "yes" });
    await eventually(() => waiting === 1);
    server.arrive();
    expect((await answer).status).toBe(200);
    expect(scene.submitted).toMatchObject([{ text: "yes" }]);
  });
});

describe("hooks in the meantime", () => {
  test("of a known agent get a response at once", async () => {
    await using dashboard = await restarted();
    const hook = await dashboard.hook("user-prompt-submit", { session_id: "s1", prompt: "next", tmux_pane: pane });
    expect([hook.status, hook.json["state"]]).toEqual([200, "processing"]);
    expect(await agentsOf(dashboard)).toMatchObject([{ state: "PROCESSING", tmux_pane_id: pane }]);
  });

  test("what it said of its pane does not bring back an agent that has ended since", async () => {
    const { id, activePane = "none" } = await server.createSession({ name: "moved" });
    await using dashboard = await restarted();
    await dashboard.hook("session-end", { session_id: "s1", tmux_pane: activePane });
    await dashboard.call("POST", "/api/sessions", {
      session_uuid: UUID.replace("0", "1"),
      project_path: "/p",
      tmux_pane_id: activePane,
    });
    const events = await dashboard.events("?types=commander_availability");
    server.arrive();
    await events.next(({ data }) => data["agent_id"] === 2 && data["available"] === true);
    expect(await agentsOf(dashboard)).toMatchObject([{ agent_id: 2, tmux_pane_id: activePane }]);
    await server.killSession(id);
    await events.next(({ data }) => data["agent_id"] === 2 && data["available"] === false);
    expect(events.events.filter(({ data }) => data["agent_id"] === 1)).toEqual([]);
  });

  test("of an unknown agent wait for the panes and register it", async () => {
    const { activePane = "none" } = await server.createSession({ name: "new" });
    await using dashboard = await restarted();
    const fields = { session_id: "s2", cwd: directory.path, tmux_pane: activePane };
    const hooks = [
      dashboard.hook("session-start", fields),
      dashboard.hook("user-prompt-submit", { ...fields, prompt: "hello" }),
    ];
    await eventually(() => waiting === 2);
    server.arrive();
    for (const { status, json } of await Promise.all(hooks)) expect([status, json["agent_id"]]).toEqual([200, 2]);
    expect((await agentsOf(dashboard))[1]).toMatchObject({ agent_id: 2, tmux_pane_id: activePane });
  });

  test("but not forever", async () => {
    await using dashboard = await restarted();
    const hook = await dashboard.hook("session-start", { session_id: "s2", cwd: directory.path, tmux_pane: "%9" });
    expect([hook.status, hook.json]).toEqual([404, { status: "dropped", message: "Session correlation failed" }]);
  });

  test("from a pane of another tmux server take nobody's pane", async () => {
    const other = { "x-tmux": `/tmp/other,${LATE_PID + 1},0` };
    await using dashboard = await restarted();
    const stranger = { session_uuid: UUID.replace("0", "1"), project_path: "/p" };
    await dashboard.call("POST", "/api/sessions", stranger);
    const start = { session_id: "s2", headspace_session_id: stranger.session_uuid, tmux_pane: pane };
    expect((await dashboard.hook("session-start", start, other)).json["agent_id"]).toBe(2);
    server.arrive();
    await server.listed;
    expect(await agentsOf(dashboard)).toMatchObject([
      { agent_id: 1, tmux_pane_id: pane },
      { agent_id: 2, tmux_pane_id: null },
    ]);
  });
});

describe("hooks from a pane that is not listed yet", () => {
  const ours = { "x-tmux": `/tmp/ours,${LATE_PID},0` };
  /** A pane that the listing lacks until the test says so. */
  async function unlisted() {
    const { activePane = "none" } = await server.createSession({ name: "new" });
    server.arrive();
    const findPane = server.findPane.bind(server);
    const hidden = { pane: activePane, isListed: false, probes: 0 };
    server.findPane = (asked) => {
      if (asked !== activePane) return findPane(asked);
      hidden.probes += 1;
      return hidden.isListed ? findPane(asked) : undefined;
    };
    return hidden;
  }

  test("wait for it, and register their agent", async () => {
    const hidden = await unlisted();
    await using dashboard = await restarted();
    const fields = { session_id: "s2", cwd: directory.path, tmux_pane: hidden.pane };
    const hook = dashboard.hook("session-start", fields, ours);
    await eventually(() => hidden.probes >= 3);
    hidden.isListed = true;
    expect(await hook).toMatchObject({ status: 200, json: { agent_id: 2 } });
    expect((await agentsOf(dashboard))[1]).toMatchObject({ agent_id: 2, tmux_pane_id: hidden.pane });
  });

  test("wait once for a pane that never comes, and not for a pane of an unknown server", async () => {
    const hidden = await unlisted();
    await using dashboard = await restarted();
    const fields = { session_id: "s2", cwd: directory.path, tmux_pane: hidden.pane };
    const probes = async (headers: Record<string, string>): Promise<number> => {
      hidden.probes = 0;
      expect((await dashboard.hook("session-start", fields, headers)).status).toBe(404);
      return hidden.probes;
    };
    const atOnce = await probes({});
    expect(await probes(ours)).toBeGreaterThan(atOnce + LISTED_PROBES_MS.length);
    expect(await probes(ours)).toBeLessThanOrEqual(atOnce + 1);
  });
});
