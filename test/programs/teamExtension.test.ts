/** The extension's tools as pi calls them, through the daemon's listener to real tmux, with teamd's leases asked first. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { FakePiHost } from "../fixtures/team/fakePiHost.ts";
import { LEADER, type TeamFixture, teamFixture } from "../fixtures/team/teamFixture.ts";

interface Installed {
  readonly team: TeamFixture;
  readonly host: FakePiHost;
  /** pi's own directory, under version control. */
  readonly project: string;
}

async function installed(env: Readonly<Record<string, string>> = {}): Promise<Installed & AsyncDisposable> {
  const team = await teamFixture();
  const project = join(team.home, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  mkdirSync(join(project, "part"));
  const host = new FakePiHost({
    env: { HOME: team.home, PI_AGENT_ID: LEADER, TMUXWIRE_URL: team.url, TMUXWIRE_TOKEN: team.token, ...env },
  });
  return { team, host, project, [Symbol.asyncDispose]: () => team[Symbol.asyncDispose]() };
}

test("start, list, attach and capture return what the endpoints return", async () => {
  await using on = await installed();
  const { team, host, project } = on;
  team.teamd.leases.set(LEADER, ["."]);
  const context = host.context(project);
  const started = await host.call("team_tmux_start", { taskPrompt: "go", lines: 10 }, context);
  expect(started.details).toMatchObject({
    sessionName: "worker-1",
    created: true,
    promptSubmitted: true,
    threadId: "thread-0001",
    capture: { requestedLines: 10 },
  });
  expect(JSON.parse(started.content[0]?.text ?? "")).toEqual(started.details);
  expect(team.prompts()).toMatchObject([{ text: "go", cwd: project }]);
  expect(team.teamd.threads.get("thread-0001")?.messages).toMatchObject([{ from: LEADER }]);
  const sessionName = "worker-1";
  // Two captures are the same only of a screen that stands still, two lists of a worker that does.
  await eventually(async () => !JSON.stringify(await team.call("capture", { sessionName })).includes("Working"));
  await eventually(async () => JSON.stringify((await team.call("list")).json).includes('"state":"ready"'));
  for (const [operation, input] of [
    ["list", { sessionPrefix: "worker" }],
    ["attach", { sessionName }],
    ["capture", { sessionName, lines: 20 }],
  ] as const) {
    const { details } = await host.call(`team_tmux_${operation}`, input, context);
    expect(details).toEqual((await team.call(operation, input)).json);
  }
  expect(
    (await host.call("team_tmux_send", { sessionName, message: "and more", wait: "done" }, context)).details,
  ).toMatchObject({ sessionName, outcome: "delivered" });
  expect((await host.call("team_tmux_wait", { sessionName }, context)).details).toMatchObject({ reached: "done" });
  expect(team.prompts().map(({ text }) => text)).toEqual(["go", "and more"]);
  const captured = await host.call("team_tmux_capture", { sessionName, threadId: "thread-0001" }, context);
  expect(captured.content[0]?.text).toBe((captured.details as { text: string }).text);
  expect(captured.details).toMatchObject({ posted: true });
});

test("an error is thrown with the contract's name, and an unknown field is one", async () => {
  await using on = await installed();
  const { team, host, project } = on;
  team.teamd.leases.set(LEADER, ["."]);
  const context = host.context(project);
  const failures: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
    ["team_tmux_attach", { sessionName: "none" }, /^session_not_found: /],
    ["team_tmux_capture", { sessionName: "none" }, /^session_not_found: /],
    ["team_tmux_capture", { sessionName: "none", lines: 0 }, /^invalid_argument: lines/],
    ["team_tmux_list", { sessionPrefix: "a b" }, /^invalid_identifier: /],
    ["team_tmux_start", { taskPrompt: "x", extra: 1 }, /^invalid_argument: .*extra/],
    ["team_tmux_start", { taskPrompt: "x", cwd: "none" }, /^invalid_cwd: |^blocked: /],
    ["team_tmux_start", { taskPrompt: "x", threadId: "thread-0009" }, /^thread_not_found: /],
  ];
  for (const [tool, input, message] of failures) await expect(host.call(tool, input, context)).rejects.toThrow(message);
});

