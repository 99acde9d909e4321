/** Listing, attaching, capturing: on real tmux, beside tmux's own replies (docs/contracts/team.md). */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { spawn } from "@homebridge/node-pty-prebuilt-multiarch";
import { describe, expect, test } from "vitest";
import { TeamServers } from "../../adapters/team/teamServers.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { type TeamFixture, teamFixture } from "../fixtures/team/teamFixture.ts";
import { callJson } from "../support/daemon/nativeServer.ts";
import { AgentChannel } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";

const IS_KEEPING = keepsPanes();

/** Prints so many numbered lines and stays, or ends. */
const counting = (lines: number, then: "stay" | "end") => ({
  worker: {
    argv: ["sh", "-c", `seq -f 'row %g' 1 ${lines}; ${then === "stay" ? "exec sleep 1000" : "sleep 0.2; exit 3"}`],
    hooked: false,
    readyTimeoutMs: 50,
  },
});
const stays = { worker: { argv: ["sleep", "1000"], hooked: false, readyTimeoutMs: 50 } };

/** tmux's own, without the line end after the last row. */
const printed = (team: TeamFixture, name: string, lines: number): string =>
  team.tmux("capture-pane", "-p", "-t", `=${name}:`, "-S", `-${lines}`, "-E", "-").replace(/\n$/, "");

const shows = (team: TeamFixture, name: string, text: string): Promise<void> =>
  eventually(() => printed(team, name, 100).includes(text));

describe("list", () => {
  test("tells of every session of a prefix, which is no pattern", async () => {
    await using team = await teamFixture(stays);
    for (const sessionPrefix of ["p", "p", "q"]) await team.start({ sessionPrefix });
    const list = async (sessionPrefix?: string) => (await team.call("list", { sessionPrefix })).json["sessions"];
    const [first] = (await list("p")) as readonly Record<string, unknown>[];
    expect(first).toEqual({
      name: "p-1",
      windows: 1,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/) as unknown,
      dead: false,
      exitStatus: null,
      attached: 0,
      thread: "thread-0001",
      worker: null,
      agent: null,
      state: null,
      since: null,
      task: "do it",
      cwd: null,
    });
    expect(await list("p")).toMatchObject([{ name: "p-1" }, { name: "p-2" }]);
    expect(await list("q")).toMatchObject([{ name: "q-1" }]);
    expect(await list()).toHaveLength(3);
    expect(await list("p.")).toEqual([]);
    expect((await team.call("list", { sessionPrefix: "*" })).json).toMatchObject({
      error: { code: "invalid_identifier" },
    });
  });

  test("tells of the agent that works in a session, which the native API has under the same name", async () => {
    await using team = await teamFixture();
    await team.start({ cwd: team.home });
    const list = async () => (await team.call("list")).json as { sessions: Record<string, unknown>[] };
    await eventually(async () => (await list()).sessions[0]?.["state"] === "ready");
    const name = `team-${team.teamd.teamId}`;
    expect((await list()).sessions).toMatchObject([
      { name: "worker-1", worker: "worker-1", agent: "pi", task: "do it", thread: "thread-0001" },
    ]);
    const get = async (path: string) =>
      (await callJson(team.url, "GET", path, undefined, { authorization: `Bearer ${team.token}` })).json;
    expect(await get("/v1/servers")).toMatchObject({ servers: [{ name: "main" }, { name, state: "ready" }] });
    expect(await get("/v1/agents")).toMatchObject({
      agents: [{ name: "worker-1", server: name, session: "worker-1", startedBy: `team:${team.teamd.teamId}` }],
    });
    expect((await get("/readyz"))["servers"]).toEqual({ main: "ready" });
    await team.servers.close();
    expect([await get("/v1/agents"), (await get("/v1/servers"))["servers"]]).toMatchObject([
      { agents: [] },
      [{ name: "main" }],
    ]);
  });

  test("of a team that has no server is empty and starts none, also behind a socket that was left", async () => {
    await using team = await teamFixture();
    expect([(await team.call("list")).status, (await team.call("list")).json]).toEqual([200, { sessions: [] }]);
    expect(existsSync(join(team.home, ".pi/agent"))).toBe(false);
    mkdirSync(dirname(team.socketPath), { recursive: true, mode: 0o700 });
    const left = `const s = require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, 9))`;
    spawnSync(process.execPath, ["-e", left, team.socketPath]);
    expect(existsSync(team.socketPath)).toBe(true);
    expect((await team.call("list")).json).toEqual({ sessions: [] });
    expect(team.servers.openCount).toBe(0);
    for (const operation of ["attach", "capture"]) {
      const { status, json } = await team.call(operation, { sessionName: "worker-1" });
      expect([status, json]).toMatchObject([404, { error: { code: "session_not_found" } }]);
    }
  });

  test.runIf(IS_KEEPING)("tells how a worker ended and who looks at it", async () => {
    await using team = await teamFixture({ worker: { argv: ["sh", "-c", "exit 3"], hooked: false } });
    await team.start();
    team.tmux("new-session", "-d", "-s", "by-hand", "cat");
    using screen = attach(team, "by-hand");
    await eventually(async () => {
      if (screen.text() === "") return false;
      const { sessions } = (await team.call("list")).json as { sessions: { attached: number }[] };
      return sessions.some((session) => session.attached === 1);
    });
    expect((await team.call("list")).json["sessions"]).toMatchObject([
      { name: "by-hand", dead: false, exitStatus: null, attached: 1 },
      { name: "worker-1", dead: true, exitStatus: 3, attached: 0 },
    ]);
  });
});

