/** What the team operations never do: another call of teamd, a byte of its directory, a shell, a token told (docs/contracts/team.md §6). */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TEAM_PREFIX } from "../../adapters/team/teamMount.ts";
import { teamFixture } from "../fixtures/team/teamFixture.ts";
import { eventually } from "../support/clock/eventually.ts";
import { bodies, LEVELS } from "../support/daemon/deepBodies.ts";
import { asTmuxTitles } from "../support/tmux/tmuxWords.ts";
import { callJson } from "../support/daemon/nativeServer.ts";

test("teamd is asked for threads and nothing else, its directory stays as it is, and no token is told", async () => {
  await using team = await teamFixture();
  const before = team.teamd.fingerprint();
  const responses = [
    await team.start({ lines: 20 }),
    await team.start({ threadId: "thread-0001", idempotencyKey: "again" }),
    await team.start({ threadId: "thread-0001", idempotencyKey: "again" }),
    await team.start({ threadId: "thread-0404" }),
    await team.call("list"),
    await team.call("attach", { sessionName: "worker-1" }),
    await team.call("capture", { sessionName: "worker-1", threadId: "thread-0001" }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 404, 200, 200, 200]);
  expect(new Set(team.teamd.requests.map(({ method, path }) => `${method} ${path}`))).toEqual(
    new Set([
      "GET /v1/threads/search",
      "POST /v1/threads",
      "POST /v1/threads/thread-0001/messages",
      "GET /v1/threads/thread-0001/tail",
      "GET /v1/threads/thread-0404/tail",
    ]),
  );
  // Every post says whose it is: without that teamd would call it the system's.
  const posts = team.teamd.requests.filter(({ path }) => path.endsWith("/messages"));
  expect(posts.map(({ body }) => [body["teamId"], body["agentId"]])).toEqual(posts.map(() => ["team-test", "leader"]));
  expect(team.teamd.fingerprint()).toBe(before);
  const told = JSON.stringify([responses.map(({ text }) => text), posts]) + team.log();
  for (const token of [team.teamd.token, team.token]) expect(told).not.toContain(token);
});

test("nothing in a prompt, a title, a directory or a worker's output is run", async () => {
  await using team = await teamFixture();
  const marker = join(team.home, "marker");
  const hostile = `#(touch ${marker}) $(touch ${marker}) \`touch ${marker}\`; touch ${marker}\n!touch ${marker}`;
  // The words it ends with stand earlier in it, too.
  const { json } = await team.start({ taskPrompt: hostile, title: hostile });
  expect(json["outcome"]).toBe("submitted");
  expect(team.prompts()).toMatchObject([{ kind: "prompt", text: hostile }]);
  // A worker that gives its terminal such a title; a window of such a name (tmux would run it when it is set: `##` is `#`).
  const [firstLine = ""] = hostile.split("\n");
  const tty = team.tmux("display-message", "-p", "-t", "=worker-1:", "#{pane_tty}").trim();
  writeFileSync(tty, `\u001b]2;${firstLine}\u0007`);
  team.tmux("rename-window", "-t", "=worker-1:", firstLine.replaceAll("#", "##"));
  const named = (): string => team.tmux("display-message", "-p", "-t", "=worker-1:", "#{pane_title} #{window_name}");
  await eventually(() => named().trim() === `${asTmuxTitles(firstLine)} ${firstLine}`);
  expect((await team.call("list")).json["sessions"]).toMatchObject([{ name: "worker-1" }]);
  expect((await team.call("capture", { sessionName: "worker-1" })).status).toBe(200);
  // What tmux had been made to run before this would have been run by now.
  const control = join(team.home, "control");
  team.tmux("run-shell", `touch ${control}`);
  await eventually(() => existsSync(control));
  expect(readdirSync(team.home).sort()).toEqual([".pi", "control"]);
});

test("a worker's prompt is in no log line", async () => {
  await using team = await teamFixture();
  await team.start({ taskPrompt: "a-word-that-nobody-else-says" });
  expect(team.log()).toContain("team.started");
  expect(team.log()).not.toContain("a-word-that-nobody-else-says");
});

test("the listener's guard stands before it, and refuses in the contract's shape", async () => {
  await using team = await teamFixture();
  const path = "/team/v1/tmux/list";
  const bearer = { authorization: `Bearer ${team.token}` };
  const refusals: readonly (readonly [ReturnType<typeof callJson>, number, string | undefined])[] = [
    [callJson(team.url, "POST", path, { teamId: "t" }, {}), 401, "unauthorized"],
    [
      callJson(team.url, "POST", path, { teamId: "t" }, { ...bearer, origin: "https://evil.example" }),
      403,
      "forbidden",
    ],
    [callJson(team.url, "GET", path, undefined, bearer), 405, "method_not_allowed"],
    [callJson(team.url, "POST", "/team/v1/tmux/burn", { teamId: "t" }, bearer), 404, "not_found"],
    [callJson(team.url, "POST", "/team/v1/tmux/toString", { teamId: "t" }, bearer), 404, "not_found"],
    [callJson(team.url, "POST", path, "[]", bearer), 400, "invalid_argument"],
    [callJson(team.url, "POST", path, "nonsense", bearer), 400, "invalid_argument"],
    [callJson(team.url, "POST", path, {}, bearer), 400, "invalid_argument"],
    [callJson(team.url, "POST", path, { teamId: "t", extra: 1 }, bearer), 400, "invalid_argument"],
    [callJson(team.url, "POST", path, { teamId: "t", x: "x".repeat(3_000_000) }, bearer), 413, "body_too_large"],
  ];
  for (const [response, status, code] of refusals) {
    const { json, ...got } = await response;
    expect([got.status, (json["error"] as { code: string } | undefined)?.code]).toEqual([status, code]);
  }
});

test("teamd is looked for on this machine only", async () => {
  await using team = await teamFixture();
  for (const url of ["http://192.0.2.1:80", "https://127.0.0.1", "http://user@127.0.0.1", "file:///etc/passwd", "x"]) {
    const { status, json } = await team.start({ teamd: { url, token: "x" } });
    expect([status, json]).toMatchObject([400, { error: { code: "invalid_argument" } }]);
  }
  const given = await team.start({ teamd: { url: team.teamd.url, token: team.teamd.token } });
  expect(given.status).toBe(200);
  const wrong = await team.start({ teamd: { url: team.teamd.url, token: "wrong" } });
  expect([wrong.status, wrong.json]).toMatchObject([503, { error: { code: "teamd_unavailable" } }]);
});

test.each(LEVELS)("a body of %i levels is a bad request", async (levels) => {
  await using team = await teamFixture();
  for (const operation of ["start", "list", "attach", "capture"]) {
    for (const body of bodies(levels, "task")) {
      const headers = { authorization: `Bearer ${team.token}` };
      const { status } = await callJson(team.url, "POST", `${TEAM_PREFIX}${operation}`, body, headers);
      expect([operation, status]).toEqual([operation, 400]);
    }
  }
});
