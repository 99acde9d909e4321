import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AuditLog, type AuditedRequest } from "../../../../../adapters/freshell/relay/auditLog.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

let folder: string;
let audit: AuditLog;
let clock: FakeClock;
const open = (maxBytes?: number): AuditLog =>
  new AuditLog({ folder, nowUnixMs: () => 0, clock, log: silentLog, maxBytes });
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "freshell-audit-")), "audit");
  clock = new FakeClock();
  audit = open();
});
afterEach(() => {
  audit.close();
  rmSync(join(folder, ".."), { recursive: true, force: true });
});

const request = (requestId: string): AuditedRequest => ({
  requestId,
  callerDeviceId: "c",
  targetDeviceId: "t",
  command: "kill-pane",
});
const OK = { result: "ok", errorCode: null, stage: null } as const;
const path = (): string => join(folder, "remote-control.jsonl");
const ids = (file = path()): readonly string[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as AuditedRequest).requestId);

describe("F199", () => {
  test("the eight fields in their order, for their owner alone", () => {
    audit.end(request("r1"), { result: "error", errorCode: "NOT_FOUND", stage: "owner" });
    expect(readFileSync(path(), "utf8")).toBe(
      '{"requestId":"r1","callerDeviceId":"c","targetDeviceId":"t","command":"kill-pane","result":"error","errorCode":"NOT_FOUND","stage":"owner","timestamp":"1970-01-01T00:00:00.000Z"}\n',
    );
    expect([statSync(folder).mode & 0o777, statSync(path()).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test("the same line for a request that was noted before it was sent", () => {
    const noted = request('r"1\\');
    audit.begin(noted);
    audit.end(noted, OK);
    const line = JSON.parse(readFileSync(path(), "utf8")) as object;
    expect(Object.entries(line)).toEqual(Object.entries({ ...noted, ...OK, timestamp: "1970-01-01T00:00:00.000Z" }));
  });

  test("a file that was made broader is made narrow", () => {
    audit.close();
    writeFileSync(path(), "", { mode: 0o644 });
    audit = open();
    audit.end(request("r1"), OK);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  test("a torn last line is taken away, and the whole ones stay", () => {
    audit.end(request("r1"), OK);
    audit.close();
    appendFileSync(path(), '{"requestId":"torn","caller');
    audit = open();
    audit.end(request("r2"), OK);
    expect(ids()).toEqual(["r1", "r2"]);
  });

  test("what was begun and not ended by a killed daemon has a line after the next start, once", () => {
    for (const id of ["r1", "r2", "r3"]) audit.begin(request(id));
    // Not the objects that were begun: to the file they are alike, and this daemon does not live to clear its notes.
    audit.end(request("r2"), OK);
    audit.close();
    for (let start = 0; start < 2; start += 1) {
      audit = open();
      audit.close();
    }
    expect(ids()).toEqual(["r2", "r1", "r3"]);
    expect(readFileSync(path(), "utf8")).toMatch(/"r1".*"result":"error","errorCode":"INTERNAL_ERROR"/);
  });

  test("notes go once nothing is under way", () => {
    const requests = ["r1", "r2"].map(request);
    for (const each of requests) audit.begin(each);
    const notes = join(folder, "remote-control.begun");
    expect(ids(notes)).toEqual(["r1", "r2"]);
    audit.end(requests[0]!, OK);
    clock.advanceMs(1_000);
    expect(ids(notes)).toEqual(["r2"]);
    audit.end(requests[1]!, OK);
    clock.advanceMs(1_000);
    expect([statSync(notes).size, clock.pendingTimers]).toEqual([0, 0]);
  });

  test("ten files' worth: five are left, the newest without a number, no line is cut", () => {
    audit.close();
    audit = open(1_000);
    for (let count = 0; count < 100; count += 1) audit.end(request(`r${count}`), OK);
    expect(
      readdirSync(folder)
        .filter((name) => name.startsWith("remote-control.jsonl"))
        .toSorted(),
    ).toEqual(["remote-control.jsonl", ...[1, 2, 3, 4].map((at) => `remote-control.jsonl.${at}`)]);
    const kept = [4, 3, 2, 1].flatMap((at) => ids(`${path()}.${at}`)).concat(ids());
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, at) => `r${100 - kept.length + at}`));
    for (const at of [1, 2, 3, 4]) expect(statSync(`${path()}.${at}`).size).toBeLessThanOrEqual(1_000);
  });
});

describe("an audit that cannot be written", () => {
  test.each([
    ["its folder is a file", () => writeFileSync(folder, "")],
    ["its file is a folder", () => mkdirSync(path(), { recursive: true })],
    [
      "its notes lead elsewhere",
      () => {
        mkdirSync(folder);
        symlinkSync("/dev/full", join(folder, "remote-control.begun"));
      },
    ],
  ])("%s: a mutation is refused before it is sent, and goes once it is put right", (_what, spoil) => {
    audit.close();
    rmSync(folder, { recursive: true });
    spoil();
    audit = open();
    const error = expect.objectContaining({
      code: "INTERNAL_ERROR",
      details: expect.objectContaining({ cause: "audit" }) as unknown,
    }) as Error;
    expect(() => audit.begin(request("r1"))).toThrow(error);
    rmSync(folder, { recursive: true });
    clock.advanceMs(1_000);
    const second = request("r2");
    audit.begin(second);
    audit.end(second, OK);
    expect(ids()).toEqual(["r2"]);
  });
});