/** What a person's terminal shows after the command was run in it. */
function attach(team: TeamFixture, sessionName: string): Disposable & { text(): string } {
  const env = { ...paneEnvironment(process.env), TERM: "xterm-256color" };
  const terminal = spawn("tmux", ["-S", team.socketPath, "attach", "-t", sessionName], { env, cols: 100, rows: 30 });
  let shown = "";
  terminal.onData((text) => (shown += text));
  return { text: () => shown, [Symbol.dispose]: () => terminal.kill() };
}

describe("attached", () => {
  test("counts terminals, and no client in control mode, ours or another program's", async () => {
    await using team = await teamFixture(stays);
    await team.start();
    const attached = async () =>
      ((await team.call("list")).json["sessions"] as readonly { readonly attached: number }[])[0]?.attached;
    const clients = () => team.tmux("display-message", "-p", "-t", "=worker-1:", "#{session_attached}").trim();
    const program = spawn("tmux", ["-S", team.socketPath, "-C", "attach", "-t", "=worker-1"], {});
    try {
      await eventually(() => clients() === "1");
      expect(await attached()).toBe(0);
      using screen = attach(team, "worker-1");
      await eventually(() => clients() === "2");
      expect([screen.text(), await attached()]).toEqual([expect.any(String), 1]);
    } finally {
      program.kill();
    }
  });
});

describe("a server that ends", () => {
  test("has no sessions from that moment on, and the next start makes another", async () => {
    await using team = await teamFixture(stays);
    for (let round = 1; round <= 10; round += 1) {
      expect((await team.start()).json).toMatchObject({ sessionName: "worker-1", created: true });
      team.tmux("kill-server");
      const [listed, found, again] = await Promise.all([
        team.call("list"),
        team.call("capture", { sessionName: "worker-1" }),
        round % 2 === 0 ? team.call("list") : team.start({ sessionPrefix: "next" }),
      ]);
      expect([listed.status, found.status, found.json]).toMatchObject([
        200,
        404,
        { error: { code: "session_not_found" } },
      ]);
      const names = (listed.json["sessions"] as readonly { readonly name: string }[]).map(({ name }) => name);
      expect(names.filter((name) => name !== "next-1")).toEqual([]);
      expect([again.status, again.json]).toMatchObject([
        200,
        round % 2 === 0 ? { sessions: [] } : { sessionName: "next-1", created: true },
      ]);
      if (round % 2 === 1) team.tmux("kill-session", "-t", "=next-1");
    }
  });
});

test("workers may ask for keys with modifiers", async () => {
  await using team = await teamFixture(stays);
  await team.start();
  expect(team.tmux("show-options", "-s", "-v", "extended-keys").trim()).toBe("on");
});

