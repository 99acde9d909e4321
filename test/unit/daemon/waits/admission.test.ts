import { expect, test } from "vitest";
import { Admission } from "../../../../daemon/waits/admission.ts";
import { DEFAULT_WAIT_LIMITS } from "../../../../daemon/waits/waitLimits.ts";
import type { WaitRequest } from "../../../../daemon/waits/waitRequest.ts";
import { heldBy } from "../../../support/daemon/heapBytes.ts";
import { MemorySource } from "../../../support/daemon/memorySource.ts";
import { errorOf, literal, outcomeOf, re2Done, regex, turns, waitBench } from "./waitFixture.ts";

const limitOf = async (wait: Promise<unknown>): Promise<unknown> => {
  const error = await errorOf(wait);
  return [error.code, error.details?.["limit"]];
};

test("limits on waits in all, on one target, and on regexes, each at once and with nothing left behind", async () => {
  const { source, waits } = waitBench({ maxGlobal: 4, maxPerTarget: 3, maxRegexPerTarget: 1, regexSoftLimit: 1 });
  const other = new MemorySource({ id: "%1" });
  void waits.wait(source, regex("x"));
  expect(await limitOf(waits.wait(source, regex("y")))).toEqual(["RESOURCE_LIMIT", "WAIT_MAX_REGEX_PER_TARGET"]);
  void waits.wait(source, literal("y"));
  void waits.wait(source, literal("z"));
  expect(await limitOf(waits.wait(source, literal("z")))).toEqual(["RESOURCE_LIMIT", "WAIT_MAX_PER_TARGET"]);
  void waits.wait(other, regex("x"));
  expect(await limitOf(waits.wait(other, literal("z")))).toEqual(["RESOURCE_LIMIT", "WAIT_MAX_GLOBAL"]);
  expect(waits.metrics()).toMatchObject({ wait_active: 4, wait_active_regex: 2, wait_resource_limit_total: 3 });
  waits.close();
  expect(waits.metrics().wait_active).toBe(0);
});

test.each([
  ["WAIT_MAX_GLOBAL", { maxGlobal: 8, maxPerTarget: 8 }],
  ["WAIT_MAX_PER_TARGET", { maxGlobal: 80, maxPerTarget: 8 }],
])("under load regexes are refused first, literals keep their places: %s", async (limit, limits) => {
  const { source, waits } = waitBench({ ...limits, regexSoftLimit: 0.5 });
  for (let index = 0; index < 4; index++) void waits.wait(source, literal(`${index}`));
  expect(await limitOf(waits.wait(source, regex("x")))).toEqual(["RESOURCE_LIMIT", `${limit} for regexes`]);
  expect(await outcomeOf(waits.wait(source, literal("x")))).toBe("pending");
});

test("a place is free again whatever ended its wait", async () => {
  const { source, waits, clock } = waitBench({ maxGlobal: 1, maxPerTarget: 1, maxRegexPerTarget: 1 });
  source.write("x");
  await waits.wait(source, { ...literal("x"), from: { kind: "tail", lines: 1 } });
  expect((await errorOf(waits.wait(source, regex("(")))).code).toBe("INVALID_ARGUMENT");
  let fail = (): void => undefined;
  const sent = waits.sendAndWait(
    source,
    regex("never"),
    () => new Promise((_resolve, reject) => (fail = () => reject(new Error("not sent")))),
  );
  expect(await limitOf(waits.wait(source, literal("x")))).toEqual(["RESOURCE_LIMIT", "WAIT_MAX_GLOBAL"]);
  await turns();
  fail();
  await expect(sent).rejects.toThrow("not sent");
  const late = waits.wait(source, literal("y"));
  clock.advanceMs(30_000);
  expect((await errorOf(late)).code).toBe("TIMEOUT");
  expect(waits.metrics()).toMatchObject({ wait_active: 0, wait_active_regex: 0 });
});

