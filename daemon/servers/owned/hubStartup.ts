/**
 * Sets up the hub of a new connection: identifies server and client, ensures one daemon per server, installs the hooks, links
 * every existing window and starts the event pane. All of it is repeated for each connection.
 */
import {
  endingInNextTurn,
  killSession,
  linkWindowOnce,
  listAllWindows,
  listSessions,
  switchClient,
  unsetEnvironment,
} from "../../../protocol/command/build.ts";
import { type ServerIdentity, type SessionRow, SESSIONS, WINDOW_LINKS } from "../../../protocol/command/formats.ts";
import { AppError } from "../../../protocol/errors.ts";
import { byAge, type PaneId, type SessionId } from "../../../protocol/ids.ts";
import { GUEST_ATTACH_WITHIN_MS } from "../../../protocol/limits.ts";
import { ignoreRefusal } from "../../connection/commandQueue.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import { introduce } from "../../connection/tmuxFeatures.ts";
import type { Host } from "../../host/host.ts";
import { type OutputSource, slicesOf } from "../../tmux/outputSource.ts";
import type { Clock } from "../../time/clock.ts";
import type { controlClient } from "../introduction.ts";
import { endClient, isOrphan, type OurClient, ourClients } from "../orphanedClients.ts";
import { withSetting } from "../../host/socketPath.ts";
import { setShellMarks, type ShellMarks } from "./shellMarks.ts";
import { EventPaneReader, hubHooks, isHubName, type PaneEvent, titleHook } from "./hub.ts";

/** A killed daemon's client is gone within this time, because the kernel hangs up its pty (docs/tmuxFacts.md 3). */
const OTHER_HUB_LEAVES_WITHIN_MS = 2_000;
const PROBE_AGAIN_MS = 25;
/** Time for `stty` and `cat` to start in the event pane; a machine that needs longer is unusable. */
const EVENT_PANE_WITHIN_MS = 10_000;
/**
 * tmux leaves output processing on in the terminal of a `-CC` client (client.c `client_main`): the kernel then converts each
 * LF to CR LF, a line at a time, which makes a long capture 50 % slower. On pipes it has no effect. Besides the event pane,
 * this is the only process per connection, and tmux starts it.
 */
const RAW_TERMINAL = `run-shel 'test -c "#{client_tty}" && stty -opost <"#{client_tty}"; true'`;
/** Window links per round of commands. */
const LINKS_AT_ONCE = 200;
/** tmux accepts a command line of 16 KB from a client; if there are more sessions, only the most recently used are visited. */
const MAX_SESSIONS = 300;

export interface AttachedHub extends ServerIdentity {
  readonly connection: ControlConnection;
  readonly name: string;
  /** This hub's index in the hook arrays. */
  readonly hookIndex: number;
  readonly marks: ShellMarks;
}

interface HubStartupOptions {
  readonly connection: ControlConnection;
  readonly host: Host;
  readonly clock: Clock;
  readonly hubName: string;
  /** The stream of a pane of this connection. */
  readonly output: (pane: PaneId) => OutputSource;
  readonly onPaneEvent: (event: PaneEvent) => void;
  /** Checks that the server is ours before anything else is asked. @throws AppError */
  readonly requireOwn: (identity: ServerIdentity) => void;
  /** Variables that new panes must not get. */
  readonly unset: readonly string[];
  /** The folder of the scripts that make shells mark their commands; undefined: they do not. */
  readonly shellMarks: string | undefined;
  /** Opens a short-lived client with this command. */
  readonly visit: (command: readonly string[]) => ReturnType<typeof controlClient>;
  /** The name of the setting that holds the socket's path. */
  readonly setting?: string | undefined;
}

/** @throws AppError INCONSISTENT_STATE if another daemon uses the server, TMUX_UNAVAILABLE, CONNECTION_LOST */
export async function prepareHub(options: HubStartupOptions): Promise<AttachedHub> {
  const { connection, hubName } = options;
  const identity = await introduce(connection);
  if (identity === undefined)
    throw new AppError("PROTOCOL_ERROR", "tmux did not report the server's identity; try again");
  options.requireOwn(identity);
  const eventPaneReady = listenToEventPane(options, identity.pane);
  // Only the first failure is thrown; the other must not become an unhandled rejection.
  eventPaneReady.catch(() => undefined);
  await removeOldHubs(options, identity.session);
  await unsetVariables(options);
  const marks = await setShellMarks(connection, options.shellMarks);
  const hookIndex = 1_000 + Math.floor(Math.random() * 1_000_000);
  await connection.group(hubHooks(hubName, identity, hookIndex));
  await connection.command(titleHook(identity.pane, hookIndex), "none").catch(ignoreRefusal);
  await linkExistingWindows(options, identity);
  await connection.command(RAW_TERMINAL, "none").catch(ignoreRefusal);
  await putHubLast(options, identity.session);
  await eventPaneReady;
  return { ...identity, connection, name: hubName, hookIndex, marks };
}

function listenToEventPane(options: HubStartupOptions, pane: PaneId): Promise<void> {
  const source = options.output(pane);
  return new Promise((resolve, reject) => {
    const timer = options.clock.callAt(options.clock.nowMs() + EVENT_PANE_WITHIN_MS, () =>
      reject(new AppError("TMUX_UNAVAILABLE", "the event pane did not start; check that sh, stty and cat are on PATH")),
    );
    const reader = new EventPaneReader({
      onReady: () => {
        timer.cancel();
        resolve();
      },
      onEvent: options.onPaneEvent,
    });
    let readSeq = 0;
    const readOn = (): void => {
      const from = readSeq;
      readSeq = source.outputSeq;
      for (const slice of slicesOf(source, from)) if (slice.kind === "bytes") reader.push(slice.bytes);
    };
    source.subscribe({
      advanced: readOn,
      gap: readOn,
      exited: () => undefined,
      closed: (error) => {
        timer.cancel();
        reject(error);
      },
    });
    readOn();
  });
}