describe("attach", () => {
  test("returns the command, attaches nothing, and the command works", async () => {
    await using team = await teamFixture();
    await team.start();
    const clients = team.tmux("list-clients");
    const { json } = await team.call("attach", { sessionName: "worker-1" });
    const argv = ["tmux", "-S", team.socketPath, "attach", "-t", "worker-1"];
    expect(json).toEqual({ sessionName: "worker-1", socketPath: team.socketPath, argv, command: argv.join(" ") });
    expect(team.tmux("list-clients")).toBe(clients);
    using screen = attach(team, "worker-1");
    await eventually(() => screen.text().includes("fake-1"));
  });
});

describe("capture", () => {
  test("is what tmux itself prints, a thousand lines of history unless told otherwise", async () => {
    await using team = await teamFixture(counting(3_000, "stay"));
    await team.start();
    await shows(team, "worker-1", "row 3000");
    for (const lines of [undefined, 1, 50, 2_990, 5_000]) {
      const { json } = await team.call("capture", { sessionName: "worker-1", lines });
      const text = printed(team, "worker-1", lines ?? 1_000);
      const rows = text.split("\n").length;
      const requestedLines = lines ?? 1_000;
      expect(json).toEqual({ sessionName: "worker-1", lines: rows, requestedLines, text, truncated: false });
    }
    const { text } = (await team.call("capture", { sessionName: "worker-1" })).json as { text: string };
    for (const row of [2_001, 3_000]) expect(text).toContain(`row ${row}`);
    expect(text).not.toContain("row 1900\n");
  });

  test("keeps and returns at most 5,000 lines, and says when it was cut", async () => {
    await using team = await teamFixture(counting(6_000, "stay"));
    await team.start();
    await shows(team, "worker-1", "row 6000");
    const { json } = await team.call("capture", { sessionName: "worker-1", lines: 1e9 });
    const { text } = json as { text: string };
    expect(json).toMatchObject({ lines: 5_000, requestedLines: 1e9, truncated: true });
    const rows = text.split("\n");
    expect([rows.length, rows.at(-1)]).toEqual([5_001, "[truncated to 5000 lines]"]);
    expect(rows.slice(0, -1)).toEqual(printed(team, "worker-1", 5_000).split("\n").slice(-5_000));
    // The screen comes on top of the history asked for: so many together are too many as well.
    const whole = await team.call("capture", { sessionName: "worker-1", lines: 5_000 });
    expect(whole.json).toMatchObject({ lines: 5_000, truncated: true, text });
    const less = await team.call("capture", { sessionName: "worker-1", lines: 4_900 });
    expect(less.json).toMatchObject({ truncated: false, text: printed(team, "worker-1", 4_900) });
    expect(Number(team.tmux("show-options", "-g", "-v", "history-limit"))).toBeGreaterThanOrEqual(5_000);
  });

  test.runIf(IS_KEEPING)("works on a worker that has ended, its end included", async () => {
    await using team = await teamFixture(counting(30, "end"));
    await team.start();
    await shows(team, "worker-1", "Pane is dead (status 3");
    const { json } = await team.call("capture", { sessionName: "worker-1" });
    expect(json["text"]).toBe(printed(team, "worker-1", 1_000));
    expect(json["text"]).toMatch(/row 30\n[^]*Pane is dead \(status 3/);
  });

  test.each([0, -1, 1.5, "5", null, Number.NaN])("lines %j is refused", async (lines) => {
    await using team = await teamFixture();
    for (const [operation, more] of [
      ["capture", { sessionName: "worker-1" }],
      ["start", { taskPrompt: "x" }],
    ] as const) {
      const { status, json } = await team.call(operation, { ...more, lines });
      expect([status, json]).toMatchObject([400, { error: { code: "invalid_argument" } }]);
    }
  });

  test("means exactly the session it names", async () => {
    await using team = await teamFixture(stays);
    for (const sessionName of ["worker-1", "worker-10"]) await team.start({ sessionName });
    team.tmux("kill-session", "-t", "=worker-1");
    await eventually(async () => (await team.call("attach", { sessionName: "worker-1" })).status === 404);
    for (const operation of ["capture", "attach"]) {
      const gone = await team.call(operation, { sessionName: "worker-1" });
      expect([gone.status, gone.json]).toMatchObject([404, { error: { code: "session_not_found" } }]);
      expect((await team.call(operation, { sessionName: "worker-10" })).json).toMatchObject({
        sessionName: "worker-10",
      });
    }
    expect((await team.call("capture", { sessionName: "worker" })).status).toBe(404);
  });

  test("is posted to a thread that is named", async () => {
    await using team = await teamFixture(counting(5, "stay"));
    const { json: started } = await team.start();
    await shows(team, "worker-1", "row 5");
    const { threadId } = started;
    const { json } = await team.call("capture", { sessionName: "worker-1", lines: 10, threadId });
    expect(json).toMatchObject({ posted: true, truncated: false });
    const { lines, text } = json as { lines: number; text: string };
    const posted = team.teamd.threads.get(String(threadId))?.messages.at(-1);
    expect(posted).toMatchObject({
      from: "leader",
      body: `[team_tmux_capture] session=worker-1 lines=${lines}\n${text}`.trim(),
    });
    await team.call("capture", { sessionName: "worker-1", lines: 6_000, threadId });
    const cut = team.teamd.threads.get(String(threadId))?.messages.at(-1)?.body ?? "";
    expect(cut).toMatch(
      /^\[team_tmux_capture\] session=worker-1 lines=\d+ truncated\n[^]*\n\[truncated to 5000 lines\]$/,
    );
    const nowhere = await team.call("capture", { sessionName: "worker-1", threadId: "thread-0009" });
    expect([nowhere.status, nowhere.json]).toMatchObject([404, { error: { code: "thread_not_found" } }]);
    await team.teamd.stop();
    const none = await team.call("capture", { sessionName: "worker-1", threadId });
    expect([none.status, none.json]).toMatchObject([503, { error: { code: "teamd_unavailable" } }]);
  });
});

describe("a worker that runs", () => {
  test("is told something once, takes it when it is idle, and is waited for", async () => {
    await using team = await teamFixture({ piFlags: ["--work-ms", "1000"] });
    await team.start({ taskPrompt: "first" });
    const sessionName = "worker-1";
    const send = (message: string, more: object = {}) => team.call("send", { sessionName, message, ...more });
    const second = await send("second", { wait: "none", idempotencyKey: "k" });
    expect([second.status, second.json]).toMatchObject([200, { sessionName, outcome: "waiting", lastWords: null }]);
    expect(team.prompts().map(({ text }) => text)).toEqual(["first"]);
    const repeated = await team.call(
      "send",
      { sessionName, message: "second", wait: "taken" },
      { "idempotency-key": "k" },
    );
    expect(repeated.json).toMatchObject({ messageId: second.json["messageId"], outcome: "delivered", reason: null });
    // What begins like a command is none.
    expect((await send("!third", { wait: "done" })).json).toMatchObject({ outcome: "delivered", question: null });
    expect((await team.call("wait", { sessionName })).json).toMatchObject({ sessionName, reached: "done" });
    expect(team.prompts()).toMatchObject([
      { kind: "prompt", text: "first" },
      { kind: "prompt", text: "second" },
      { kind: "prompt", text: "!third" },
    ]);
    const busy = team.call("wait", { sessionName, for: ["asking"], timeoutMs: 200 });
    expect([(await busy).status, (await busy).json]).toMatchObject([408, { error: { code: "timeout" } }]);
    const other = await send("other", { idempotencyKey: "k" });
    expect([other.status, other.json]).toMatchObject([400, { error: { code: "invalid_argument" } }]);
  });

  test("is interrupted, and takes a prompt again", async () => {
    await using team = await teamFixture({ piFlags: ["--work-ms", "60000"] });
    await team.start();
    const sessionName = "worker-1";
    expect((await team.call("interrupt", { sessionName })).json).toEqual({ sessionName, ok: true });
    expect((await team.call("wait", { sessionName, for: ["ready"] })).json).toMatchObject({ reached: "ready" });
    expect(printed(team, sessionName, 100)).toContain("Operation aborted");
  });

  test.runIf(IS_KEEPING)("and has ended is told nothing; its end is no news to who waits for it", async () => {
    await using team = await teamFixture();
    await team.start();
    const sessionName = "worker-1";
    const waiting = team.call("wait", { sessionName, for: ["ended"] });
    // Where its prompt box is empty, this key ends it.
    await eventually(() => printed(team, sessionName, 100).includes("fine"));
    team.tmux("send-keys", "-t", "=worker-1:", "C-d");
    expect((await waiting).json).toMatchObject({ reached: "ended" });
    await eventually(async () => JSON.stringify((await team.call("list")).json).includes('"dead":true'));
    expect((await team.call("wait", { sessionName })).json).toMatchObject({ reached: "ended" });
    for (const [operation, more] of [
      ["send", { message: "x" }],
      ["interrupt", {}],
      ["wait", { for: ["done"] }],
    ] as const) {
      const { status, json } = await team.call(operation, { sessionName, ...more });
      expect([status, json]).toMatchObject([409, { error: { code: "worker_not_running" } }]);
    }
  });

  test.each([
    ["send", { message: " " }, "message: must not be blank"],
    ["send", { message: "x", when: "later" }, "when: must be one of idle, now"],
    ["send", { message: "x", wait: "asking" }, "wait: must be one of none, taken, done"],
    ["send", { message: "x", ttlSec: 0 }, "ttlSec: must be an integer from 1"],
    ["wait", { for: [] }, "for: must not be empty"],
    ["wait", { for: "done" }, "for: must be a list"],
    ["wait", { for: ["gone"] }, "for.0: must be one of ready, asking, done, ended, stalled"],
    ["wait", { timeoutMs: 1e9 }, "timeoutMs: must be at most 86400000"],
  ])("%s %j is refused", async (operation, body, message) => {
    await using team = await teamFixture();
    const { status, json } = await team.call(operation, { sessionName: "worker-1", ...body });
    expect([status, json]).toEqual([400, { error: { code: "invalid_argument", message } }]);
  });
});

describe("a worker", () => {
  test("is killed with its session, and nobody else's is", async () => {
    await using team = await teamFixture(stays);
    for (const sessionName of ["worker-1", "worker-10"]) await team.start({ sessionName });
    expect((await team.call("kill", { sessionName: "worker-1" })).json).toEqual({ sessionName: "worker-1", ok: true });
    expect((await team.call("list")).json["sessions"]).toMatchObject([{ name: "worker-10", dead: false }]);
    const gone = await team.call("kill", { sessionName: "worker-1" });
    expect([gone.status, gone.json]).toMatchObject([404, { error: { code: "session_not_found" } }]);
  });

  test("is restarted in its directory and under its name; its start is not repeated", async () => {
    await using team = await teamFixture();
    const request = { taskPrompt: "once", cwd: team.home, idempotencyKey: "k" };
    const { json: started } = await team.start(request);
    const { json } = await team.call("restart", { sessionName: "worker-1" });
    // The stand-in says nothing of its conversation, so there is none to go on with.
    expect(json).toMatchObject({ sessionName: "worker-1", resumed: false, state: "ready" });
    expect(json["paneId"]).not.toBe(started["paneId"]);
    expect(team.tmux("display-message", "-p", "-t", "=worker-1:", "#{pane_start_path}").trim()).toBe(team.home);
    expect((await team.start(request)).json).toMatchObject({ created: false, outcome: "submitted" });
    expect(team.prompts()).toMatchObject([{ text: "once" }]);
    const agents = () => team.call("list");
    await eventually(async () => JSON.stringify((await agents()).json).includes('"worker":"worker-1"'));
  });

  test("is the one that was started, also where somebody has split its window and is in the other pane", async () => {
    await using team = await teamFixture();
    const request = { taskPrompt: "once", idempotencyKey: "k" };
    const { json: started } = await team.start(request);
    team.tmux("split-window", "-t", "=worker-1:", "cat");
    expect(team.tmux("display-message", "-p", "-t", "=worker-1:", "#{pane_id}").trim()).not.toBe(started["paneId"]);
    const list = async () => (await team.call("list")).json["sessions"] as Record<string, unknown>[];
    await eventually(async () => (await list())[0]?.["state"] === "ready");
    const sent = await team.call("send", { sessionName: "worker-1", message: "and more" });
    expect(sent.json).toMatchObject({ sessionName: "worker-1", outcome: "delivered" });
    expect(team.prompts()).toMatchObject([{ text: "once" }, { text: "and more" }]);
    const { json: repeated } = await team.start(request);
    expect(repeated).toMatchObject({ created: false, paneId: started["paneId"], outcome: "submitted" });
    expect((await team.call("restart", { sessionName: "worker-1" })).json).toMatchObject({ state: "ready" });
    expect(await list()).toMatchObject([{ name: "worker-1", thread: "thread-0001" }]);
  });

  test("can be another agent, with its own profile; one that nobody knows is refused", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tw-"));
    await using channel = await AgentChannel.open(directory);
    const [node = "", file = "", ...args] = channel.argv("inkPrompt");
    const program = `#!${node}\nprocess.argv.push(...${JSON.stringify(args)});\nimport(${JSON.stringify(file)});\n`;
    writeFileSync(join(directory, "claude"), program, { mode: 0o755 });
    try {
      await using team = await teamFixture({ env: { PATH: `${directory}:${process.env["PATH"]}` } });
      const started = await team.start({ taskPrompt: "be somebody else", agent: "claude" });
      expect(started.json).toMatchObject({ sessionName: "worker-1", outcome: "submitted", windowName: "claude" });
      expect(channel.submits()).toEqual(["be somebody else"]);
      const list = async () => (await team.call("list")).json["sessions"] as Record<string, unknown>[];
      await eventually(async () => (await list())[0]?.["agent"] === "claude");
      const { status, json } = await team.start({ agent: "nobody" });
      expect([status, json]).toMatchObject([400, { error: { code: "invalid_argument" } }]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

describe("tmux that cannot be reached", () => {
  test("a socket that cannot be made, or has too long a path, says what was asked and what came of it", async () => {
    await using team = await teamFixture();
    mkdirSync(join(team.home, ".pi/agent"), { recursive: true });
    writeFileSync(join(team.home, ".pi/agent/tmux"), "in the way");
    const { status, json } = await team.start();
    expect([status, json]).toMatchObject([
      502,
      {
        error: {
          code: "tmux_error",
          command: `tmux -f /dev/null -S ${team.socketPath} start-server`,
          message: expect.stringMatching(/cannot create the tmux socket directory/) as unknown,
          // tmux was not asked, so it said nothing.
          stderr: "",
        },
      },
    ]);
    await using long = await teamFixture({ env: {} });
    const teamId = "t".repeat(64);
    const far = new TeamServers({ rootDir: join(long.home, "d".repeat(60)), env: {}, clock: systemClock });
    await expect(far.use(teamId, async () => undefined)).rejects.toMatchObject({
      message: expect.stringContaining("bytes long") as unknown,
      details: { team: "tmux_error", stderr: "" },
    });
  });

  test("no tmux on PATH is an error of its own", async () => {
    await using team = await teamFixture();
    const servers = new TeamServers({ rootDir: join(team.home, "x"), env: { PATH: team.home }, clock: systemClock });
    await expect(servers.use("t", async () => undefined)).rejects.toMatchObject({
      code: "TMUX_UNAVAILABLE",
      details: { team: "tmux_not_installed" },
    });
    await servers.close();
  });
});

test("a team that is left can be come back to at once, with sessions and without", async () => {
  await using team = await teamFixture();
  const rootDir = join(team.home, "teams");
  for (let round = 1; round <= 20; round += 1) {
    const servers = new TeamServers({ rootDir, env: paneEnvironment(process.env), clock: systemClock });
    const kept = await servers.use("kept", async (server) => {
      const name = "only";
      return (server.findSession(name) ?? (await server.createSession({ name, command: ["cat"] }))).id;
    });
    expect(kept).toBe("$1");
    expect(await servers.use("empty", async (server) => server.sessions())).toEqual([]);
    await servers.close();
  }
  const last = new TeamServers({ rootDir, env: paneEnvironment(process.env), clock: systemClock });
  await last.use("kept", async (server) => server.killSession(server.findSession("only")!.id));
  await last.close();
  // Without sessions a server goes with whoever has left it.
  await eventually(() => spawnSync("tmux", ["-S", last.socketPath("kept"), "has-session"]).status !== 0);
});