test("a send that cannot begin its wait takes no regex from a wait that shares it", async () => {
  const { source, waits } = waitBench();
  const other = waits.wait(source, regex("ab+c"));
  const position = { epoch: source.epoch, outputSeq: source.outputSeq + 1 };
  const ahead: WaitRequest = { ...regex("ab+c"), from: { kind: "position", position } };
  const send = async (beforeWrite: () => void): Promise<void> => beforeWrite();
  expect((await errorOf(waits.sendAndWait(source, ahead, send))).code).toBe("INVALID_ARGUMENT");
  await re2Done(waits);
  source.write("xabbc\n");
  await turns();
  await re2Done(waits);
  expect(await outcomeOf(other)).toMatchObject({ matched: [{ text: "abbc" }] });
});

test.each<[string, WaitRequest, string]>([
  ["an empty pattern", literal(""), "INVALID_ARGUMENT"],
  ["no alternative", { anyOf: [] }, "INVALID_ARGUMENT"],
  ["an empty alternative", { anyOf: [{}] }, "INVALID_ARGUMENT"],
  ["a negative time", { stableSec: -1 }, "INVALID_ARGUMENT"],
  ["no time at all", { ...literal("a"), timeoutMs: 0 }, "INVALID_ARGUMENT"],
  ["tail of no lines", { ...literal("a"), from: { kind: "tail", lines: 0 } }, "INVALID_ARGUMENT"],
  ["a tail that is no number", { ...literal("a"), from: { kind: "tail", lines: 1.5 } }, "INVALID_ARGUMENT"],
  ["a regex too costly", regex("(?:.{1,30}){1,30}"), "RESOURCE_LIMIT"],
  ["too long a pattern", literal("x".repeat(4_097)), "RESOURCE_LIMIT"],
  ["too long a time", { ...literal("a"), timeoutMs: 3_600_001 }, "RESOURCE_LIMIT"],
  ["too many predicates", { anyOf: Array.from({ length: 33 }, () => ({ exit: true })) }, "RESOURCE_LIMIT"],
])("%s is refused at once", async (_what, request, code) => {
  const { source, waits } = waitBench();
  expect((await errorOf(waits.wait(source, request))).code).toBe(code);
  const refused = Number(code === "RESOURCE_LIMIT");
  expect(waits.metrics()).toMatchObject({ wait_active: 0, wait_resource_limit_total: refused });
  expect(source.listeners).toBe(0);
});

test("the longest pattern, timeout and limits far above the defaults are accepted", async () => {
  const { source, waits } = waitBench({ maxGlobal: 20_000, maxPerTarget: 20_000 });
  const long = waits.wait(source, { ...literal("\u00e9".repeat(2_048)), timeoutMs: 3_600_000 });
  for (let index = 0; index < 10_000; index++) void waits.wait(source, literal(`wait ${index}`));
  expect(waits.metrics().wait_active).toBe(10_001);
  source.write("\u00e9".repeat(2_048));
  expect((await long).matched[0]?.text).toHaveLength(2_048);
});

test("a share's pattern may be longer than the process's, and is found wherever output is cut", async () => {
  const { source, waits } = waitBench();
  void waits.wait(source, literal("never")).catch(() => undefined);
  const long = "0123456789".repeat(3_000);
  const wait = waits.share({ maxPatternBytes: long.length }).wait(source, literal(long));
  for (let at = 0; at < long.length; at += 1_000) {
    source.write(long.slice(at, at + 1_000));
    await turns(1);
  }
  expect(await outcomeOf(wait)).toMatchObject({
    matched: [{ from: { outputSeq: 0 }, to: { outputSeq: long.length } }],
  });
});

test("a pattern that is checked takes nothing", async () => {
  const { waits } = waitBench();
  for (const compiled of [1, 2]) {
    await waits.checkPattern({ kind: "regex", text: "(?P<re2>x)" });
    expect(waits.metrics()).toMatchObject({ wait_regex_compiles_total: compiled, wait_active: 0 });
  }
  await waits.checkPattern({ kind: "literal", text: "(" });
  expect(await limitOf(waits.checkPattern({ kind: "literal", text: "x".repeat(4_097) }))).toEqual([
    "RESOURCE_LIMIT",
    "pattern bytes",
  ]);
});

