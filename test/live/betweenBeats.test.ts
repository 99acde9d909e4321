/**
 * Between two heartbeats somebody has moved or stopped our client: whoever asks then is told so, waits end with where they
 * ended, and what was printed meanwhile is found, or its place is declared. No heartbeat comes while a test runs.
 */
import { expect, test } from "vitest";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { paneNumberOf } from "../../protocol/ids.ts";
import { eventually } from "../support/clock/eventually.ts";
import { guestFixture, userSession, watchAll } from "../support/tmux/guestFixture.ts";
import { nativeFixture } from "../support/daemon/nativeServer.ts";
import { ownedFixture, type PrivateSocket } from "../support/tmux/ownedFixture.ts";

const NO_BEAT = { heartbeatMs: 600_000 };
const SESSIONS = ["work", "other"];

async function scene(kind: "owned" | "guest") {
  const fixture =
    kind === "owned"
      ? await ownedFixture(NO_BEAT)
      : await guestFixture((socket) => SESSIONS.forEach((name) => userSession(socket, name)), NO_BEAT);
  const { server, socket } = fixture;
  if (kind === "owned") for (const name of SESSIONS) await server.createSession({ name, command: ["cat"] });
  // On a guest: a client for commands, which carries one session's output, and one for the other's.
  await watchAll(server);
  // Where none of our clients is.
  userSession(socket, "elsewhere");
  const api = await nativeFixture(server);
  const pane = server.findSession("work")!.activePane!;
  const path = `/v1/servers/main/panes/${paneNumberOf(pane)}`;
  return {
    server,
    socket,
    ready: async () => api.call("GET", "/readyz"),
    listed: async () =>
      ((await api.call("GET", "/v1/servers")).json["servers"] as { readonly state: string }[])[0]!.state,
    wait: async (body: object) => api.call("POST", `${path}/wait`, body),
    screen: async () => ((await api.call("GET", `${path}/capture`)).json["lines"] as readonly string[]).join("\n"),
    /** As a person types it; nothing of ours is asked. */
    type: (text: string) => socket.tmux("send-keys", "-t", pane, "-l", `${text}\n`),
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

/** Ours are all there are. */
function toAllClients(socket: PrivateSocket, ...command: readonly string[]): void {
  const names = socket.tmux("list-clients", "-F", "#{client_name}").trim().split("\n");
  for (const name of names) socket.tmux(...command, name);
}

const epochOf = (server: TmuxServer): string => server.status().epoch;

const FAULTS = [
  ["moved away", ["switch-client", "-t", "elsewhere", "-c"]],
  ["stopped", ["suspend-client", "-t"]],
  ["without output", ["refresh-client", "-f", "no-output", "-t"]],
  ["without the right to command", ["refresh-client", "-f", "read-only", "-t"]],
] as const;
const CASES = FAULTS.flatMap(([name, command]) => [
  ["owned", name, command] as const,
  ["guest", name, command] as const,
]);

test.each(CASES)("%s, %s: the server is not reported as ready, and is ready soon", async (_kind, _name, command) => {
  await using it = await scene(_kind);
  expect(await it.ready()).toMatchObject({ status: 200, json: { ok: true, servers: { main: "ready" } } });
  const before = epochOf(it.server);
  toAllClients(it.socket, ...command);
  const { status, json } = await it.ready();
  // A notification may have healed it by now; it is never called ready as it was.
  if (status === 200) expect(epochOf(it.server)).not.toBe(before);
  else expect(json).toEqual({ ok: false, servers: { main: "connecting" } });
  await eventually(async () => (await it.ready()).status === 200);
  expect(epochOf(it.server)).not.toBe(before);
  expect(await it.listed()).toBe("ready");
});

test.each(["owned", "guest"] as const)("%s: the list of servers reports it too", async (kind) => {
  await using it = await scene(kind);
  toAllClients(it.socket, "suspend-client", "-t");
  expect(await it.listed()).toBe("connecting");
  await eventually(async () => (await it.listed()) === "ready");
});

interface Gap {
  readonly reason: string;
  readonly to: string;
}

test.each([
  ["owned", "suspend-client", ["suspend-client", "-t"]],
  ["guest", "suspend-client", ["suspend-client", "-t"]],
  ["owned", "switch-client", ["switch-client", "-t", "elsewhere", "-c"]],
  ["guest", "switch-client", ["switch-client", "-t", "elsewhere", "-c"]],
] as const)("%s: a wait that lost its output by %s ends and can continue from there", async (kind, _name, command) => {
  await using it = await scene(kind);
  const waiting = it.wait({ pattern: { literal: "after" }, timeoutMs: 50_000 });
  it.type("before");
  await eventually(async () => (await it.screen()).includes("before\nbefore"));
  toAllClients(it.socket, ...command);
  it.type("within");
  await it.ready();
  const { status, json } = await waiting;
  expect({ status, json }).toMatchObject({ status: 503, json: { error: { code: "CONNECTION_LOST", details: {} } } });
  const { position, gaps } = (json["error"] as { readonly details: { position: string; gaps: readonly Gap[] } })
    .details;
  // Where tmux says the window's time just then, the hole is declared before the client is given up.
  expect(gaps.filter(({ reason, to }) => reason !== "paused" || to !== position)).toEqual([]);
  await eventually(async () => (await it.ready()).status === 200);
  // What was printed in the hole is on the screen, and the response of a wait says that it could not see it.
  await eventually(async () => (await it.screen()).includes("within\nwithin"));
  const missed = await it.wait({ pattern: { literal: "within" }, from: position, timeoutMs: 200 });
  const hole = { reason: "epoch", from: position };
  expect(missed).toMatchObject({ status: 408, json: { error: { details: { gaps: [hole] } } } });
  const going = it.wait({ pattern: { literal: "after" }, from: position, timeoutMs: 50_000 });
  it.type("after");
  expect(await going).toMatchObject({ status: 200, json: { matched: [{ text: "after" }], gaps: [hole] } });
});
