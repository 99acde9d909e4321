/**
 * Every operation on windows and panes on real tmux through every face: HTTP, WebSocket, the client's own methods, the command
 * line, and MCP where there is a tool. Each face has a server of its own, on which the same steps give the same ids.
 */
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import type { NativeLayoutResult } from "../../protocol/api/native/nativeLayout.ts";
import type { NativeTreeResponse } from "../../protocol/api/native/nativeTree.ts";
import { LAYOUT_OPERATION_NAMES, type LayoutOperationName } from "../../protocol/api/operationRoutes.ts";
import { FACES } from "../support/daemon/faces.ts";
import { mcpOverHttp } from "../support/daemon/mcpClient.ts";
import { nativeFixture, type NativeFixture } from "../support/daemon/nativeServer.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";

interface Step {
  readonly name: LayoutOperationName;
  readonly input: Readonly<Record<string, unknown>>;
  /** The same as a command line. */
  readonly command: readonly string[];
  /** The same as a tool of MCP, and its input; an operation that is no tool goes over HTTP. */
  readonly tool?: readonly [string, object];
}

const CAT = ["--", "cat"];
/** @param a the first pane, in `window`; `made` fills with what the steps give, and a step reads it when its turn comes. */
function steps(a: string, window: string, made: readonly (NativeLayoutResult | undefined)[]): readonly (() => Step)[] {
  const pane = (at: number): string => made[at]?.pane ?? "none";
  return [
    () => ({
      name: "split-window",
      input: { pane: a, direction: "horizontal", size: "30%", command: ["cat"] },
      command: ["split-window", a, "--direction", "horizontal", "--size", "30%", ...CAT],
      tool: ["split", { pane: a, direction: "horizontal", size: "30%", command: ["cat"] }],
    }),
    () => ({
      name: "new-window",
      input: { session: "work", name: "n", detached: true, command: ["cat"] },
      command: ["new-window", "work", "--name", "n", "--detached", ...CAT],
    }),
    () => ({
      name: "swap-pane",
      input: { pane: a, with: pane(0), detached: true },
      command: ["swap-pane", "--detached", a, pane(0)],
    }),
    () => ({
      name: "move-pane",
      input: { pane: pane(1), to: a, size: 5 },
      command: ["move-pane", pane(1), a, "--size", "5"],
    }),
    () => ({
      name: "break-pane",
      input: { pane: pane(1), name: "b" },
      command: ["break-pane", pane(1), "--name", "b"],
    }),
    () => ({
      name: "join-pane",
      input: { pane: pane(1), to: a, before: true },
      command: ["join-pane", pane(1), a, "--before"],
    }),
    () => ({ name: "select-pane", input: { pane: a }, command: ["select-pane", a] }),
    () => ({ name: "resize-pane", input: { pane: a, cols: 33 }, command: ["resize-pane", a, "--cols", "33"] }),
    () => ({
      name: "resize-window",
      input: { window, cols: 120, rows: 40 },
      command: ["resize-window", window, "--cols", "120", "--rows", "40"],
    }),
    () => ({
      name: "select-layout",
      input: { window, layout: "tiled" },
      command: ["select-layout", window, "tiled"],
    }),
    () => ({ name: "rename-window", input: { window, name: "12" }, command: ["rename-window", window, "12"] }),
    () => ({ name: "select-window", input: { window }, command: ["select-window", window] }),
    () => ({
      name: "set-window-option",
      input: { window, option: "mode-keys", value: "vi" },
      command: ["set-window-option", window, "mode-keys", "vi"],
    }),
    () => ({
      name: "set-pane-option",
      input: { pane: a, option: "allow-rename", value: "on" },
      command: ["set-pane-option", a, "allow-rename", "on"],
    }),
    () => ({ name: "clear-history", input: { pane: a }, command: ["clear-history", a] }),
    () => ({ name: "respawn-pane", input: { pane: a, command: ["cat"] }, command: ["respawn-pane", a, ...CAT] }),
    () => ({
      name: "kill-pane",
      input: { pane: pane(0) },
      command: ["kill-pane", pane(0)],
      tool: ["kill", { pane: pane(0) }],
    }),
    () => ({
      name: "rename-session",
      input: { session: "work", name: "done" },
      command: ["rename-session", "work", "done"],
    }),
    () => ({
      name: "kill-window",
      input: { window },
      command: ["kill-window", window],
      tool: ["kill", { window }],
    }),
  ];
}

