/**
 * Random operations on windows and panes by us and by a person at a terminal at once. After each pair our tree is what tmux
 * lists, and so is the tree that the events make by themselves; no event is without effect, none names what is not there.
 */
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../protocol/errors.ts";
import { applyTreeEvent } from "../../../protocol/api/native/applyTreeEvent.ts";
import type { NativeServerEvent, NativeTree } from "../../../protocol/api/native/nativeTree.ts";
import { spawnsTotal } from "../../../daemon/host/spawnCount.ts";
import { eventually } from "../clock/eventually.ts";
import { guestFixture, userClient, type UserClient, userSession } from "./guestFixture.ts";
import { randomFrom } from "./inventoryScenario.ts";
import { ours, targets, theirs } from "./layoutSteps.ts";
import { ownedFixture, type PrivateSocket } from "./ownedFixture.ts";
import { keepsPanes } from "./tmuxWords.ts";
import { userControl, type UserControl } from "./userControl.ts";

/** One line per fact. */
export function treeLines(tree: NativeTree): readonly string[] {
  return [
    ...tree.sessions.map(({ id, name, windows, activeWindow }) => {
      const places = windows.map(({ index, window }) => `${index}${window}`);
      return `${id} ${name} ${places.join(",")} ${activeWindow ?? ""}`;
    }),
    ...tree.windows.map(
      ({ id, name, cols, rows, layout, zoomed, activePane, panes }) =>
        `${id} ${name} ${cols}x${rows} ${layout} ${zoomed ? 1 : 0} ${activePane ?? ""} ${panes.join(",")}`,
    ),
    ...tree.panes.map(
      ({ id, window, cols, rows, pid, exit, title }) => `${id} ${window} ${cols}x${rows} ${runs(pid, exit)} ${title}`,
    ),
  ].sort();
}

/** tmux 3.8 forgets the process of a pane whose program has ended. */
const runs = (pid: number, exit: NativeTree["panes"][number]["exit"]): string =>
  exit === null ? String(pid) : `ended ${exit.exitCode ?? ""}/${exit.signal ?? ""}`;
const RUNS = "#{?pane_dead,ended #{pane_dead_status}/#{pane_dead_signal},#{pane_pid}}";

const HUB = "__tmuxwire-";

/** The same lines from tmux, by another client. */
export async function listedLines(control: UserControl): Promise<readonly string[]> {
  const ask = async (command: string): Promise<string[][]> =>
    (await control.command(command)).split("\n").flatMap((line) => {
      const row = line.split("\t");
      return line === "" || row[0]?.startsWith(HUB) === true ? [] : [row.slice(1)];
    });
  const [sessions, links, panes] = await Promise.all([
    ask('list-sessions -F "#{session_name}\t#{session_id}\t#{session_name}"'),
    ask(
      'list-windows -a -F "#{session_name}\t#{session_id}\t#{window_index}#{window_id}\t#{window_active}\t#{window_id}"',
    ),
    ask(
      'list-panes -a -F "#{session_name}\t#{pane_id}\t#{window_id}\t#{pane_width}x#{pane_height} ' +
        `${RUNS} #{pane_title}` +
        '\t#{window_name}\t#{window_width}x#{window_height} #{window_layout} #{window_zoomed_flag}\t#{pane_active}\t#{session_id}"',
    ),
  ]);
  const windows = new Map<string, { name: string; shape: string; active: string; panes: string[] }>();
  for (const [pane = "", window = "", , name = "", shape = "", active] of panes) {
    const known = windows.get(window) ?? { name, shape, active: "", panes: [] };
    if (!known.panes.includes(pane)) known.panes.push(pane);
    if (active === "1") known.active = pane;
    windows.set(window, known);
  }
  return [
    ...new Set([
      ...sessions.map(([id = "", name]) => {
        const own = links.filter((link) => link[0] === id);
        return `${id} ${name} ${own.map((link) => link[1]).join(",")} ${own.find((link) => link[2] === "1")?.[3] ?? ""}`;
      }),
      ...[...windows].map(
        ([id, { name, shape, active, panes: own }]) => `${id} ${name} ${shape} ${active} ${own.join(",")}`,
      ),
      ...panes.map(([pane, window, facts]) => `${pane} ${window} ${facts}`),
    ]),
  ].sort();
}

/** Follows a server by its events alone. */
export class Follower {
  tree: NativeTree;
  readonly faults: string[] = [];
  events = 0;
  ended = 0;
  respawned = 0;

  constructor(tree: NativeTree) {
    this.tree = tree;
  }

  take(event: NativeServerEvent): void {
    this.events += 1;
    if (event.type === "pane-exited") this.ended += 1;
    if (event.type === "pane-respawned") this.respawned += 1;
    const before = this.tree;
    const fault = faultOf(before, event);
    if (fault !== undefined) this.faults.push(`${fault}: ${JSON.stringify(event)}`);
    this.tree = applyTreeEvent(before, event);
    if (JSON.stringify(this.tree) === JSON.stringify(before))
      this.faults.push(`changes nothing: ${JSON.stringify(event)}`);
  }
}

