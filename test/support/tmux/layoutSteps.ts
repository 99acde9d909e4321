/**
 * One random operation on windows and panes by us, and one by a person at a terminal: tmux's commands in their many forms, and
 * programs that end while their pane stays or goes.
 */
import type { LayoutOperation, ServerTree, TreeSession } from "../../../daemon/tmux/layout.ts";
import type { PaneId, SessionId, WindowId } from "../../../protocol/ids.ts";
import { formatLayout } from "./formatLayout.ts";

/** Sessions that are not worked on: the person and the one who lists are there. */
const HOME = /^home/;

interface Place {
  readonly tree: ServerTree;
  readonly random: (below: number) => number;
  readonly step: number;
}

const pick = <Thing>(things: readonly Thing[], random: (below: number) => number): Thing =>
  things[random(things.length)]!;

export function targets({ tree, random }: Place) {
  const sessions = tree.sessions.filter(({ name }) => !HOME.test(name));
  const inHome = new Set(
    tree.sessions
      .filter(({ name }) => HOME.test(name))
      .flatMap((session) => session.windows.map((place) => place.window)),
  );
  const windows = tree.windows.filter(({ id }) => !inHome.has(id));
  const panes = tree.panes.filter(({ window }) => !inHome.has(window));
  const ended = panes.filter(({ exit }) => exit !== null);
  const has = ({ windows: own }: TreeSession, window: WindowId): boolean => own.some((one) => one.window === window);
  return {
    session: (): SessionId => pick(sessions, random).id,
    window: (): WindowId => pick(windows, random).id,
    pane: (): PaneId => pick(panes, random).id,
    /** A pane whose program has ended, when there is one. */
    ended: (): PaneId => pick(ended.length > 0 ? ended : panes, random).id,
    /** A window at its place in a session, as tmux names it. */
    place: (): string => {
      const session = pick(sessions, random);
      return `${session.id}:${pick(session.windows, random).window}`;
    },
    /** A session that does not have this window: 3.3a ends with a session that has one twice (docs/tmuxFacts.md 41). */
    without: (window: WindowId): SessionId | undefined => {
      const others = sessions.filter((session) => !has(session, window));
      return others.length === 0 ? undefined : pick(others, random).id;
    },
    sessions: sessions.length,
    layout: (): string => {
      const { root } = pick(windows, random);
      return root === null ? "tiled" : formatLayout(root);
    },
    count: panes.length,
  };
}

/** They end at the end of their input; the last one has ended before it is asked for anything. */
const PROGRAMS = [
  ["cat"],
  ["cat"],
  ["sh", "-c", "read x; exit 3"],
  ["sh", "-c", "read x; kill -9 $$"],
  ["true"],
] as const;

const LAYOUTS = ["even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"] as const;
const SIDES = ["up", "down", "left", "right"] as const;
/** Windows are 100x30: more panes than this mostly find no room. */
const MANY_PANES = 24;

export function ours(place: Place): LayoutOperation {
  const { random, step } = place;
  const at = targets(place);
  const flag = (): boolean => random(2) === 0;
  const where = () => ({
    direction: flag() ? ("vertical" as const) : ("horizontal" as const),
    before: flag(),
    full: random(4) === 0,
    detached: flag(),
    ...(random(3) === 0 ? { size: `${10 + random(80)}%` as const } : {}),
  });
  const fewer: readonly (() => LayoutOperation)[] = [
    () => ({ kind: "kill-pane", pane: at.pane() }),
    () => ({ kind: "kill-window", window: at.window() }),
  ];
  const command = (): readonly string[] => pick(PROGRAMS, random);
  const more: readonly (() => LayoutOperation)[] = [
    () => ({ kind: "new-window", session: at.session(), command: command(), detached: flag(), name: `n${step}` }),
    () => ({ kind: "split-window", pane: at.pane(), command: command(), ...where() }),
    () => ({ kind: "split-window", pane: at.pane(), command: command(), ...where() }),
  ];
  const same: readonly (() => LayoutOperation)[] = [
    () => ({ kind: "rename-window", window: at.window(), name: `w#{pid} ${step}` }),
    () => ({ kind: "rename-session", session: at.session(), name: `s${step}` }),
    () => ({ kind: "select-pane", pane: at.pane(), ...(flag() ? { direction: pick(SIDES, random) } : {}) }),
    () => ({ kind: "select-window", window: at.window() }),
    () => ({ kind: "swap-pane", pane: at.pane(), with: at.pane(), detached: flag() }),
    () => ({ kind: "move-pane", pane: at.pane(), to: at.pane(), ...where() }),
    () => ({ kind: "join-pane", pane: at.pane(), to: at.pane(), ...where() }),
    () => ({ kind: "break-pane", pane: at.pane(), session: at.session(), detached: flag(), name: `b${step}` }),
    () => ({ kind: "resize-pane", pane: at.pane(), cols: 5 + random(60) }),
    () => ({ kind: "resize-pane", pane: at.pane(), direction: pick(SIDES, random), cells: 1 + random(5) }),
    () => ({ kind: "resize-pane", pane: at.pane(), zoom: flag() }),
    () => ({ kind: "resize-window", window: at.window(), cols: 60 + random(100), rows: 20 + random(40) }),
    () => ({ kind: "select-layout", window: at.window(), layout: pick([...LAYOUTS, "spread"], random) }),
    () => ({ kind: "select-layout", window: at.window(), layout: at.layout() }),
    () => ({ kind: "respawn-pane", pane: at.pane(), command: command() }),
    () => ({ kind: "respawn-pane", pane: at.ended(), command: command() }),
    () => ({ kind: "set-pane-option", pane: at.pane(), option: "remain-on-exit", value: flag() ? "off" : null }),
    () => ({ kind: "set-window-option", window: at.window(), option: "remain-on-exit", value: flag() ? "off" : null }),
    () => ({ kind: "clear-history", pane: at.pane() }),
    () => ({ kind: "set-window-option", window: at.window(), option: "main-pane-width", value: `${10 + random(50)}` }),
    () => ({ kind: "set-pane-option", pane: at.pane(), option: "allow-rename", value: flag() ? "on" : null }),
  ];
  return pick([...(at.count < MANY_PANES ? more : []), ...(at.count > 4 ? fewer : []), ...same], random)();
}