/**
 * Removes hubs of dead daemons. An attached hub older than ours means that another daemon uses this server; of two that start
 * together, the later one yields.
 */
async function removeOldHubs(
  { connection, host, clock, hubName, setting }: HubStartupOptions,
  own: SessionId,
): Promise<void> {
  const deadlineMs = clock.nowMs() + OTHER_HUB_LEAVES_WITHIN_MS;
  for (;;) {
    const sessions = await connection.foreignRows(SESSIONS, listSessions);
    const others = sessions.filter(({ name }) => isHubName(name) && name !== hubName);
    for (const row of others.filter((other) => other.attached === 0)) {
      // It may be ending just now.
      await connection.group(endingInNextTurn(killSession(row.session))).catch(ignoreRefusal);
    }
    const older = others.filter((row) => row.attached > 0 && byAge(row.session, own) < 0).map((row) => row.session);
    if (older.length === 0) return;
    const holders = (await ourClients(connection, host)).filter(({ session }) => older.includes(session));
    // The hub is removed with its client.
    for (const client of holders) if (isOrphan(client)) endClient(client, host);
    if (clock.nowMs() >= deadlineMs) throw heldBy(holders, setting);
    await new Promise<void>((resolve) => clock.callAt(clock.nowMs() + PROBE_AGAIN_MS, resolve));
  }
}

/** A server passes the environment of whoever started it to every pane (docs/tmuxFacts.md 35). */
async function unsetVariables({ connection, unset }: HubStartupOptions): Promise<void> {
  if (unset.length === 0) return;
  const rows = await connection.foreignRows(SESSIONS, listSessions);
  const sessions = [undefined, ...rows.map((row) => row.session)];
  const commands = sessions.flatMap((session) => unset.map((name) => unsetEnvironment(name, session)));
  // A session may be ending just now.
  await Promise.all(commands.map((command) => connection.command(command, "none").catch(ignoreRefusal)));
}

function heldBy(holders: readonly OurClient[], setting: string | undefined): AppError {
  const daemon = holders.find((client) => typeof client.daemon === "number")?.daemon;
  const client = holders[0];
  const who =
    daemon !== undefined ? ` (pid ${daemon})` : client !== undefined ? ` (its tmux client has pid ${client.pid})` : "";
  return new AppError(
    "INCONSISTENT_STATE",
    `another tmuxwire daemon${who} uses this tmux server: stop it, or choose another socket path${withSetting(setting)}`,
  );
}

async function linkExistingWindows({ connection, hubName }: HubStartupOptions, hub: ServerIdentity): Promise<void> {
  const links = await connection.rows(WINDOW_LINKS, listAllWindows);
  const linked = new Set(links.filter((link) => link.session === hub.session).map((link) => link.window));
  const missing = [...new Set(links.map((link) => link.window))].filter((window) => !linked.has(window));
  for (let at = 0; at < missing.length; at += LINKS_AT_ONCE) {
    await Promise.all(
      missing
        .slice(at, at + LINKS_AT_ONCE)
        .map((window) => connection.group(linkWindowOnce(window, hub.session, hubName)).catch(ignoreRefusal)),
    );
  }
}

/**
 * A command typed in a pane without a target acts on the most recently active session that contains the pane
 * (docs/tmuxFacts.md 54), and attaching makes that the hub. So before the hub is used, a short-lived client visits every other
 * session, in the order of their last use, which makes them more recent again. The client is already detaching when it gets
 * to them, so no session counts as attached: no program gets a focus event and no window is resized. All its commands are on
 * its command line, so it ends by itself, whatever happens to us.
 * Resolves when the hub is less recent than every session that existed before it.
 */
async function putHubLast({ connection, clock, visit }: HubStartupOptions, hub: SessionId): Promise<void> {
  const sessions = sessionsByUse(await connection.foreignRows(SESSIONS, listSessions));
  if (sessions.length === 0) return;
  const { open, spawn } = visit(visitAll(hub, sessions.slice(-MAX_SESSIONS)));
  await new Promise<void>((resolve) => {
    const transport = open({
      ...spawn,
      onData: () => undefined,
      onClose: () => {
        timer.cancel();
        resolve();
      },
    });
    const timer = clock.callAt(clock.nowMs() + GUEST_ATTACH_WITHIN_MS, () => transport.close());
  });
}

/** All sessions except hubs, the most recently used last; those used in the same second are sorted by age. */
export const sessionsByUse = (rows: readonly SessionRow[]): readonly SessionId[] =>
  rows
    .filter(({ name }) => !isHubName(name))
    .sort((a, b) => a.usedSec - b.usedSec || byAge(a.session, b.session))
    .map(({ session }) => session);

/** `if-shell` keeps a failure for a session that has just ended from aborting the whole chain. */
const visitAll = (hub: SessionId, sessions: readonly SessionId[]): readonly string[] => {
  const visits = sessions.flatMap((session) => [";", "if-shel", "-F", "1", switchClient(session)]);
  return ["attach-sessio", "-E", "-t", hub, "-f", "ignore-size,no-output", ";", "detach-clien", ...visits];
};
