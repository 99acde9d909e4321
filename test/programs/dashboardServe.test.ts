/** `tmuxwire serve --only dashboard` as a process: what it says, what it leaves on the user's server, and what a crash costs. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { DatabaseSync } from "../../daemon/ops/sql/sqlite.ts";
import { eventually } from "../support/clock/eventually.ts";
import { AgentChannel } from "../support/agents/agentPrograms.ts";
import { type CliSandbox, cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import { EventReader, UUID } from "../support/daemon/dashboardFixture.ts";
import { userSession, userState } from "../support/tmux/guestFixture.ts";
import { callJson } from "../support/daemon/nativeServer.ts";
import { privateSocket } from "../support/tmux/ownedFixture.ts";

async function serve(sandbox: CliSandbox, socketPath: string, port = "0"): Promise<{ daemon: Running; url: string }> {
  const daemon = sandbox.start(
    ["serve", "--only", "dashboard", "--dashboard-tmux-socket", socketPath],
    // The contract's own name for it, which is the add-in's otherwise.
    { env: { PORT: port, TMUXWIRE_DASHBOARD_PORT: undefined } },
  );
  const [, url = ""] = await daemon.line(/dashboard listening on (http:\S+)/);
  return { daemon, url };
}

const post = (url: string, path: string, body: object) => callJson(url, "POST", path, body, {});
const agentsOf = async (url: string) =>
  (await callJson(url, "GET", "/api/agents", undefined, {})).json["agents"] as Record<string, unknown>[];

describe("serve --only dashboard", () => {
  test("comes back from kill -9 with everything, and readers are told", async () => {
    await using socket = privateSocket();
    await using sandbox = cliSandbox();
    await using channel = await AgentChannel.open(socket.directory);
    const pane = userSession(socket, "agent", channel.argv("inkPrompt", { busyMs: 0 }));
    await channel.next("ready");
    const untouched = userState(socket);
    const first = await serve(sandbox, socket.socketPath);
    const port = new URL(first.url).port;
    await post(first.url, "/api/sessions", { session_uuid: UUID, project_path: "/work/project", tmux_pane_id: pane });
    await post(first.url, "/hook/session-start", { session_id: "s1", headspace_session_id: UUID });
    await post(first.url, "/hook/user-prompt-submit", { session_id: "s1", prompt: "go" });
    await post(first.url, "/hook/notification", { session_id: "s1", message: "Claude is waiting for your input" });
    const events = await EventReader.open(`${first.url}/api/events/stream`);
    await post(first.url, "/hook/notification", { session_id: "s1", message: "again" });
    const last = await events.next("card_refresh");
    const [before] = await agentsOf(first.url);
    expect(before).toMatchObject({ agent_id: 1, state: "AWAITING_INPUT", tmux_pane_id: pane });
    const options = (): string => socket.tmux("show-options", "-p", "-t", pane).trim();
    // Written behind the responses, which do not wait for tmux.
    await eventually(() => options() !== "");
    first.daemon.child.kill("SIGKILL");
    await first.daemon.finished;
    await events.ended;
    // The mark is all that is left there.
    expect(options()).toMatch(/^@tmuxwire_agent \S+$/);

    const second = await serve(sandbox, socket.socketPath, port);
    expect(second.url).toBe(first.url);
    const back = await EventReader.open(`${second.url}/api/events/stream`, { "last-event-id": String(last.id) });
    expect((await back.next("gap")).id).toBeGreaterThan(last.id);
    const [after] = await agentsOf(second.url);
    expect(after).toMatchObject({
      agent_id: 1,
      session_uuid: UUID,
      project_path: "/work/project",
      state: "AWAITING_INPUT",
      tmux_pane_id: pane,
      question: before?.["question"],
    });
    await back.next(({ event, data }) => event === "commander_availability" && data["available"] === true);
    const answer = await post(second.url, "/api/respond/1", { text: "hello again" });
    expect([answer.status, answer.json["status"]]).toEqual([200, "ok"]);
    await channel.next("submit");
    expect(channel.submits()).toEqual(["hello again"]);
    await callJson(second.url, "DELETE", `/api/sessions/${UUID}`, undefined, {});
    back.close();
    second.daemon.child.kill("SIGTERM");
    expect((await second.daemon.finished).code).toBe(0);
    expect(socket.tmux("show-options", "-p", "-t", pane)).toBe("");
    expect(userState(socket)).toBe(untouched);
  });

  test("listens while tmux is busy, and says what it knows", async () => {
    await using socket = privateSocket();
    await using sandbox = cliSandbox();
    await using channel = await AgentChannel.open(socket.directory);
    const pane = userSession(socket, "agent", channel.argv("inkPrompt", { busyMs: 0 }));
    await channel.next("ready");
    const first = await serve(sandbox, socket.socketPath);
    await post(first.url, "/api/sessions", { session_uuid: UUID, project_path: "/work/project", tmux_pane_id: pane });
    await post(first.url, "/hook/session-start", { session_id: "s1", headspace_session_id: UUID });
    await post(first.url, "/hook/user-prompt-submit", { session_id: "s1", prompt: "go" });
    first.daemon.child.kill("SIGKILL");
    await first.daemon.finished;
    const tmuxPid = Number(socket.tmux("display-message", "-p", "#{pid}"));
    process.kill(tmuxPid, "SIGSTOP");
    try {
      const { url } = await serve(sandbox, socket.socketPath, new URL(first.url).port);
      const events = await EventReader.open(`${url}/api/events/stream`);
      const card = { agent_id: 1, tmux_pane_id: pane, is_bridge_connected: false };
      expect(await agentsOf(url)).toMatchObject([{ ...card, state: "PROCESSING" }]);
      const hook = await post(url, "/hook/notification", { session_id: "s1", message: "?", tmux_pane: pane });
      expect([hook.status, hook.json["new_state"]]).toEqual([200, "AWAITING_INPUT"]);
      const refused = await post(url, "/api/respond/1", { text: "too early" });
      expect([refused.status, refused.json["error_type"], refused.json["message"]]).toEqual([
        503,
        "tmux_not_running",
        "tmux does not answer at the moment. Try again shortly.",
      ]);
      process.kill(tmuxPid, "SIGCONT");
      await events.next(({ event, data }) => event === "commander_availability" && data["available"] === true);
      expect((await post(url, "/api/respond/1", { text: "now" })).status).toBe(200);
      await channel.next("submit");
      expect(channel.submits()).toEqual(["now"]);
      events.close();
    } finally {
      process.kill(tmuxPid, "SIGCONT");
    }
  });

  test("starts without a tmux server and notices one", async () => {
    await using socket = privateSocket();
    await using sandbox = cliSandbox();
    const { url } = await serve(sandbox, socket.socketPath);
    const events = await EventReader.open(`${url}/api/events/stream`);
    await post(url, "/api/sessions", { session_uuid: UUID, project_path: "/p", tmux_pane_id: "%0" });
    await using channel = await AgentChannel.open(socket.directory);
    userSession(socket, "agent", channel.argv("inkPrompt"));
    const told = await events.next("commander_availability");
    expect(told.data).toMatchObject({ agent_id: 1, available: true });
    events.close();
  });

  test("refuses a port and a database that are taken, in one line", async () => {
    await using socket = privateSocket();
    await using sandbox = cliSandbox();
    const { url } = await serve(sandbox, socket.socketPath);
    const again = (args: readonly string[]) =>
      sandbox.run(["serve", "--only", "dashboard", "--dashboard-tmux-socket", socket.socketPath, ...args]);
    const [port, database] = await Promise.all([
      again(["--dashboard-port", new URL(url).port, "--dashboard-database", sandbox.path("other.db")]),
      again(["--dashboard-port", "0"]),
    ]);
    expect([port?.code, port?.stderr.trim()]).toEqual([
      1,
      expect.stringMatching(/in use.*--dashboard-port or TMUXWIRE_DASHBOARD_PORT$/) as string,
    ]);
    expect([database?.code, database?.stderr.trim()]).toEqual([
      1,
      expect.stringMatching(/another tmuxwire uses .*dashboard\.db: stop it/) as string,
    ]);
  });

  test("stopped by Ctrl-C, which may come twice, writes what has waited and ends in order", async () => {
    await using socket = privateSocket();
    await using sandbox = cliSandbox();
    const { daemon, url } = await serve(sandbox, socket.socketPath);
    const [name = ""] = readdirSync(sandbox.path("state/tmuxwire"), { encoding: "utf8" }).filter((file) =>
      file.endsWith(".db"),
    );
    const path = sandbox.path("state/tmuxwire", name);
    await post(url, "/api/sessions", { session_uuid: UUID, project_path: "/p" });
    await post(url, "/hook/session-start", { session_id: "s1", headspace_session_id: UUID });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    expect((await post(url, "/hook/user-prompt-submit", { session_id: "s1", prompt: "kept" })).status).toBe(200);
    daemon.child.kill("SIGINT");
    daemon.child.kill("SIGINT");
    // Whoever looked at the database leaves it while the daemon ends.
    await eventually(() => daemon.stderr().includes("daemon.stopping"));
    other.exec("ROLLBACK");
    other.close();
    const { code, stderr } = await daemon.finished;
    // A lock that kept a write waiting is told once, without a stack that looks like a crash.
    expect(stderr).toContain("daemon.stopped");
    expect([code, stderr.match(/stack|lost|failed/)]).toEqual([0, null]);
    // A copy of the one file is a whole copy.
    if (existsSync(`${path}-wal`)) expect(statSync(`${path}-wal`).size).toBe(0);
    const after = new DatabaseSync(path);
    expect(
      after
        .prepare("SELECT text FROM turns")
        .all()
        .map((row) => Object.values(row as object)),
    ).toEqual([["kept"]]);
    after.close();
  });
});
