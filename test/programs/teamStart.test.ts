/** Starting workers on real tmux with a fake pi: process, environment, thread, failures (docs/contracts/team.md). */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { LEADER, readyHook, sessions, stays, teamFixture } from "../fixtures/team/teamFixture.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";

const IS_KEEPING = keepsPanes();

describe("a worker", () => {
  test("is started, prompted exactly once, announced, and shown", async () => {
    await using team = await teamFixture();
    const { status, json } = await team.start({ taskPrompt: "say 'hi' $(date)", lines: 12 });
    expect(status).toBe(200);
    expect(json).toEqual({
      sessionName: "worker-1",
      created: true,
      windowName: "pi",
      paneId: "%1",
      socketPath: team.socketPath,
      attachCommand: `tmux -S ${team.socketPath} attach -t worker-1`,
      captureHint: 'team_tmux_capture {"sessionName":"worker-1","lines":1000}',
      threadId: "thread-0001",
      threadCreated: true,
      promptSubmitted: true,
      outcome: "submitted",
      reason: null,
      dead: false,
      exitStatus: null,
      readyMs: expect.any(Number) as unknown,
      capture: {
        sessionName: "worker-1",
        lines: expect.any(Number) as unknown,
        requestedLines: 12,
        text: expect.stringContaining("say 'hi' $(date)") as unknown,
        truncated: false,
      },
    });
    const capture = json["capture"] as { lines: number; text: string };
    expect(capture.lines).toBeLessThanOrEqual(12);
    expect(capture.text.split("\n")).toHaveLength(capture.lines);
    expect(team.prompts()).toEqual([
      { kind: "prompt", text: "say 'hi' $(date)", agent: "worker-1", team: "team-test", cwd: team.home },
    ]);
    const [thread] = team.teamd.threads.values();
    expect(thread).toMatchObject({ title: "tmux: worker-1", participants: [LEADER, "worker-1"] });
    expect(thread?.messages).toMatchObject([
      {
        from: LEADER,
        body:
          `[team_tmux_start] session=worker-1 team=team-test\nattach: tmux -S ${team.socketPath} attach -t worker-1\n` +
          'capture: team_tmux_capture {"sessionName":"worker-1","lines":1000}\ntask: say \'hi\' $(date)',
      },
    ]);
  });

  test("is the pane's own process under tmux, without a shell, in a server without the user's configuration", async () => {
    await using team = await teamFixture();
    const marker = join(team.home, "marker");
    writeFileSync(join(team.home, ".tmux.conf"), `run-shell "touch ${marker}"\n`);
    await team.start();
    const [pid = "", server = ""] = team
      .tmux("display-message", "-p", "-t", "%1", "#{pane_pid} #{pid}")
      .trim()
      .split(" ");
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toMatch(/^pi\0*$/);
    expect(/\nPPid:\t(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]).toBe(server);
    expect(team.tmux("show-options", "-t", "worker-1", "-w", "-v", "remain-on-exit").trim()).toBe(
      IS_KEEPING ? "on" : "",
    );
    expect(existsSync(marker)).toBe(false);
    const modes = [join(team.socketPath, ".."), join(team.socketPath, "../..")].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700]);
    expect(team.socketPath).toBe(join(team.home, ".pi/agent/tmux/team-test/tmux.sock"));
  });

  test("gets what it needs of the environment and no secret", async () => {
    const secrets = {
      PI_TEAMD_TOKEN: "secret-1",
      PI_TEAMD_TOKEN_FILE: "/secret-2",
      PI_TEAMD_URL: "http://secret-3",
      SSH_AUTH_SOCK: "/secret-4",
      AUTH_TOKEN: "secret-5",
      ANTHROPIC_API_KEY: "secret-6",
    };
    await using team = await teamFixture({ env: secrets });
    await team.start({ sessionPrefix: "v1.2" });
    const pid = team.tmux("display-message", "-p", "-t", "%1", "#{pane_pid}").trim();
    const environ = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    expect(environ).toEqual(
      expect.arrayContaining([
        `HOME=${team.home}`,
        "PI_TEAM_ID=team-test",
        "PI_AGENT_ID=v1_2-1",
        "PI_TEAM_THREAD_ID=thread-0001",
      ]),
    );
    expect(environ).toContainEqual(expect.stringMatching(/^PATH=/));
    expect(environ).toContainEqual(expect.stringMatching(/^PI_CODING_AGENT_DIR=/));
    const names = environ.map((entry) => entry.split("=", 1)[0]);
    for (const name of Object.keys(secrets)) expect(names).not.toContain(name);
    const known = team.tmux("show-environment", "-g") + team.tmux("show-environment", "-t", "v1_2-1");
    expect(environ.join("\n") + known).not.toContain("secret-");
  });

  test("works where it is told to", async () => {
    await using team = await teamFixture();
    const cwd = join(team.home, "a b #{pid} $x");
    mkdirSync(cwd);
    await team.start({ cwd });
    expect(team.prompts()).toMatchObject([{ cwd }]);
    for (const missing of [join(cwd, "none"), "relative", readyHook(), "/a\0b"]) {
      const { status, json } = await team.start({ cwd: missing });
      expect([status, json]).toMatchObject([400, { error: { code: "invalid_cwd" } }]);
    }
    expect(sessions(team)).toEqual(["worker-1"]);
  });

  test.runIf(IS_KEEPING)("that ends at once is kept with its status", async () => {
    await using team = await teamFixture({ worker: { argv: ["false"], hooked: false } });
    const { status, json } = await team.start();
    expect([status, json]).toMatchObject([
      200,
      {
        created: true,
        promptSubmitted: false,
        outcome: "ended",
        reason: expect.stringMatching(
          /^the worker has ended \(exit status 1\) before it took the prompt; it printed nothing/,
        ) as unknown,
        dead: true,
        exitStatus: 1,
        readyMs: null,
      },
    ]);
    expect(team.tmux("display-message", "-p", "-t", "%1", "#{pane_dead} #{pane_dead_status}").trim()).toBe("1 1");
    const listed = (await team.call("list")).json["sessions"];
    expect(listed).toMatchObject([{ name: "worker-1", dead: true, exitStatus: 1 }]);
  });
});