type Call = (api: NativeFixture, step: Step) => Promise<unknown>;
const throughFace =
  (face: string): Call =>
  (api, { name, input, command }) =>
    FACES[face]!({ api } as Parameters<(typeof FACES)[string]>[0], name, { names: { server: "main" }, input, command });

const CALLS: Readonly<Record<string, Call>> = {
  HTTP: throughFace("HTTP"),
  WebSocket: throughFace("WebSocket"),
  "command line": throughFace("command line"),
  "the client's methods": async (api, { name, input }) => {
    const { layout } = createClient({ url: api.url }).server("main");
    const method = name.replaceAll(/-(\w)/g, (_match, letter: string) => letter.toUpperCase()) as keyof typeof layout;
    return { output: await (layout[method] as (request: object) => Promise<unknown>)(input) };
  },
  MCP: async (api, step) => {
    if (step.tool === undefined) return throughFace("HTTP")(api, step);
    await using mcp = await mcpOverHttp(`${api.url}/mcp`, "modern");
    return { output: await mcp.call(...step.tool) };
  },
};

/** But what is another on each server. */
const steady = ({ state, sessions, windows, panes }: NativeTreeResponse): object => ({
  state,
  sessions: sessions.map(({ createdSec: _created, ...session }) => session),
  windows,
  panes: panes.map(({ pid: _pid, ...pane }) => pane),
});

interface Done {
  readonly name: LayoutOperationName;
  readonly outcome: unknown;
  readonly tree: object;
}

async function allSteps(call: Call): Promise<readonly Done[]> {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  socket.tmux("set-option", "-g", "automatic-rename", "off");
  await server.createSession({ name: "home", command: ["cat"] });
  const { activePane, activeWindow } = await server.createSession({
    name: "work",
    command: ["cat"],
    cols: 100,
    rows: 30,
  });
  await using api = await nativeFixture(server);
  const client = createClient({ url: api.url }).server("main");
  const [made, done]: [(NativeLayoutResult | undefined)[], Done[]] = [[], []];
  for (const step of steps(activePane!, activeWindow!, made)) {
    const given = step();
    const outcome = await call(api, given);
    const { output } = outcome as { readonly output?: NativeLayoutResult };
    made.push(output);
    done.push({ name: given.name, outcome, tree: steady(await client.tree()) });
  }
  return done;
}

test("every operation has the same result and leaves the same tree on every surface", async () => {
  const expected = await allSteps(CALLS["HTTP"]!);
  expect(expected.map(({ name }) => name).toSorted()).toEqual(LAYOUT_OPERATION_NAMES.toSorted());
  for (const [at, { name, outcome, tree }] of expected.entries()) {
    expect([name, (outcome as { readonly output?: NativeLayoutResult }).output?.session]).not.toEqual([
      name,
      undefined,
    ]);
    // Of options and what is cleared the tree says nothing; what is selected may be so already.
    const isSeen = !["set-window-option", "set-pane-option", "clear-history", "select-pane", "select-window"].includes(
      name,
    );
    if (isSeen && at > 0) expect([name, tree]).not.toEqual([name, expected[at - 1]?.tree]);
  }
  for (const face of Object.keys(CALLS).slice(1)) {
    const done = await allSteps(CALLS[face]!);
    for (const [at, one] of done.entries()) {
      // MCP says of what it has ended only that it is done.
      const outcome = face === "MCP" && one.name.startsWith("kill") ? expected[at]?.outcome : one.outcome;
      expect({ face, ...one, outcome }).toEqual({ face, ...expected[at] });
    }
    expect([face, done.length]).toEqual([face, expected.length]);
  }
});
