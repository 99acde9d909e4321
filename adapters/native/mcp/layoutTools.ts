/** The MCP tools for sessions, windows and panes: list, create, split, kill. */
import * as v from "valibot";
import type {
  NativePane,
  NativePaneDetails,
  NativeServer,
  NativeSession,
  serversSchema,
} from "../../../protocol/api/native/nativeResponses.ts";
import { LAYOUT_OPERATIONS, type NativeLayoutResult } from "../../../protocol/api/native/nativeLayout.ts";
import { createSessionSchema } from "../../../protocol/api/native/nativeRequests.ts";
import type { NativeTreeWindow } from "../../../protocol/api/native/nativeTree.ts";
import { filled, optional } from "../../../protocol/api/described.ts";
import { invalidArgument } from "../../../protocol/errors.ts";
import { findSession, findWindow } from "../../operations/findTargets.ts";
import { framed } from "./foreignText.ts";
import { mcpTool, SERVER, type ToolCall, unlessGone } from "./mcpTool.ts";

/** Panes whose program, directory and readiness are fetched, one request each; the rest are listed without. */
const MAX_DESCRIBED = 64;

interface ListedServer extends Pick<NativeServer, "name" | "kind" | "state"> {
  readonly sessions: readonly Pick<NativeSession, "id" | "name">[];
  readonly windows: readonly { readonly id: string; readonly name: string; readonly panes: readonly string[] }[];
  readonly panes: readonly ListedPane[];
}
type ListedPane = NativePane & Partial<Pick<NativePaneDetails, "command" | "cwd">>;

export const listTool = mcpTool({
  name: "list",
  title: "List panes",
  description:
    "List tmux servers with their sessions, windows and panes: ids, programs, directories, and what each program is doing " +
    "(readiness: idle, busy, a dialog with its options). For an overview, not to wait for a change.",
  effect: "reads",
  input: v.strictObject({ server: optional(v.string(), "Only this server; default: all.") }),
  run: async (call, { server }) => {
    const only = server === undefined ? undefined : call.server(server).name;
    const { servers: all, unreachable = [] } = await call.perform<v.InferOutput<typeof serversSchema>>(
      "listServers",
      {},
    );
    const seen = all.filter(({ name }) => (only === undefined ? isSeen(call, name) : name === only));
    const servers = await Promise.all(seen.map((one) => listed(call, one)));
    const text = [...servers.map(serverText), ...unreachable.map((host) => `Host ${host} could not be asked.`)].join(
      "\n",
    );
    return { text, structured: { servers, untrusted: ["name", "title", "command", "cwd", "dialog"] } };
  },
});

/** Of another machine only a client that may use all panes. */
const isSeen = ({ context, tier }: ToolCall, name: string): boolean =>
  tier.seesServer(name) && (context.servers.has(name) || tier.seesAllPanes);

async function listed(
  call: ToolCall,
  { name, kind: serverKind, state: serverState }: NativeServer,
): Promise<ListedServer> {
  const { server } = call.server(name);
  const on = { server: name };
  const { panes } = await call.perform<{ readonly panes: readonly NativePane[] }>("listPanes", on);
  const { windows } = await call.perform<{ readonly windows: readonly NativeTreeWindow[] }>("listWindows", on);
  const { sessions } = await call.perform<{ readonly sessions: readonly NativeSession[] }>("listSessions", on);
  const seen = panes.filter((pane) => server === undefined || call.tier.seesPane(server, pane));
  const ids = new Set(seen.map(({ id }) => id));
  return {
    name,
    kind: serverKind,
    state: serverState,
    sessions: sessions
      .filter((session) => call.tier.seesSession(session))
      .map(({ id, name: sessionName }) => ({ id, name: sessionName })),
    windows: windows
      .map(({ id, name: windowName, panes: all }) => ({
        id,
        name: windowName,
        panes: all.filter((one) => ids.has(one)),
      }))
      .filter((window) => window.panes.length > 0),
    panes: await Promise.all(seen.map((pane, at) => entryOf(call, { name, kind: serverKind, pane, at }))),
  };
}

interface Described {
  readonly name: string;
  readonly kind: NativeServer["kind"];
  readonly pane: NativePane;
  readonly at: number;
}

/** Not on a guest server, where `describePane` would have to attach to the session. */
async function entryOf(call: ToolCall, { name, kind: serverKind, pane, at }: Described): Promise<ListedPane> {
  if (at >= MAX_DESCRIBED || serverKind === "guest") return pane;
  const details = await unlessGone(call.perform<NativePaneDetails>("describePane", { server: name, pane: pane.id }));
  if (details === undefined) return pane;
  const { tty: _tty, historyLines: _history, alternateScreen: _screen, inMode: _mode, ...rest } = details;
  return rest;
}