function faultOf(tree: NativeTree, event: NativeServerEvent): string | undefined {
  const has = (things: readonly { readonly id: string }[], id: string): boolean => things.some((one) => one.id === id);
  const isMade = event.type === "window-created" || event.type === "session-created" || event.type === "pane-created";
  if (isMade) {
    const [things, made] =
      event.type === "window-created"
        ? [tree.windows, event.window]
        : event.type === "session-created"
          ? [tree.sessions, event.session]
          : [tree.panes, event.pane];
    if (has(things, made.id)) return "made twice";
    return "window" in made && !has(tree.windows, made.window) ? "made nowhere" : undefined;
  }
  if ("session" in event && !has(tree.sessions, event.session)) return "no such session";
  if ("window" in event && event.window !== null && !has(tree.windows, event.window)) return "no such window";
  if ("pane" in event && event.pane !== null && !has(tree.panes, event.pane)) return "no such pane";
  return undefined;
}

interface LayoutWalk {
  readonly server: TmuxServer;
  /** At a shell. */
  readonly person: UserClient;
  /** Looks on. */
  readonly control: UserControl;
  readonly follower: Follower;
  readonly seed: number;
  readonly count: number;
  readonly withinMs?: number | undefined;
}

/** Refusals that a person who works at the same time can bring about. */
const EXPECTED = new Set([
  "NOT_FOUND",
  "INCONSISTENT_STATE",
  "INVALID_ARGUMENT",
  "TMUX_COMMAND_FAILED",
  "ALREADY_EXISTS",
]);

/** @throws Error with the step's operations when the trees differ for too long */
async function walkLayouts(walk: LayoutWalk): Promise<{ readonly refused: number; readonly slowestMs: number }> {
  const { server, person, control, follower, seed, count, withinMs = 5_000 } = walk;
  const random = randomFrom(seed);
  let [refused, slowestMs] = [0, 0];
  for (let step = 1; step <= count; step += 1) {
    // The two of them can end everything there was.
    if (targets({ tree: server.layout.tree(), random, step }).count === 0)
      await server.createSession({ name: `again${step}`, command: ["cat"], cols: 100, rows: 30 });
    const place = { tree: server.layout.tree(), random, step };
    const [operation, command] = [ours(place), theirs(place)];
    const said = `seed ${seed}, step ${step}\nours ${JSON.stringify(operation)}\ntheirs ${command}`;
    const done = server.layout.run(operation).catch((error: unknown) => {
      refused += 1;
      if (!(error instanceof AppError && EXPECTED.has(error.code))) throw new Error(said, { cause: error });
    });
    if (process.env["WALK_TRACE"] !== undefined) console.log(said);
    // Each of them a client of its own, as a script's are.
    person.type(`tmux ${command}; tmux set-option -g @step ${step}\r`);
    await done;
    await eventually(async () => (await control.command("show-options -gqv @step")) === String(step));
    const startMs = performance.now();
    await eventually(async () => {
      const lists = [treeLines(server.layout.tree()), await listedLines(control), treeLines(follower.tree)] as const;
      const [tree, listed, folded] = lists.map((list) => list.join("\n"));
      if (tree === listed && folded === listed) return true;
      if (performance.now() - startMs < withinMs) return false;
      const differing = ([name, list]: readonly [string, readonly string[]]): string[] =>
        list.filter((line) => !lists[1].includes(line)).map((line) => `${name} ${line}`);
      const missing = lists[1].filter((line) => !lists[0].includes(line)).map((line) => `listed ${line}`);
      throw new Error(
        [said, ...differing(["tree", lists[0]]), ...differing(["events", lists[2]]), ...missing].join("\n"),
      );
    });
    if (follower.faults.length > 0) throw new Error(`${said}\n${follower.faults.join("\n")}`);
    slowestMs = Math.max(slowestMs, performance.now() - startMs);
  }
  return { refused, slowestMs };
}

interface WalkReport {
  readonly refused: number;
  readonly slowestMs: number;
  readonly events: number;
  /** Programs that ended in a pane that stayed, and panes that got another program. */
  readonly ended: number;
  readonly respawned: number;
  /** Processes that our side has started meanwhile. */
  readonly spawned: number;
  readonly log: readonly object[];
}

/** A server of our own, or a person's; a person at a shell, one who looks on, and `count` steps. */
export async function layoutWalk(kind: "owned" | "guest", seed: number, count: number): Promise<WalkReport> {
  await using fixture = kind === "owned" ? await ownedFixture() : await guestFixture(startGuest);
  const { server, socket, log } = fixture;
  if (kind === "owned") {
    await server.createSession({ name: "home", command: ["sh"] });
    await server.createSession({ name: "work", command: ["cat"], cols: 100, rows: 30 });
  }
  // Programs that end leave their panes, which somebody respawns.
  if (keepsPanes()) socket.tmux("set-option", "-wg", "remain-on-exit", "on");
  await using person = await userClient(socket, "home");
  await using control = await userControl(socket, "home");
  const follower = new Follower(server.layout.tree());
  server.layout.watch((events) => {
    for (const event of events) follower.take(event);
  });
  const before = spawnsTotal();
  const walked = await walkLayouts({ server, person, control, follower, seed, count });
  const { events, ended, respawned } = follower;
  return { ...walked, events, ended, respawned, spawned: spawnsTotal() - before, log };
}

function startGuest(socket: PrivateSocket): void {
  userSession(socket, "home", ["sh"]);
  userSession(socket, "work");
}
