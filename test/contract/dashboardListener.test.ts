/** Who is let in, sessions, the page's files, and a database that somebody else holds (docs/contracts/dashboard.md §1). */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { becomeSoleOwner } from "../../daemon/ops/sql/soleOwner.ts";
import { openDatabase } from "../../daemon/ops/sql/database.ts";
import { DatabaseSync } from "../../daemon/ops/sql/sqlite.ts";
import { MIGRATIONS } from "../../adapters/dashboard/store/schema.ts";
import { AppError } from "../../protocol/errors.ts";
import { databaseDirectory, UUID } from "../support/daemon/dashboardFixture.ts";
import { eachHasScene, scene } from "../support/daemon/dashboardScene.ts";
import { sendRaw } from "../support/daemon/nativeRaw.ts";

eachHasScene();

test.each([
  ["/api/sessions", 65_536],
  ["/api/agents/1/input", 65_536],
  ["/api/respond/1", 2_097_152],
  ["/hook/stop", 8_388_608],
])("%s takes a body of %i bytes, and refuses a longer one before anything else", async (path, maxBytes) => {
  const send = async (bytes: number) => {
    const { status, json } = await scene.dashboard.call("POST", path, " ".repeat(bytes));
    return { status, json };
  };
  expect((await send(maxBytes)).status).toBe(400);
  const message = `Request body too large (max ${maxBytes} bytes).`;
  const json = { status: "error", error_type: "body_too_large", message };
  expect(await send(maxBytes + 1)).toEqual({ status: 413, json });
});

describe("sessions", () => {
  const post = (body: unknown) => scene.dashboard.call("POST", "/api/sessions", body);

  test("are registered once", async () => {
    const body = { session_uuid: UUID, project_path: "/work/thing/", tmux_pane_id: scene.pane, git_branch: "main" };
    const made = await post(body);
    expect([made.status, made.json]).toEqual([
      201,
      { status: "created", agent_id: 1, session_uuid: UUID, project_id: 1, project_name: "thing" },
    ]);
    const again = await post({ ...body, session_uuid: UUID.toUpperCase() });
    expect([again.status, again.json]).toEqual([409, { error: `Session ${UUID} already exists`, agent_id: 1 }]);
    const other = await post({ session_uuid: UUID.replace("0", "1"), project_path: "/work/thing", project_name: "T" });
    expect(other.json).toMatchObject({ agent_id: 2, project_id: 1, project_name: "thing" });
  });

  test.each([
    [undefined, "Request body is required"],
    ["", "Request body is required"],
    ["{", "Request body is required"],
    [{}, "Request body is required"],
    [[], "Request body is required"],
    [{ session_uuid: UUID }, "Missing required fields: project_path"],
    [{ project_path: "/p" }, "Missing required fields: session_uuid"],
    [{ session_uuid: "", project_path: "", x: 1 }, "Missing required fields: session_uuid, project_path"],
    [{ session_uuid: "nope", project_path: "/p" }, "Invalid session_uuid format"],
    [{ session_uuid: UUID, project_path: "/p", tmux_pane_id: "5" }, /^Invalid tmux_pane_id format/],
  ])("%j: %s", async (body, error) => {
    const { status, json } = await post(body);
    expect([status, json]).toEqual([
      400,
      { error: typeof error === "string" ? error : (expect.stringMatching(error) as string) },
    ]);
  });

  test("can be ended and queried", async () => {
    await post({ session_uuid: UUID, project_path: "/p" });
    const asked = await scene.dashboard.call("GET", `/api/sessions/${UUID}`);
    expect(asked.json).toMatchObject({ agent_id: 1, project_name: "p", state: "idle" });
    const ended = await scene.dashboard.call("DELETE", `/api/sessions/${UUID}`);
    expect([ended.status, ended.json]).toEqual([200, { status: "ended", session_uuid: UUID, agent_id: 1 }]);
    const unknown = await scene.dashboard.call("DELETE", `/api/sessions/${UUID.replace("0", "9")}`);
    expect([unknown.status, unknown.json]).toEqual([404, { error: `Session ${UUID.replace("0", "9")} not found` }]);
    expect((await scene.dashboard.call("DELETE", "/api/sessions/nope")).status).toBe(404);
  });
});

