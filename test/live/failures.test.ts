/** tmux dies, stops or throws us out: callers are told, the server comes back, nothing is typed twice. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { callEverything, closing, nextState, ownHub, tmuxPid } from "../support/tmux/failureScenarios.ts";
import { eventually } from "../support/clock/eventually.ts";
import { seen } from "../support/tmux/output.ts";
import { ownedFixture, type OwnedFixture } from "../support/tmux/ownedFixture.ts";
import { ByteSink, text } from "../support/tmux/panePrograms.ts";

/** How often a mark arrived at the program that kept everything it was given. */
const timesTyped = (fixture: OwnedFixture, name: string, mark: string): number =>
  readFileSync(`${fixture.socket.directory}/${name}.bytes`, "latin1").split(mark).length - 1;

interface Blow {
  readonly strike: (fixture: OwnedFixture) => void;
  /** The tmux server and its panes live on. */
  readonly survives: boolean;
}

const blows: Record<string, Blow> = {
  "tmux killed with -9": { strike: ({ socket }) => process.kill(tmuxPid(socket), "SIGKILL"), survives: false },
  "kill-server": { strike: ({ socket }) => void socket.tmux("kill-server"), survives: false },
  "its control client detached": {
    strike: ({ socket }) => void socket.tmux("detach-client", "-t", ownHub(socket).client),
    survives: true,
  },
  "the hub session killed": {
    strike: ({ socket }) => void socket.tmux("kill-session", "-t", `=${ownHub(socket).hub}`),
    survives: true,
  },
  "the event pane killed": {
    strike: ({ socket }) => void socket.tmux("kill-pane", "-t", `=${ownHub(socket).hub}:0`),
    survives: true,
  },
};

test.each(Object.entries(blows))("%s: calls settle, streams close, the server is back", async (_name, blow) => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const sink = await ByteSink.start(server, socket.directory, "sink");
  const before = server.status().epoch;
  const [closed, ready] = [closing(sink.program.source), nextState(server, "ready")];
  const calls = callEverything(server, sink.pane, "mark");
  blow.strike(fixture);
  const settled = await calls;
  expect(await closed).toMatchObject({ code: "CONNECTION_LOST" });
  await ready;
  expect(server.status()).toMatchObject({ state: "ready" });
  expect(server.status().epoch).not.toBe(before);
  expect(timesTyped(fixture, "sink", "mark;")).toBeLessThanOrEqual(1);
  expect(timesTyped(fixture, "sink", "mark+")).toBeLessThanOrEqual(1);
  for (const { call, error } of settled) {
    if (error === undefined) continue;
    expect(`${call} ${error.code}`).toBe(`${call} CONNECTION_LOST`);
    if (call === "input") expect(error.details).toMatchObject({ delivery: "indeterminate" });
  }
  if (!blow.survives) expect(server.panes().filter((pane) => pane.id === sink.pane)).toEqual([]);
  else {
    const again = server.output(sink.pane);
    await server.input(sink.pane, [text("after")]);
    expect(again.epoch).toBe(server.status().epoch);
    await seen(again, 0, "got ");
    await eventually(() => timesTyped(fixture, "sink", "after") === 1);
  }
  await server.createSession({ name: "next", command: ["cat"] });
  expect(server.findSession("next")?.activePane).toBeDefined();
  expect(socket.tmux("list-sessions", "-F", "#{session_name}").match(/__tmuxwire-/g)).toHaveLength(1);
});

test("a server killed while stopped: every pending call gets CONNECTION_LOST, and input is indeterminate", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const sink = await ByteSink.start(server, socket.directory, "sink");
  const ready = nextState(server, "ready");
  const pid = tmuxPid(socket);
  process.kill(pid, "SIGSTOP");
  const calls = callEverything(server, sink.pane, "mark");
  process.kill(pid, "SIGKILL");
  const settled = await calls;
  expect(settled.map(({ call, error }) => [call, error?.code, error?.details?.["delivery"]])).toEqual([
    ["input", "CONNECTION_LOST", "indeterminate"],
    ["paste", "CONNECTION_LOST", "indeterminate"],
    ["capture", "CONNECTION_LOST", undefined],
    ["create", "CONNECTION_LOST", undefined],
  ]);
  await ready;
});

test("a server stopped for a while: calls complete once when it continues", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const sink = await ByteSink.start(server, socket.directory, "sink");
  const pid = tmuxPid(socket);
  process.kill(pid, "SIGSTOP");
  const calls = callEverything(server, sink.pane, "mark");
  process.kill(pid, "SIGCONT");
  expect((await calls).map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined]);
  await sink.received("mark;".length + "mark+;".length + 40_000);
  expect([timesTyped(fixture, "sink", "mark;"), timesTyped(fixture, "sink", "mark+")]).toEqual([1, 1]);
  expect(server.status().state).toBe("ready");
});