test("a share has limits of its own, and takes places of the process, which are raised for it", async () => {
  const { source, waits } = waitBench({ maxGlobal: 2, maxPerTarget: 2, maxRegexPerTarget: 1, regexSoftLimit: 1 });
  const small = waits.share({ maxGlobal: 1 });
  const large = waits.share({ maxGlobal: 4, maxPerTarget: 3, maxRegexPerTarget: 2 });
  void small.wait(source, regex("x")).catch(() => undefined);
  expect(await limitOf(small.wait(source, literal("x")))).toEqual(["RESOURCE_LIMIT", "WAIT_MAX_GLOBAL"]);
  void large.wait(source, regex("y")).catch(() => undefined);
  expect(await limitOf(large.wait(source, regex("z")))).toEqual(["RESOURCE_LIMIT", "WAIT_MAX_REGEX_PER_TARGET"]);
  void large.wait(source, literal("y")).catch(() => undefined);
  expect(await limitOf(large.wait(source, literal("z")))).toEqual(["RESOURCE_LIMIT", "WAIT_MAX_PER_TARGET"]);
  void waits.wait(new MemorySource({ id: "%1" }), literal("x")).catch(() => undefined);
  expect(await limitOf(waits.wait(source, literal("x")))).toEqual(["RESOURCE_LIMIT", "WAIT_MAX_GLOBAL"]);
  // What was refused has taken nothing.
  source.write("xy");
  await turns();
  expect(waits.metrics()).toMatchObject({ wait_active: 1, wait_active_regex: 0 });
  expect(await limitOf(waits.share({}, true).wait(source, regex("x")))).toEqual([
    "UNSUPPORTED_PATTERN_ENGINE",
    undefined,
  ]);
});

test("without RE2 regexes are refused and literals are not", async () => {
  const { source, waits } = waitBench({}, { disableRegex: true });
  const error = await errorOf(waits.wait(source, regex("x")));
  expect(error.code).toBe("UNSUPPORTED_PATTERN_ENGINE");
  expect(waits.metrics().wait_active).toBe(0);
  const wait = waits.wait(source, literal("x"));
  source.write("x");
  expect((await wait).matched[0]?.text).toBe("x");
});

test.each<[string, WaitRequest]>([
  ["a literal", literal("ab".repeat(20))],
  ["a regex", regex("(?:ab)+$")],
  ["a prompt", { prompt: true }],
])("%s is cut in the result, not in the match", async (_what, request) => {
  const { source, waits, clock } = waitBench({ maxMatchBytes: 8 });
  const wait = waits.wait(source, request);
  await re2Done(waits);
  source.write(`${"ab".repeat(20)}${request.prompt === true ? "$ " : ""}`);
  await turns();
  await re2Done(waits);
  clock.advanceMs(31);
  expect((await wait).matched).toMatchObject([{ text: "abababab" }]);
});

test("a place that is given back twice is given back once", () => {
  const active = { wait_active: 0, wait_active_regex: 0 };
  const admission = new Admission({ ...DEFAULT_WAIT_LIMITS, maxPerTarget: 2 }, active);
  const target = {};
  const [leave] = [admission.enter(target, true), admission.enter(target, false)];
  leave();
  leave();
  expect(active).toEqual({ wait_active: 1, wait_active_regex: 0 });
  admission.enter(target, false);
  expect(() => admission.enter(target, false)).toThrow(expect.objectContaining({ code: "RESOURCE_LIMIT" }));
});

test("nothing is held of a target that nobody waits on any more", () => {
  const admission = new Admission({ ...DEFAULT_WAIT_LIMITS }, { wait_active: 0, wait_active_regex: 0 });
  const held = heldBy(() => {
    for (let round = 0; round < 20_000; round += 1) admission.enter({ round }, false)();
  });
  expect(held).toBeLessThan(500_000);
  admission.enter({}, false)();
});
