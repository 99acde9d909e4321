/** One delivery at a time per pane, whoever waits, gives up or leaves. */
import { setMaxListeners } from "node:events";
import { expect, test } from "vitest";
import { MAX_DELIVERIES_WAITING } from "../../../../daemon/delivery/deliveryLimits.ts";
import { PaneMutex, type WhileFree } from "../../../../daemon/delivery/paneMutex.ts";
import type { TmuxServer } from "../../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../../protocol/ids.ts";

const server = {} as TmuxServer;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function panes() {
  const mutex = new PaneMutex();
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const left = new AbortController();
  setMaxListeners(0, left.signal);
  const begin = (name: string, work?: (whileFree: WhileFree) => Promise<void>, pane = "%1") => {
    const run = async (whileFree: WhileFree): Promise<void> => {
      log.push(`${name} begins`);
      await work?.(whileFree);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    };
    const said = (error: unknown) => void log.push(`${name} ${(error as { code?: string }).code ?? String(error)}`);
    mutex.run(server, pane as PaneId, left.signal, run).then(() => log.push(`${name} ended`), said);
  };
  /** What has happened since, when this one may end. */
  const after = async (name?: string): Promise<readonly string[]> => {
    if (name !== undefined) ends.get(name)!();
    await turn();
    return log.splice(0);
  };
  return { begin, after, left };
}

test("one at a time in their order; another pane has its own", async () => {
  const { begin, after } = panes();
  for (const name of ["a", "b", "c"]) begin(name);
  begin("other", undefined, "%2");
  expect(await after()).toEqual(["a begins", "other begins"]);
  expect(await after("a")).toEqual(["b begins", "a ended"]);
  expect(await after("b")).toEqual(["c begins", "b ended"]);
  expect(await after("c")).toEqual(["c ended"]);
  begin("d");
  expect(await after()).toEqual(["d begins"]);
});

test("one that waits for a person leaves the pane to the others, then queues for it, and holds it again", async () => {
  const { begin, after } = panes();
  let answered: () => void = () => undefined;
  begin("a", (whileFree) => whileFree(() => new Promise((resolve) => (answered = resolve))));
  begin("b");
  expect(await after()).toEqual(["a begins", "b begins"]);
  answered();
  expect(await after()).toEqual([]);
  begin("c");
  expect(await after("b")).toEqual(["b ended"]);
  expect(await after("a")).toEqual(["c begins", "a ended"]);
  expect(await after("c")).toEqual(["c ended"]);
});

test("one that gives up while the pane is another's takes it from nobody", async () => {
  const { begin, after } = panes();
  begin("a", (whileFree) => whileFree(() => Promise.reject(new Error("gave up"))));
  begin("b");
  begin("c");
  expect(await after()).toEqual(["a begins", "b begins", "a Error: gave up"]);
  expect(await after("b")).toEqual(["c begins", "b ended"]);
});

test("those that leave wait no longer, and no more may wait than there is room for", async () => {
  const { begin, after, left } = panes();
  begin("a");
  for (let waiting = 0; waiting < MAX_DELIVERIES_WAITING; waiting += 1) begin("waiting");
  begin("more");
  expect(await after()).toEqual(["a begins", "more RESOURCE_LIMIT"]);
  left.abort("left");
  begin("late");
  expect(new Set(await after())).toEqual(new Set(["waiting left", "late left"]));
  expect(await after("a")).toEqual(["a ended"]);
});
