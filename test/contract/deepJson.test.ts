/**
 * Deeply nested JSON on every route that takes any: refused as a bad request, whatever a route does with its body. (Team's
 * are in test/programs/teamSafety.test.ts.)
 */
import { describe, expect, test } from "vitest";
import { ENDPOINTS } from "../../adapters/native/endpoints.ts";
import { addinSetup, stubBackend } from "../support/daemon/backends.ts";
import { inProcess } from "../support/daemon/addinClient.ts";
import { UUID } from "../support/daemon/dashboardFixture.ts";
import { bodies, LEVELS } from "../support/daemon/deepBodies.ts";
import { DashboardScene } from "../support/daemon/dashboardScene.ts";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";
import { RawSocket } from "../support/daemon/nativeSocket.ts";

describe.each(LEVELS)("%i levels", (levels) => {
  test("native: every route with a body, and the socket", async () => {
    const server = stubServer();
    await server.createSession({ name: "work" });
    await using api = await nativeFixture(server);
    const routes = ENDPOINTS.filter(({ method }) => method === "POST").map(({ path }) =>
      path.replace(":server", "main").replace(":pane", "0").replace(":session", "work"),
    );
    expect(routes.length).toBeGreaterThan(6);
    for (const path of routes) {
      for (const body of bodies(levels, "parts")) {
        const { status, json } = await api.call("POST", path, body);
        expect([path, status, json["error"]]).toMatchObject([path, 400, { code: "INVALID_ARGUMENT" }]);
      }
    }
    await using socket = await RawSocket.open(api.port);
    for (const body of bodies(levels, "parts", { type: "input", id: 1, server: "main", pane: "0" })) {
      socket.messages.length = 0;
      socket.send(body);
      expect(await socket.message("error")).toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  test("add-in", async () => {
    const backend = await stubBackend.start();
    using setup = addinSetup(backend.server);
    for (const body of bodies(levels, "keys", { action: "list_sessions" })) {
      const { status, json } = await inProcess(setup.app).send({
        method: "POST",
        path: "/v1/tmux",
        body,
        headers: { "content-type": "application/json" },
      });
      expect([status, json["ok"]]).toEqual([400, false]);
    }
    await backend.close();
  });

  test("dashboard: hooks, answers, sessions, keystrokes", async () => {
    await using scene = await DashboardScene.start();
    const agent = await scene.register();
    const routes: readonly (readonly [string, string, object])[] = [
      ["/hook/pre-tool-use", "tool_input", { session_id: "s1", tool_name: "Bash" }],
      ["/hook/permission-request", "tool_input", { session_id: "s1", tool_name: "AskUserQuestion" }],
      [`/api/respond/${agent}`, "mode", {}],
      [`/api/respond/${agent}`, "answers", { mode: "multi_select" }],
      [`/api/respond/${agent}`, "keys", { mode: "keys" }],
      ["/api/sessions", "x", { session_uuid: UUID, project_path: "/p" }],
      [`/api/agents/${agent}/input`, "x", { text: "a" }],
    ];
    for (const [path, field, more] of routes) {
      for (const body of bodies(levels, field, more)) {
        const { status } = await scene.dashboard.call("POST", path, body);
        expect([path, status]).toEqual([path, 400]);
      }
    }
  });
});
