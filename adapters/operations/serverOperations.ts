/** Operations on servers and sessions: list, create, kill. */
import { randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import type { ServerState } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import * as responses from "../../protocol/api/native/nativeResponses.ts";
import { createSessionSchema, emptyRequestSchema } from "../../protocol/api/native/nativeRequests.ts";
import { treeSchema, windowsSchema } from "../../protocol/api/native/nativeTree.ts";
import { AppError, invalidArgument } from "../../protocol/errors.ts";
import { EXAMPLE_SESSION, EXAMPLE_TREE, EXAMPLE_WINDOW } from "./examples.ts";
import { JUST_DONE, ON_TMUX, operation } from "./operation.ts";
import { nativeServer, nativeSession } from "./outputs.ts";

/** Asks tmux, because since the last heartbeat our client may have been moved or stopped. */
export const statesNow = (servers: ReadonlyMap<string, TmuxServer>): Promise<(readonly [string, ServerState])[]> =>
  Promise.all([...servers].map(async ([name, server]) => [name, (await server.check()).state] as const));

export const serverOperations = {
  listServers: operation({
    summary: "List the tmux servers that the daemon drives.",
    scope: "daemon",
    input: emptyRequestSchema,
    output: responses.serversSchema,
    errors: [],
    example: {
      input: {},
      output: {
        servers: [
          {
            name: "main",
            kind: "owned",
            state: "ready",
            epoch: "k3Jd9",
            tmuxVersion: "3.5a",
            socketPath: "/run/user/1000/tmuxwire/tmux.sock",
            sessions: 1,
            panes: 1,
          },
        ],
      },
    },
    run: async ({ servers }) => {
      await statesNow(servers);
      return { servers: [...servers].map(([name, server]) => nativeServer(name, server)) };
    },
  }),

  listSessions: operation({
    summary: "List sessions.",
    description: "By name.",
    scope: "server",
    input: emptyRequestSchema,
    output: responses.sessionsSchema,
    errors: ["NOT_FOUND"],
    example: { input: {}, output: { sessions: [EXAMPLE_SESSION] } },
    run: (_context, { server }) => ({ sessions: server.sessions().map(nativeSession) }),
  }),

  createSession: operation({
    summary: "Create a session with one pane.",
    description:
      "Runs the user's shell if no command is given. If no name is given, the daemon picks one: tw- and 8 hex digits.",
    scope: "server",
    input: createSessionSchema,
    output: responses.sessionSchema,
    errors: ["INVALID_ARGUMENT", "ALREADY_EXISTS", "RESOURCE_LIMIT", "TMUX_COMMAND_FAILED", ...ON_TMUX],
    example: { input: { name: "work", cwd: "/home/me/project", cols: 120, rows: 40 }, output: EXAMPLE_SESSION },
    run: async (_context, { server }, input) => {
      if (input.cwd !== undefined) await requireDirectory(input.cwd);
      const name = input.name ?? `tw-${randomBytes(4).toString("hex")}`;
      return nativeSession(await server.createSession({ ...input, cwd: input.cwd ?? homedir(), name }));
    },
  }),

  killSession: operation({
    summary: "Kill a session and every program in it.",
    scope: "session",
    ...JUST_DONE,
    errors: ON_TMUX,
    run: async (_context, { server, session }) => {
      await server.killSession(session.id);
      return { ok: true } as const;
    },
  }),

  listWindows: operation({
    summary: "List windows.",
    description: "Includes the windows of all sessions, with their layouts.",
    scope: "server",
    input: emptyRequestSchema,
    output: windowsSchema,
    errors: ["NOT_FOUND"],
    example: { input: {}, output: { windows: [{ ...EXAMPLE_WINDOW, sessions: ["$0"] }] } },
    run: (_context, { server }) => {
      const { sessions, windows } = server.layout.tree();
      const sessionsOf = (window: string): readonly string[] =>
        sessions.filter((session) => session.windows.some((place) => place.window === window)).map(({ id }) => id);
      return { windows: windows.map((window) => ({ ...window, sessions: sessionsOf(window.id) })) };
    },
  }),

  tree: operation({
    summary: "Show sessions, their windows and their panes.",
    description: "Includes layouts, and the id of the last event that the tree reflects.",
    scope: "server",
    input: emptyRequestSchema,
    output: treeSchema,
    errors: ["NOT_FOUND"],
    example: { input: {}, output: EXAMPLE_TREE },
    run: ({ treeOf }, { server }) => treeOf(server),
  }),
} as const;

async function requireDirectory(path: string): Promise<void> {
  const stats = await stat(path).catch((error: unknown) => {
    throw new AppError("INVALID_ARGUMENT", `cwd: ${path} does not exist`, { cause: error });
  });
  if (!stats.isDirectory()) throw invalidArgument(`cwd: ${path} is not a directory`);
}