function serverText({ name, kind: serverKind, state: serverState, panes }: ListedServer): string {
  const rows = panes.map((pane) => {
    const words = [
      pane.id,
      `window ${pane.window} of ${pane.sessions.map((session) => JSON.stringify(session)).join(", ")}`,
      `${pane.cols}x${pane.rows}`,
      pane.dead ? "dead" : (pane.readiness?.state ?? "state not known"),
      ...(pane.command === undefined ? [] : [`runs ${JSON.stringify(pane.command)} in ${JSON.stringify(pane.cwd)}`]),
      `title ${JSON.stringify(pane.title)}`,
    ];
    return `  ${words.join(", ")}`;
  });
  const said = `Server ${name} (${serverKind}, ${serverState}), ${panes.length} panes`;
  return rows.length === 0 ? `${said}.` : `${said}:\n${framed(rows.join("\n"))}`;
}

export const createTool = mcpTool({
  name: "create",
  title: "Create a session",
  description:
    "Create a session with one pane, for your own work: never use a pane that someone else works in. It stays after you " +
    "disconnect; end it with `kill`.",
  effect: "works",
  input: v.strictObject({ ...SERVER, ...createSessionSchema.entries }),
  words: {
    name: "Default: one that is free.",
    command: "Program and arguments; default: the shell.",
    cwd: "Absolute; default: home.",
    cols: "",
    rows: "",
    remainOnExit: "Keep the pane when its program has ended.",
  },
  run: async (call, { server, ...input }) => {
    const { name: on } = call.server(server);
    call.tier.requireSession({ id: "", name: input.name ?? "" });
    const session = await call.perform<NativeSession>("createSession", { server: on }, input);
    return {
      text: `Created session ${JSON.stringify(session.name)} (${session.id}); its pane is ${session.activePane ?? "not known yet"}.`,
      structured: session,
    };
  },
});

export const splitTool = mcpTool({
  name: "split",
  title: "Split a pane",
  description: "Create a pane beside or below another one, in the same window, and start a program in it.",
  effect: "works",
  input: v.strictObject({ ...SERVER, ...LAYOUT_OPERATIONS["split-window"].body.entries }),
  words: {
    pane: "%5, a session's name, or an agent's.",
    direction: "vertical: below (default); horizontal: beside.",
    size: { description: "Cells, or a percentage such as 30%." },
    before: "Above or left.",
    full: "Over the whole window.",
    detached: "Keep the active pane.",
    command: "Program and arguments; default: the shell.",
    cwd: "Absolute.",
    environment: "",
  },
  run: async (call, { server, pane, ...input }) => {
    const found = call.paneName({ server, pane });
    const request = { ...input, pane: found.pane };
    const made = await call.perform<NativeLayoutResult>("split-window", { server: found.server }, request);
    return { text: `Created pane ${made.pane ?? ""} in window ${made.window ?? ""}.`, structured: made };
  },
});

const victim = (text: string) => optional(filled(256), text);

export const killTool = mcpTool({
  name: "kill",
  title: "Kill a pane, a window or a session",
  description:
    "Kill a pane, a window or a session with every program in it, at once and for good. Give exactly one of the three. To stop " +
    "a command and keep the shell, use `interrupt`.",
  effect: "destroys",
  input: v.strictObject({
    ...SERVER,
    pane: victim("Such as %5."),
    window: victim("Such as @3."),
    session: victim("Its exact name, or its id such as $2."),
  }),
  run: async (call, { server: given, pane, window, session }) => {
    if ([pane, window, session].filter((one) => one !== undefined).length !== 1)
      throw invalidArgument("give exactly one of pane, window and session");
    const { name, server } = call.server(given);
    if (pane !== undefined) {
      const found = call.paneName({ server: name, pane });
      await call.perform("kill-pane", { server: found.server }, { pane: found.pane });
    } else if (server === undefined) {
      // On another machine all of them may be used.
      if (window !== undefined) await call.perform("kill-window", { server: name }, { window });
      else await call.perform("killSession", { server: name, session });
    } else if (window !== undefined) {
      const found = findWindow(server, window);
      for (const one of found.panes) call.pane({ server: name, pane: one });
      await call.perform("kill-window", { server: name }, { window: found.id });
    } else {
      const found = findSession(server, session ?? "");
      call.tier.requireSession(found);
      await call.perform("killSession", { server: name, session: found.id });
    }
    return { text: `Killed ${pane ?? window ?? session ?? ""}.`, structured: { ok: true } };
  },
});
