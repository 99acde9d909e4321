/** The daemon's folder of recordings on a stub server: what is written, what bounds it, what another daemon finds there. */
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordingResponse } from "../../../../adapters/operations/panes/recordingOperations.ts";
import { silentLog } from "../../../../bench/silentLog.ts";
import { RecordingRegistry } from "../../../../daemon/recordings/recordingRegistry.ts";
import { StubServer } from "../../../../daemon/servers/stub/stubServer.ts";
import type { PaneId } from "../../../../protocol/ids.ts";
import { eventually } from "../../../support/clock/eventually.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";
import { heapBytes } from "../../../support/daemon/heapBytes.ts";

const START_MS = Date.UTC(2026, 10, 20, 6, 42, 47);
const DAY_MS = 86_400_000;

class Scene implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "tw-recordings-"));
  readonly clock = new FakeClock();
  readonly server = new StubServer({
    nowUnixMs: () => START_MS,
    onListenerError: (error) => {
      throw error;
    },
  });
  nowUnixMs = START_MS;
  #registries: RecordingRegistry[] = [];

  async registry(maxFolderBytes?: number): Promise<RecordingRegistry> {
    const { folder, clock } = this;
    const nowUnixMs = (): number => this.nowUnixMs;
    const registry = await RecordingRegistry.open({ folder, clock, nowUnixMs, log: silentLog, maxFolderBytes });
    this.#registries.push(registry);
    return registry;
  }

  async pane(): Promise<PaneId> {
    return (await this.server.createSession({ name: "work" })).activePane!;
  }

  request(pane: PaneId, more: { readonly maxBytes?: number; readonly maxSec?: number; readonly input?: boolean } = {}) {
    return {
      serverName: "main",
      server: this.server,
      pane,
      version: 2,
      maxBytes: 65_536,
      maxSec: 60,
      input: false,
      ...more,
    } as const;
  }

  async type(pane: PaneId, text: string): Promise<void> {
    await this.server.input(pane, [{ kind: "text", bytes: Buffer.from(text) }]);
  }

  old(id: string, text: string): void {
    const timestamp = Date.parse(`${id.slice(0, 4)}-${id.slice(4, 6)}-${id.slice(6, 8)}T00:00:00Z`) / 1_000;
    const header = { version: 2, width: 80, height: 24, timestamp, tmuxwire: { server: "main", pane: "%9" } };
    writeFileSync(join(this.folder, `${id}.cast`), `${JSON.stringify(header)}\n${text}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#registries.map((registry) => registry.close()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const lines = (path: string): unknown[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
const outputOf = (path: string): string =>
  (lines(path).slice(1) as [number, string, string][])
    .filter(([, code]) => code === "o")
    .map(([, , data]) => data)
    .join("");

test("a recording has what the pane prints, is private, and is whole at every moment", async () => {
  await using scene = new Scene();
  const registry = await scene.registry();
  const pane = await scene.pane();
  const { id, path, isRecording } = await registry.start(scene.request(pane));
  expect(isRecording).toBe(true);
  expect(path).toBe(join(scene.folder, `${id}.cast`));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await scene.type(pane, "printed");
  await eventually(() => outputOf(path).includes("printed"));
  const stopped = await registry.stop(id);
  expect(stopped).toMatchObject({ isRecording: false, end: "stopped", gaps: 0 });
  expect(stopped.bytes).toBe(statSync(path).size);
  expect(lines(path).at(-1)).toMatchObject([expect.anything(), "m", "end: it was stopped"]);
  // What is stopped stays as it is.
  await scene.type(pane, "later");
  expect(await registry.stop(id)).toEqual(stopped);
});

test("a recording that has ended holds nothing of its pane's output, though it stays listed", async () => {
  await using scene = new Scene();
  const registry = await scene.registry();
  const pane = await scene.pane();
  const output = new WeakRef(scene.server.output(pane));
  const { id } = await registry.start(scene.request(pane));
  await scene.type(pane, "printed");
  await scene.server.killSession(scene.server.findSession("work")!.id);
  await eventually(() => registry.find(id).end === "pane");
  await eventually(() => {
    heapBytes();
    return output.deref() === undefined;
  });
  expect(registry.list()).toMatchObject([{ id, isRecording: false }]);
});

test("what is typed is recorded for who asks for it, which the list and the next daemon know", async () => {
  await using scene = new Scene();
  const registry = await scene.registry();
  const pane = await scene.pane();
  const [quiet, typed] = [
    await registry.start(scene.request(pane)),
    await registry.start(scene.request(pane, { input: true })),
  ];
  await scene.server.input(pane, [
    { kind: "text", bytes: Buffer.from("secret") },
    { kind: "keys", keys: ["Enter"] },
  ]);
  await registry.stop(quiet.id);
  await registry.stop(typed.id);
  const inputOf = ({ path }: { readonly path: string }): string[] =>
    (lines(path).slice(1) as [number, string, string][]).flatMap(([, code, data]) => (code === "i" ? [data] : []));
  expect([inputOf(quiet), inputOf(typed)]).toEqual([[], ["secret\r"]]);
  // In front of what it makes the program print.
  const codes = (lines(typed.path).slice(1) as [number, string, string][]).map(([, code]) => code);
  expect(codes).toEqual(["o", "i", "o", "m"]);
  expect(lines(typed.path)[0]).toMatchObject({ tmuxwire: { server: "main", pane, input: true } });
  const isListed = (known: RecordingRegistry) => new Map(known.list().map(({ id, input }) => [id, input]));
  const wanted = new Map([
    [quiet.id, false],
    [typed.id, true],
  ]);
  expect(isListed(registry)).toEqual(wanted);
  expect(isListed(await scene.registry())).toEqual(wanted);
});

test("it ends with its pane, at its bounds, and with the daemon", async () => {
  await using scene = new Scene();
  const registry = await scene.registry();
  const pane = await scene.pane();
  const byAge = await registry.start(scene.request(pane, { maxSec: 60 }));
  const bySize = await registry.start(scene.request(pane, { maxSec: 600 }));
  const byPane = await registry.start(scene.request(pane, { maxSec: 600, maxBytes: 1_000_000 }));
  const endOf = (id: string) => registry.find(id).end;
  scene.clock.advanceMs(59_999);
  expect(endOf(byAge.id)).toBeUndefined();
  scene.clock.advanceMs(1);
  expect(endOf(byAge.id)).toBe("age");
  for (let at = 0; at < 20; at += 1) {
    // oxlint-disable-next-line no-await-in-loop -- in order
    await scene.type(pane, "x".repeat(4_000));
    scene.clock.advanceMs(20);
  }
  await eventually(() => endOf(bySize.id) === "size");
  expect(statSync(bySize.path).size).toBeLessThanOrEqual(65_536);
  await scene.server.killSession(scene.server.sessions()[0]!.id);
  await eventually(() => endOf(byPane.id) === "pane");
  const other = await scene.pane();
  const last = await registry.start(scene.request(other));
  await registry.close();
  expect(endOf(last.id)).toBe("daemon");
  await expect(registry.start(scene.request(other))).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
});

test("a pane that is not there leaves no file", async () => {
  await using scene = new Scene();
  const registry = await scene.registry();
  await scene.pane();
  await expect(registry.start(scene.request("%77" as PaneId))).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(readdirSync(scene.folder)).toEqual([]);
  expect(registry.list()).toEqual([]);
});

describe("what an earlier daemon left", () => {
  const [ONE, TWO, THREE] = ["20261118T000000Z-00000001", "20261119T000000Z-00000002", "20261120T000000Z-00000003"];

  test("a last line that was cut off goes; files that are not ours stay and are not listed", async () => {
    await using scene = new Scene();
    scene.old(TWO, '[0.1, "o", "whole"]\n[0.2, "o", "cut o');
    scene.old(ONE, '[0.1, "o", "whole"]\n');
    writeFileSync(join(scene.folder, `${THREE}.cast`), "");
    writeFileSync(join(scene.folder, "mine.cast"), "not ours");
    const registry = await scene.registry();
    expect(registry.list().map(({ id, isRecording }) => ({ id, isRecording }))).toEqual([
      { id: ONE, isRecording: false },
      { id: TWO, isRecording: false },
    ]);
    expect(outputOf(join(scene.folder, `${TWO}.cast`))).toBe("whole");
    expect(readdirSync(scene.folder).toSorted()).toEqual([`${ONE}.cast`, `${TWO}.cast`, "mine.cast"]);
    await registry.remove(ONE);
    expect(readdirSync(scene.folder).toSorted()).toEqual([`${TWO}.cast`, "mine.cast"]);
    await expect(registry.remove("../mine")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("the oldest make room, and those of more than 30 days go", async () => {
    await using scene = new Scene();
    const text = `${JSON.stringify([0.1, "o", "x".repeat(40_000)])}\n`;
    for (const id of [ONE, TWO, THREE]) scene.old(id, text);
    const registry = await scene.registry(150_000);
    const pane = await scene.pane();
    expect(registry.list()).toHaveLength(3);
    const first = await registry.start(scene.request(pane));
    expect(registry.list().map(({ id }) => id)).toEqual([TWO, THREE, first.id]);
    // What is under way is never removed for another one.
    await registry.start(scene.request(pane));
    await expect(registry.start(scene.request(pane))).rejects.toMatchObject({ code: "RESOURCE_LIMIT" });
    await registry.close();
    scene.nowUnixMs += 31 * DAY_MS;
    expect((await scene.registry()).list()).toEqual([]);
    expect(readdirSync(scene.folder)).toEqual([]);
  });
});

test("a link in the folder is left alone, and what it leads to is neither cut nor read", async () => {
  await using scene = new Scene();
  const id = "20261119T000000Z-00000000";
  scene.old(id, "whole\ncut off");
  const [path, elsewhere] = [join(scene.folder, `${id}.cast`), join(scene.folder, "elsewhere")];
  renameSync(path, elsewhere);
  symlinkSync(elsewhere, path);
  const before = readFileSync(elsewhere, "utf8");
  const registry = await scene.registry();
  expect(registry.list()).toEqual([]);
  expect([readFileSync(elsewhere, "utf8"), readdirSync(scene.folder).length]).toEqual([before, 2]);

  // One that takes the place of a recording that is known.
  rmSync(path);
  renameSync(elsewhere, path);
  const known = await scene.registry();
  expect(known.list()).toMatchObject([{ id }]);
  writeFileSync(elsewhere, "somebody's secret");
  rmSync(path);
  symlinkSync(elsewhere, path);
  await expect(recordingResponse({ recordings: known }, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
});