describe("a worker that ends", () => {
  test.runIf(IS_KEEPING)("at once is told of in its own last words, and nobody is told that it works", async () => {
    await using team = await teamFixture({ piFlags: ["--exit", "7"] });
    const { status, json } = await team.start({ sessionName: "one", lines: 4 });
    expect([status, json]).toMatchObject([
      200,
      {
        created: true,
        promptSubmitted: false,
        outcome: "ended",
        reason: expect.stringMatching(
          /exit status 7\) before it took the prompt; its last output: fake pi leaves\n/,
        ) as unknown,
        dead: true,
        exitStatus: 7,
        capture: { lines: 1, text: "fake pi leaves" },
      },
    ]);
    const messages = team.teamd.threads.get("thread-0001")?.messages.map(({ body }) => body) ?? [];
    expect(messages).toEqual([
      '[team_tmux_ended] session=one team=team-test exitStatus=7\ncapture: team_tmux_capture {"sessionName":"one","lines":1000}\ntask: do it',
    ]);
    // Asked for again it is as dead as before, and nothing more is said.
    const again = await team.start({ sessionName: "one", taskPrompt: "another" });
    expect(again.json).toMatchObject({ created: false, outcome: "ended", dead: true, exitStatus: 7 });
    expect(String(again.json["reason"])).toContain(`tmux -S ${team.socketPath} kill-session -t =one`);
    expect(team.teamd.threads.get("thread-0001")?.messages).toHaveLength(1);
  });

  test.runIf(IS_KEEPING)("later is dead to whoever asks for its session", async () => {
    await using team = await teamFixture();
    const first = await team.start({ sessionName: "one" });
    expect(first.json).toMatchObject({ outcome: "submitted", reason: null, dead: false });
    process.kill(Number(team.tmux("display-message", "-p", "-t", "=one:", "#{pane_pid}")), "SIGKILL");
    await eventually(() => team.tmux("display-message", "-p", "-t", "=one:", "#{pane_dead}").trim() === "1");
    await eventually(async () => (await team.start({ sessionName: "one" })).json["dead"] === true);
    expect((await team.start({ sessionName: "one" })).json).toMatchObject({
      created: false,
      promptSubmitted: true,
      outcome: "submitted",
      reason: expect.stringMatching(/^the worker has ended \(exit status 137\) after it took the prompt/) as unknown,
      dead: true,
      exitStatus: 137,
    });
    expect(team.prompts()).toHaveLength(1);
  });
});