describe("who may connect", () => {
  const ask = (headers: Record<string, string>, method = "GET", path = "/api/agents") =>
    sendRaw(scene.dashboard.port, { method, path, headers });

  test.each([
    [{ host: "127.0.0.1" }, 200],
    [{ host: "localhost:5055" }, 200],
    [{ host: "evil.example" }, 403],
    [{ host: "127.0.0.1", origin: "https://evil.example" }, 403],
    [{ host: "127.0.0.1", origin: "null" }, 403],
    [{ host: "127.0.0.1", origin: "http://127.0.0.1:1" }, 403],
  ])("%j: %i", async (headers, status) => {
    expect((await ask(headers)).status).toBe(status);
    // Neither reads nor changes anything, with any content type.
    const change = await ask({ ...headers, "content-type": "text/plain" }, "POST", "/hook/stop");
    expect(change.status).toBe(status === 200 ? 400 : 403);
    expect((await ask(headers, "GET", "/api/events/stream?types=none")).status).toBe(status);
  });

  const elsewhere = (site: string, mode = "no-cors", dest = "image") => ({
    host: "127.0.0.1",
    "sec-fetch-site": site,
    "sec-fetch-mode": mode,
    "sec-fetch-dest": dest,
  });
  test.each([
    [elsewhere("none", "navigate", "document"), 200, 200],
    [elsewhere("same-origin", "cors", "empty"), 200, 200],
    [elsewhere("cross-site"), 403, 403],
    // Another port of this machine is another program's page.
    [elsewhere("same-site"), 403, 403],
    [elsewhere("cross-site", "cors", "empty"), 403, 403],
    [elsewhere("cross-site", "navigate", "iframe"), 403, 403],
    // A link may lead to the page, which holds nothing itself.
    [elsewhere("cross-site", "navigate", "document"), 403, 200],
  ])("a GET caused by a page of another site gets no data: %j", async (headers, data, page) => {
    for (const path of ["/api/agents", "/api/events/stream?types=none", "/hook/status"])
      expect([path, (await ask(headers, "GET", path)).status]).toEqual([path, data]);
    // The page is not built here.
    expect((await ask(headers, "GET", "/")).status).toBe(page === 200 ? 503 : page);
  });

  test("the page's own origin, and no other gets CORS headers", async () => {
    const own = await scene.dashboard.call("GET", "/api/agents", undefined, { origin: scene.dashboard.url });
    expect([own.status, own.headers.get("access-control-allow-origin")]).toEqual([200, scene.dashboard.url]);
    const other = await scene.dashboard.call("GET", "/api/agents", undefined, { origin: "https://evil.example" });
    expect([other.status, other.headers.get("access-control-allow-origin")]).toEqual([403, null]);
  });

  test("with a token: bearer, or the cookie that the page gets for it", async () => {
    await using guarded = await scene.another({ token: "s3cret token" });
    const bearer = { authorization: "Bearer s3cret token" };
    expect((await guarded.call("GET", "/api/agents")).status).toBe(401);
    // The page holds no secret, and asks for the token itself.
    expect((await guarded.call("GET", "/")).text).toMatch(/npm run build/);
    expect((await guarded.call("GET", "/page/page.js")).status).toBe(404);
    expect((await guarded.call("GET", "/api/events/stream")).status).toBe(401);
    expect((await guarded.call("POST", "/hook/stop", {})).status).toBe(401);
    expect((await guarded.call("GET", "/api/agents", undefined, bearer)).status).toBe(200);
    const wrongs = [{}, { authorization: "Bearer s3cret" }, { authorization: "s3cret token" }, { cookie: "x=s3cret" }];
    for (const headers of wrongs) {
      const { status, json, headers: answered } = await guarded.call("POST", "/api/token", undefined, headers);
      expect([status, json["error_type"], answered.get("set-cookie")]).toEqual([401, "unauthorized", null]);
    }
    const given = await guarded.call("POST", "/api/token", undefined, bearer);
    expect([given.status, given.text]).toEqual([204, ""]);
    const cookie = given.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^tmuxwire_dashboard=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+$/);
    // It goes to whatever else listens on this machine: the token is not in it.
    expect(decodeURIComponent(cookie)).not.toContain("s3cret");
    const asPage = { cookie: `other=1; ${cookie.split(";", 1)[0] ?? ""}` };
    expect((await guarded.call("GET", "/api/agents", undefined, asPage)).status).toBe(200);
    expect((await guarded.call("GET", "/api/agents", undefined, { cookie: `${asPage.cookie}x` })).status).toBe(401);
    await using other = await scene.another({ token: "another" });
    expect((await other.call("GET", "/api/agents", undefined, asPage)).status).toBe(401);
  });

  test("a token in a URL does not count", async () => {
    await using guarded = await scene.another({ token: "s3cret" });
    const page = await guarded.call("GET", "/?token=s3cret");
    expect([page.text.includes("npm run build"), page.headers.get("set-cookie")]).toEqual([true, null]);
    expect((await guarded.call("GET", "/api/agents?token=s3cret")).status).toBe(401);
    expect((await guarded.call("POST", "/api/token?token=s3cret")).status).toBe(401);
    expect((await guarded.call("GET", "/api/token")).status).toBe(405);
  });

  test("without a token no cookie is issued", async () => {
    const { status, headers } = await scene.dashboard.call("POST", "/api/token", undefined, {
      authorization: "Bearer x",
    });
    expect([status, headers.get("set-cookie")]).toEqual([204, null]);
  });
});