export function theirs(place: Place): string {
  const { random, step } = place;
  const at = targets(place);
  const maybe = (option: string): string => (random(2) === 0 ? ` ${option}` : "");
  const command = (): string =>
    pick(PROGRAMS, random)
      .map((word) => `'${word}'`)
      .join(" ");
  const fewer = [
    () => `kill-pane -t ${at.pane()}`,
    () => `kill-window -t ${at.window()}`,
    () => `unlink-window -k -t '${at.place()}'`,
    ...(at.sessions > 1 ? [() => `kill-session -t '${at.session()}'`] : []),
  ];
  const more = [
    () => `new-session -d -s p${step} -x 100 -y 30 cat`,
    () => `new-window${maybe("-d")} -t '${at.session()}:' ${command()}`,
    () => `split-window${maybe("-d")}${maybe("-h")}${maybe("-b")} -t ${at.pane()} ${command()}`,
    () => `split-window${maybe("-d")}${maybe("-h")}${maybe("-f")} -t ${at.pane()} ${command()}`,
  ];
  const toAnother = (verb: string): string => {
    const window = at.window();
    const session = at.without(window);
    return session === undefined ? `select-window -t ${window}` : `${verb} -s ${window} -t '${session}:'`;
  };
  const same = [
    () => `rename-window -t ${at.window()} v${step}`,
    () => `rename-session -t '${at.session()}' r${step}`,
    () => `select-pane -t ${at.pane()}`,
    () => `select-pane -t ${at.pane()} -T t${step}`,
    () => `select-window -t '${at.session()}:+'`,
    () => `swap-pane${maybe("-d")} -s ${at.pane()} -t ${at.pane()}`,
    () => `join-pane${maybe("-d")}${maybe("-h")} -s ${at.pane()} -t ${at.pane()}`,
    () => `break-pane -d -s ${at.pane()} -t '${at.session()}:'`,
    () => `resize-pane -t ${at.pane()} -x ${5 + random(60)}`,
    () => `resize-pane -Z -t ${at.pane()}`,
    () => `resize-window -t ${at.window()} -x ${60 + random(80)} -y ${20 + random(30)}`,
    () => `select-layout -t ${at.window()} ${pick(LAYOUTS, random)}`,
    () => `rotate-window -t ${at.window()}`,
    () => toAnother("move-window -d"),
    () => toAnother("link-window -d"),
    () => toAnother("link-window"),
    () => `unlink-window -t '${at.place()}'`,
    () => {
      const session = at.session();
      return `swap-window -d -s '${session}:+' -t '${session}:'`;
    },
    () => `set-option -w -t ${at.window()}${random(2) === 0 ? " -u remain-on-exit" : " remain-on-exit off"}`,
    // The end of its input: no echo, which would wait for a control client (docs/tmuxFacts.md, Versions).
    () => `send-keys -t ${at.pane()} C-d`,
    () => `send-keys -t ${at.pane()} C-d`,
    () => `respawn-pane -t ${at.ended()} ${command()}`,
    () => `respawn-pane -k -t ${at.pane()} ${command()}`,
  ];
  return pick([...(at.count < MANY_PANES ? more : []), ...(at.count > 4 ? fewer : []), ...same], random)();
}