describe("the guard", () => {
  test("without a person at the screen nothing is started or captured", async () => {
    await using on = await installed();
    const { team, host, project } = on;
    team.teamd.leases.set(LEADER, ["."]);
    const context = host.context(project, false);
    for (const [tool, input] of [
      ["team_tmux_start", { taskPrompt: "x" }],
      ["team_tmux_capture", { sessionName: "worker-1" }],
      ["team_tmux_send", { sessionName: "worker-1", message: "x" }],
      ["team_tmux_interrupt", { sessionName: "worker-1" }],
    ] as const) {
      await expect(host.call(tool, input, context)).rejects.toThrow(/^blocked: \w+ blocked: .*UI/);
      await expect(host.callUnasked(tool, input, context)).rejects.toThrow(/blocked: .*UI/);
    }
    expect((await host.call("team_tmux_list", {}, context)).details).toEqual({ sessions: [] });
    expect(team.teamd.requests).toEqual([]);
  });

  test("in the project an active lease is wanted, and a refusal is told", async () => {
    await using on = await installed();
    const { team, host, project } = on;
    const context = host.context(project);
    const refused = "Start blocked: active lease required (no_active_lease_for_path).";
    await expect(host.call("team_tmux_start", { taskPrompt: "x" }, context)).rejects.toThrow(`blocked: ${refused}`);
    expect(host.notified).toEqual([refused]);
    await expect(host.callUnasked("team_tmux_start", { taskPrompt: "x" }, context)).rejects.toThrow(refused);
    team.teamd.leases.set(LEADER, ["part"]);
    await expect(host.call("team_tmux_start", { taskPrompt: "x" }, context)).rejects.toThrow(refused);
    const started = await host.call("team_tmux_start", { taskPrompt: "x", cwd: "part" }, context);
    expect(started.details).toMatchObject({ sessionName: "worker-1" });
    const asked = team.teamd.requests.filter(({ path }) => path === "/v1/can-write").map(({ query }) => query);
    expect(asked.at(-1)).toEqual({ teamId: "team-test", agentId: LEADER, path: "part" });
    // A worker's screen is guarded by the lease on where it works.
    await host.call("team_tmux_capture", { sessionName: "worker-1" }, context);
    team.teamd.leases.delete(LEADER);
    await expect(host.call("team_tmux_capture", { sessionName: "worker-1" }, context)).rejects.toThrow(
      "blocked: Capture blocked: active lease required (no_active_lease_for_path).",
    );
    expect(team.tmux("list-sessions", "-F", "#{session_name}")).not.toContain("worker-2");
  });

  test("outside the project no lease applies; a link leads where it leads", async () => {
    await using on = await installed();
    const { team, host, project } = on;
    const context = host.context(join(project, "part"));
    const elsewhere = join(team.home, "elsewhere");
    mkdirSync(elsewhere);
    const started = await host.call("team_tmux_start", { taskPrompt: "x", cwd: elsewhere }, context);
    expect(started.details).toMatchObject({ created: true });
    expect(team.teamd.requests.map(({ path }) => path)).not.toContain("/v1/can-write");
    symlinkSync(project, join(elsewhere, "link"));
    for (const cwd of [join(elsewhere, "link"), "..", project]) {
      await expect(host.call("team_tmux_start", { taskPrompt: "x", cwd }, context)).rejects.toThrow(/active lease/);
    }
  });

  test("teamd that does not respond is said so, and nothing is started", async () => {
    await using on = await installed();
    const { team, host, project } = on;
    await team.teamd.stop();
    const context = host.context(project);
    await expect(host.call("team_tmux_start", { taskPrompt: "x" }, context)).rejects.toThrow(/teamd_unavailable/);
    await expect(host.call("team_tmux_start", { taskPrompt: "x", cwd: team.home }, context)).rejects.toThrow(
      /^teamd_unavailable: /,
    );
    expect((await team.call("list")).json).toEqual({ sessions: [] });
  });
});

describe("finding", () => {
  test("a team by the environment, by a token file, by its newest runtime.json", async () => {
    await using on = await installed();
    const { team, project } = on;
    const file = join(team.home, "token.json");
    writeFileSync(file, JSON.stringify({ url: team.teamd.url, token: team.teamd.token }));
    const daemon = { TMUXWIRE_URL: team.url, TMUXWIRE_TOKEN: team.token, PI_AGENT_ID: LEADER };
    const ways: readonly Record<string, string>[] = [
      { PI_TEAM_ID: "team-test", PI_TEAMD_URL: team.teamd.url, PI_TEAMD_TOKEN: team.teamd.token, HOME: "/nonexistent" },
      { PI_TEAM_ID: "team-test", PI_TEAMD_TOKEN_FILE: file, HOME: "/nonexistent" },
      { HOME: team.home },
      { PI_TEAM_WORKSPACE_ROOT: join(team.home, ".pi/teams"), HOME: "/nonexistent" },
    ];
    for (const [index, way] of ways.entries()) {
      const host = new FakePiHost({ env: { ...daemon, ...way } });
      team.teamd.leases.set(LEADER, ["."]);
      const { details } = await host.call("team_tmux_start", { taskPrompt: "x" }, host.context(project));
      expect(details).toMatchObject({ sessionName: `worker-${index + 1}`, threadId: `thread-000${index + 1}` });
    }
    const nobody = new FakePiHost({ env: { ...daemon, HOME: "/nonexistent" } });
    await expect(nobody.call("team_tmux_list", {}, nobody.context(project))).rejects.toThrow(/^teamd_unavailable: /);
    const named = new FakePiHost({ env: { ...daemon, HOME: "/nonexistent", PI_TEAM_ID: "team-test" } });
    const { details } = await named.call("team_tmux_list", {}, named.context(project));
    expect((details as { sessions: unknown[] }).sessions).toHaveLength(4);
  });

  test("no daemon is an error that says what to do", async () => {
    await using on = await installed();
    const { team, project } = on;
    const host = new FakePiHost({ env: { HOME: team.home } });
    await expect(host.call("team_tmux_list", {}, host.context(project))).rejects.toThrow(
      /^daemon_unavailable: found no tmuxwire daemon; run `tmuxwire serve --with team`$/,
    );
    const gone = new FakePiHost({ env: { HOME: team.home }, url: "http://127.0.0.1:9", token: "x" });
    await expect(gone.call("team_tmux_list", {}, gone.context(project))).rejects.toThrow(/^daemon_unavailable: /);
    const wrong = new FakePiHost({ env: { HOME: team.home }, url: team.url, token: "x" });
    await expect(wrong.call("team_tmux_list", {}, wrong.context(project))).rejects.toThrow(/^unauthorized: /);
  });
});
