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
import { recordingResponse } from "../../../../adapters/operations/recordingOperations.ts";
import { silentLog } from "../../../../bench/silentLog.ts";
import { RecordingBook } from "../../../../daemon/recordings/recordingBook.ts";
import { StubServer } from "../../../../daemon/servers/stub/stubServer.ts";
import type { PaneId } from "../../../../protocol/ids.ts";
import { eventually } from "../../../support/clock/eventually.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

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
  #books: RecordingBook[] = [];

  async book(maxFolderBytes?: number): Promise<RecordingBook> {
    const { folder, clock } = this;
    const nowUnixMs = (): number => this.nowUnixMs;
    const book = await RecordingBook.open({ folder, clock, nowUnixMs, log: silentLog, maxFolderBytes });
    this.#books.push(book);
    return book;
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
    await Promise.all(this.#books.map((book) => book.close()));
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
  const book = await scene.book();
  const pane = await scene.pane();
  const { id, path, isRecording } = await book.start(scene.request(pane));
  expect(isRecording).toBe(true);
  expect(path).toBe(join(scene.folder, `${id}.cast`));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await scene.type(pane, "printed");
  await eventually(() => outputOf(path).includes("printed"));
  const stopped = await book.stop(id);
  expect(stopped).toMatchObject({ isRecording: false, end: "stopped", gaps: 0 });
  expect(stopped.bytes).toBe(statSync(path).size);
  expect(lines(path).at(-1)).toMatchObject([expect.anything(), "m", "end: it was stopped"]);
  // What is stopped stays as it is.
  await scene.type(pane, "later");
  expect(await book.stop(id)).toEqual(stopped);
});

test("what is typed is recorded for who asks for it, which the list and the next daemon know", async () => {
  await using scene = new Scene();
  const book = await scene.book();
  const pane = await scene.pane();
  const [quiet, typed] = [
    await book.start(scene.request(pane)),
    await book.start(scene.request(pane, { input: true })),
  ];
  await scene.server.input(pane, [
    { kind: "text", bytes: Buffer.from("secret") },
    { kind: "keys", keys: ["Enter"] },
  ]);
  await book.stop(quiet.id);
  await book.stop(typed.id);
  const inputOf = ({ path }: { readonly path: string }): string[] =>
    (lines(path).slice(1) as [number, string, string][]).flatMap(([, code, data]) => (code === "i" ? [data] : []));
  expect([inputOf(quiet), inputOf(typed)]).toEqual([[], ["secret\r"]]);
  // In front of what it makes the program print.
  const codes = (lines(typed.path).slice(1) as [number, string, string][]).map(([, code]) => code);
  expect(codes).toEqual(["o", "i", "o", "m"]);
  expect(lines(typed.path)[0]).toMatchObject({ tmuxwire: { server: "main", pane, input: true } });
  const isListed = (known: RecordingBook) => new Map(known.list().map(({ id, input }) => [id, input]));
  const wanted = new Map([
    [quiet.id, false],
    [typed.id, true],
  ]);
  expect(isListed(book)).toEqual(wanted);
  expect(isListed(await scene.book())).toEqual(wanted);
});

test("it ends with its pane, at its bounds, and with the daemon", async () => {
  await using scene = new Scene();
  const book = await scene.book();
  const pane = await scene.pane();
  const byAge = await book.start(scene.request(pane, { maxSec: 60 }));
  const bySize = await book.start(scene.request(pane, { maxSec: 600 }));
  const byPane = await book.start(scene.request(pane, { maxSec: 600, maxBytes: 1_000_000 }));
  const endOf = (id: string) => book.find(id).end;
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
  const last = await book.start(scene.request(other));
  await book.close();
  expect(endOf(last.id)).toBe("daemon");
  await expect(book.start(scene.request(other))).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
});

test("a pane that is not there leaves no file", async () => {
  await using scene = new Scene();
  const book = await scene.book();
  await scene.pane();
  await expect(book.start(scene.request("%77" as PaneId))).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(readdirSync(scene.folder)).toEqual([]);
  expect(book.list()).toEqual([]);
});

describe("what an earlier daemon left", () => {
  const [ONE, TWO, THREE] = ["20261118T000000Z-00000001", "20261119T000000Z-00000002", "20261120T000000Z-00000003"];

  test("a last line that was cut off goes; files that are not ours stay and are not listed", async () => {
    await using scene = new Scene();
    scene.old(TWO, '[0.1, "o", "whole"]\n[0.2, "o", "cut o');
    scene.old(ONE, '[0.1, "o", "whole"]\n');
    writeFileSync(join(scene.folder, `${THREE}.cast`), "");
    writeFileSync(join(scene.folder, "mine.cast"), "not ours");
    const book = await scene.book();
    expect(book.list().map(({ id, isRecording }) => ({ id, isRecording }))).toEqual([
      { id: ONE, isRecording: false },
      { id: TWO, isRecording: false },
    ]);
    expect(outputOf(join(scene.folder, `${TWO}.cast`))).toBe("whole");
    expect(readdirSync(scene.folder).toSorted()).toEqual([`${ONE}.cast`, `${TWO}.cast`, "mine.cast"]);
    await book.remove(ONE);
    expect(readdirSync(scene.folder).toSorted()).toEqual([`${TWO}.cast`, "mine.cast"]);
    await expect(book.remove("../mine")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("the oldest make room, and those of more than 30 days go", async () => {
    await using scene = new Scene();
    const text = `${JSON.stringify([0.1, "o", "x".repeat(40_000)])}\n`;
    for (const id of [ONE, TWO, THREE]) scene.old(id, text);
    const book = await scene.book(150_000);
    const pane = await scene.pane();
    expect(book.list()).toHaveLength(3);
    const first = await book.start(scene.request(pane));
    expect(book.list().map(({ id }) => id)).toEqual([TWO, THREE, first.id]);
    // What is under way is never removed for another one.
    await book.start(scene.request(pane));
    await expect(book.start(scene.request(pane))).rejects.toMatchObject({ code: "RESOURCE_LIMIT" });
    await book.close();
    scene.nowUnixMs += 31 * DAY_MS;
    expect((await scene.book()).list()).toEqual([]);
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
  const book = await scene.book();
  expect(book.list()).toEqual([]);
  expect([readFileSync(elsewhere, "utf8"), readdirSync(scene.folder).length]).toEqual([before, 2]);

  // One that takes the place of a recording that is known.
  rmSync(path);
  renameSync(elsewhere, path);
  const known = await scene.book();
  expect(known.list()).toMatchObject([{ id }]);
  writeFileSync(elsewhere, "somebody's secret");
  rmSync(path);
  symlinkSync(elsewhere, path);
  await expect(recordingResponse({ recordings: known }, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
});