describe("nothing is made", () => {
  test.each([["pi-that-is-not-there"], ["/nonexistent/pi"], ["./pi"]])("when there is no %s", async (program) => {
    await using team = await teamFixture({ worker: { argv: [program] } });
    const { status, json } = await team.start();
    expect([status, json]).toMatchObject([
      503,
      { error: { code: "worker_not_found", message: expect.stringContaining(program) as unknown } },
    ]);
    expect(team.teamd.requests).toEqual([]);
    expect(existsSync(join(team.home, ".pi/agent"))).toBe(false);
  });

  test("for a team that is misspelt, or whose teamd is gone", async () => {
    await using team = await teamFixture(stays);
    const teamd = { url: team.teamd.url, token: team.teamd.token };
    for (const body of [
      { teamId: "nobody" },
      { teamId: "nobody", teamd },
      { teamId: "nobody", teamd, threadId: "x" },
    ]) {
      const { status, json } = await team.start(body);
      expect([status, json]).toMatchObject([503, { error: { code: "teamd_unavailable" } }]);
    }
    expect((await team.start({ teamId: "nobody", teamd })).text).toContain("check teamId");
    await team.teamd.stop();
    expect((await team.start()).status).toBe(503);
    expect(existsSync(join(team.home, ".pi/agent"))).toBe(false);
    expect(team.teamd.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });
});

describe("a request that is repeated", () => {
  test("for a session that is there makes and types nothing", async () => {
    await using team = await teamFixture();
    const first = await team.start({ sessionName: "one" });
    expect(first.json).toMatchObject({ sessionName: "one", created: true, promptSubmitted: true });
    const second = await team.start({ sessionName: "one" });
    expect([second.status, second.json]).toEqual([200, { ...first.json, created: false, threadCreated: false }]);
    const both = await Promise.all([team.start({ sessionName: "two" }), team.start({ sessionName: "two" })]);
    // Which of the two comes first is nobody's choice.
    expect(both.filter(({ json }) => json["created"] === true)).toHaveLength(1);
    expect(both.filter(({ json }) => json["created"] === false)).toHaveLength(1);
    expect(team.prompts().map(({ agent }) => agent)).toEqual(["one", "two"]);
    expect(team.teamd.threads.size).toBe(2);
  });

  test("for a session that has another prompt is refused with both, also while the first is under way", async () => {
    await using team = await teamFixture();
    const long = `another ${"é".repeat(400)}`;
    const refusedWith = (first: string, second: string) => [
      409,
      {
        error: {
          code: "session_exists",
          message:
            `session one was started with another prompt, "${first}", so "${second}" was not sent; ` +
            "give another sessionName, or omit it",
        },
      },
    ];
    const shown = `another ${"?".repeat(96)}`;
    const both = await Promise.all([
      team.start({ sessionName: "one", taskPrompt: "first" }),
      team.start({ sessionName: "one", taskPrompt: long }),
    ]);
    // Which of the two comes first is nobody's choice.
    const [first, second] = both.map(({ status }) => status).toString() === "200,409" ? both : both.toReversed();
    expect(first?.json).toMatchObject({ created: true, promptSubmitted: true });
    const words: readonly [string, string] = first === both[0] ? ["first", shown] : [shown, "first"];
    expect([second?.status, second?.json]).toEqual(refusedWith(...words));
    for (const more of [{}, { idempotencyKey: "k2" }]) {
      const late = await team.start({ sessionName: "one", taskPrompt: "third", ...more });
      expect([late.status, late.json]).toEqual(refusedWith(words[0], "third"));
    }
    expect(team.prompts()).toHaveLength(1);
    expect(team.teamd.threads.size).toBe(1);
  });

  test("by the name that the first one got joins it while it is under way, and nobody restarts it meanwhile", async () => {
    const gate = join(mkdtempSync(join(tmpdir(), "tw-gate-")), "open");
    await using team = await teamFixture({ piFlags: ["--gate", gate] });
    const first = team.start();
    await eventually(async () => JSON.stringify((await team.call("list")).json).includes("worker-1"));
    const named = { sessionName: "worker-1" };
    const [restarted, refused] = await Promise.all([
      team.call("restart", named),
      team.start({ ...named, taskPrompt: "another" }),
    ]);
    for (const { status, json } of [restarted, refused]) {
      expect([status, json]).toMatchObject([409, { error: { code: "session_exists" } }]);
    }
    const joined = team.start(named);
    writeFileSync(gate, "");
    const { json } = await first;
    expect(json).toMatchObject({ created: true, outcome: "submitted" });
    expect((await joined).json).toEqual({ ...json, created: false, threadCreated: false });
    expect([team.prompts().length, team.teamd.threads.size]).toEqual([1, 1]);
    rmSync(dirname(gate), { recursive: true });
  });

  test("with its key returns what the first one did, also while that is under way", async () => {
    await using team = await teamFixture();
    const [first, joined] = await Promise.all([
      team.start({ idempotencyKey: "k1" }),
      team.start({}).then(() => team.start({ idempotencyKey: "k1" })),
    ]);
    const header = await team.call("start", { taskPrompt: "do it" }, { "idempotency-key": "k1" });
    for (const { json } of [joined, header])
      expect(json).toEqual({ ...first.json, created: false, threadCreated: false });
    expect(team.prompts()).toHaveLength(2);
    const other = await team.start({ idempotencyKey: "k1", taskPrompt: "another" });
    expect([other.status, other.json]).toMatchObject([400, { error: { code: "invalid_argument" } }]);
  });
});

describe("the prompt", () => {
  const literal = [
    `it's "quoted" \`x\` $(id) \${HOME}; #{pid} \\n`,
    "-leading dash",
    "naïve 漢字 🙂 é",
    "first\nsecond\n\nfourth",
    "!echo not a shell",
    "/quit",
    "  both ends  ",
    "ends with a backslash \\",
    Array.from({ length: 41 }, (_, line) => `line ${line}`).join("\n"),
  ];

  test.each(literal)("arrives as one message: %j", async (taskPrompt) => {
    await using team = await teamFixture();
    expect((await team.start({ taskPrompt })).json).toMatchObject({ promptSubmitted: true });
    const [{ kind, text } = { kind: "", text: "" }, ...more] = team.prompts();
    expect(more).toEqual([]);
    // pi would take a bare `/word` for one of its own: a space stays in front of it.
    expect([kind, text.replace(/^ (?=\/)/, "")]).toEqual(["prompt", taskPrompt]);
  });

  test("is typed again when Enter was lost, and is not said to be submitted when it was not", async () => {
    await using once = await teamFixture({ piFlags: ["--swallow", "1"] });
    expect((await once.start()).json).toMatchObject({ promptSubmitted: true });
    expect(once.prompts()).toHaveLength(1);
    await using never = await teamFixture({ piFlags: ["--swallow", "99"] });
    const { status, json } = await never.start();
    expect([status, json]).toMatchObject([
      200,
      { created: true, promptSubmitted: false, readyMs: expect.any(Number) as unknown },
    ]);
    expect(never.prompts()).toEqual([]);
  });

  test("that its worker has no key for is not said to be taken, and the reason is the worker's own", async () => {
    await using team = await teamFixture({ piFlags: ["--no-key"] });
    const { status, json } = await team.start();
    expect([status, json]).toMatchObject([
      200,
      {
        promptSubmitted: false,
        outcome: "echoed_unconfirmed",
        reason: expect.stringMatching(/the worker shows: No API key found for fake-1/) as unknown,
        dead: false,
      },
    ]);
  });

  test("is not typed into a worker that is not ready in time; the session is kept and announced", async () => {
    await using team = await teamFixture({ piFlags: ["--never-draws"], worker: { readyTimeoutMs: 300 } });
    const { status, json } = await team.start();
    expect([status, json]).toMatchObject([
      200,
      {
        created: true,
        promptSubmitted: false,
        outcome: "not_ready",
        reason: expect.stringMatching(/was not ready in time/) as unknown,
        dead: false,
        readyMs: null,
      },
    ]);
    expect(sessions(team)).toEqual(["worker-1"]);
    expect(team.teamd.threads.get("thread-0001")?.messages).toHaveLength(1);
  });

  test("reaches a worker without the hook by its screen", async () => {
    await using team = await teamFixture({ piFlags: ["--no-hook"] });
    expect((await team.start()).json).toMatchObject({ promptSubmitted: true });
    expect(team.prompts()).toHaveLength(1);
  });

  test.each(["", "  \n", "a\u0000b", "a\u001b[201~b", "\ud800"])(
    "%j is refused before anything is made",
    async (text) => {
      await using team = await teamFixture();
      const { status, json } = await team.start({ taskPrompt: text });
      expect([status, json]).toMatchObject([400, { error: { code: "invalid_argument" } }]);
      expect(existsSync(team.socketPath)).toBe(false);
      expect(team.teamd.requests).toEqual([]);
    },
  );
});

describe("threads", () => {
  test("one that is given is used, one with a title gets it", async () => {
    await using team = await teamFixture({ ...stays });
    const first = await team.start({ title: "the title" });
    expect(team.teamd.threads.get("thread-0001")?.title).toBe("the title");
    const second = await team.start({ threadId: first.json["threadId"] });
    expect(second.json).toMatchObject({ threadId: "thread-0001", threadCreated: false, created: true });
    expect(team.teamd.threads.size).toBe(1);
    expect(team.teamd.threads.get("thread-0001")?.messages).toHaveLength(2);
  });

  test("one that does not exist, or no teamd, stops the start before a session is made", async () => {
    await using team = await teamFixture({ ...stays });
    const unknown = await team.start({ threadId: "thread-0009" });
    expect([unknown.status, unknown.json]).toMatchObject([404, { error: { code: "thread_not_found" } }]);
    await team.teamd.stop();
    for (const body of [{}, { threadId: "thread-0009" }]) {
      const { status, json } = await team.start(body);
      expect([status, json]).toMatchObject([503, { error: { code: "teamd_unavailable" } }]);
    }
    const { status, json } = await team.start({ teamId: "nobody" });
    expect([status, json]).toMatchObject([503, { error: { code: "teamd_unavailable" } }]);
    expect(sessions(team)).toEqual([]);
  });

  test("a post that fails leaves the session and says so; the request that is repeated makes it good", async () => {
    await using team = await teamFixture();
    team.teamd.failPosts = 500;
    const request = { sessionName: "worker-1", idempotencyKey: "k" };
    const { status, json } = await team.start(request);
    expect([status, json]).toMatchObject([
      502,
      { error: { code: "thread_post_failed", message: expect.stringContaining("worker-1") as unknown } },
    ]);
    expect(sessions(team)).toEqual(["worker-1"]);
    team.teamd.failPosts = undefined;
    for (let times = 0; times < 2; times += 1) {
      const repeated = await team.start(request);
      expect([repeated.status, repeated.json]).toMatchObject([200, { created: false, outcome: "submitted" }]);
    }
    expect(team.teamd.threads.get("thread-0001")?.messages).toMatchObject([
      { body: expect.stringContaining("[team_tmux_start] session=worker-1") as unknown },
    ]);
    expect(team.prompts()).toHaveLength(1);
  });

  test("only the first 200 characters of the prompt are posted", async () => {
    await using team = await teamFixture({ ...stays });
    await team.start({ taskPrompt: "🙂".repeat(300) });
    const posted = team.teamd.threads.get("thread-0001")?.messages[0]?.body ?? "";
    expect(posted.endsWith(`task: ${"🙂".repeat(200)}`)).toBe(true);
  });
});