test("the page's files: a strict policy, no path but their names, and 304 for what is known", async () => {
  using directory = databaseDirectory();
  const page = `${directory.path}/page`;
  mkdirSync(page);
  writeFileSync(`${page}/index.html`, "<!doctype html>");
  writeFileSync(`${page}/page.js`, "export {};");
  writeFileSync(`${page}/notes.txt`, "no");
  await using served = await scene.another({ pageDirectory: page });
  const html = await served.call("GET", "/");
  expect([
    html.status,
    html.text,
    html.headers.get("cache-control"),
    html.headers.get("x-content-type-options"),
  ]).toEqual([200, "<!doctype html>", "no-store", "nosniff"]);
  expect(html.headers.get("content-security-policy")).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  const script = await served.call("GET", "/page/page.js");
  expect([script.status, script.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
  const etag = script.headers.get("etag") ?? "";
  expect((await served.call("GET", "/page/page.js", undefined, { "if-none-match": etag })).status).toBe(304);
  for (const path of ["/page/notes.txt", "/page/..%2f..%2fd.db", "/page/../d.db", "/page/", "/page/no.js"]) {
    expect((await served.call("GET", path)).status).toBe(404);
  }
  expect((await scene.dashboard.call("GET", "/")).text).toMatch(/npm run build/);
});

describe("a database locked by another program", () => {
  test("refuses requests that cannot be recorded, types nothing, and loses nothing", async () => {
    using directory = databaseDirectory();
    const databasePath = `${directory.path}/d.db`;
    const names = { session_uuid: UUID, project_path: "/p", tmux_pane_id: scene.pane };
    {
      await using dashboard = await scene.another({ databasePath });
      await dashboard.call("POST", "/api/sessions", names);
      await dashboard.hook("session-start", { session_id: "s1", headspace_session_id: UUID });
      const other = new DatabaseSync(databasePath);
      other.exec("BEGIN IMMEDIATE");
      // Hooks are not refused: nobody would send them again.
      expect((await dashboard.hook("user-prompt-submit", { session_id: "s1", prompt: "kept" })).status).toBe(200);
      expect((await dashboard.hook("notification", { session_id: "s1", message: "?" })).status).toBe(200);
      const locked = {
        status: "error",
        error_type: "database_locked",
        message: expect.stringMatching(/nothing was done/) as string,
      };
      const answer = await dashboard.respond(1, { text: "x" }, "k1");
      expect([answer.status, answer.json]).toEqual([503, locked]);
      const session = await dashboard.call("POST", "/api/sessions", { ...names, session_uuid: UUID.replace("0", "1") });
      expect([session.status, session.json]).toEqual([503, locked]);
      expect(scene.submitted).toEqual([]);
      other.exec("ROLLBACK");
      other.close();
      expect((await dashboard.respond(1, { text: "x" }, "k1")).status).toBe(200);
    }
    await using after = await scene.another({ databasePath });
    const { json } = await after.call("GET", "/api/agents/1/turns");
    expect((json["turns"] as { text: string }[]).map(({ text }) => text)).toEqual(["x", "?", "kept"]);
  });

  test("a damaged one is moved aside, and another daemon's is refused", () => {
    using directory = databaseDirectory();
    const path = `${directory.path}/d.db`;
    writeFileSync(path, "no database at all, but long enough to be looked at as one");
    let movedTo = "";
    const onMovedAside = (to: string): void => {
      movedTo = to;
    };
    openDatabase({
      path,
      setting: "--dashboard-database",
      migrations: MIGRATIONS,
      nowUnixMs: () => 5,
      onMovedAside,
    }).close();
    expect([movedTo, readdirSync(directory.path).includes("d.db.damaged-5")]).toEqual([`${path}.damaged-5`, true]);
    const release = becomeSoleOwner(path, "--dashboard-database");
    expect(() => becomeSoleOwner(path, "--dashboard-database")).toThrow(AppError);
    release();
    becomeSoleOwner(path, "--dashboard-database")();
  });
});

test("agents, panes, states, questions and turns are back after a restart without a hook", async () => {
  using directory = databaseDirectory();
  const databasePath = `${directory.path}/d.db`;
  const input = { questions: [{ question: "Which?", options: [{ label: "A" }, { label: "B" }] }] };
  let before: unknown;
  {
    await using first = await scene.another({ databasePath });
    await first.call("POST", "/api/sessions", { session_uuid: UUID, project_path: "/p", tmux_pane_id: scene.pane });
    await first.hook("session-start", { session_id: "s1", headspace_session_id: UUID });
    await first.hook("user-prompt-submit", { session_id: "s1", prompt: "go" });
    await first.hook("pre-tool-use", { session_id: "s1", tool_name: "AskUserQuestion", tool_input: input });
    before = (await first.call("GET", "/api/agents")).json["agents"];
  }
  await using second = await scene.another({ databasePath });
  const { eventually } = await import("../support/clock/eventually.ts");
  const agents = async () => (await second.call("GET", "/api/agents")).json["agents"] as Record<string, unknown>[];
  await eventually(async () => (await agents())[0]?.["is_bridge_connected"] === true);
  const same = (cards: unknown) =>
    (cards as Record<string, unknown>[]).map(
      ({ agent_id, state, question, question_options, tmux_pane_id, task_instruction }) => ({
        agent_id,
        state,
        question,
        question_options,
        tmux_pane_id,
        task_instruction,
      }),
    );
  expect(same(await agents())).toEqual(same(before));
  // Only the tool that asked ends it, then as now.
  expect((await second.hook("post-tool-use", { session_id: "s1", tool_name: "Bash" })).json).toMatchObject({
    state_changed: false,
  });
  expect((await second.hook("post-tool-use", { session_id: "s1", tool_name: "AskUserQuestion" })).json).toMatchObject({
    state_changed: true,
  });
});
