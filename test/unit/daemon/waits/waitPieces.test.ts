/** Text that arrives in pieces or is rewritten where it stands: what a wait finds in it as output comes. */
import { expect, test } from "vitest";
import { MemorySource } from "../../../support/daemon/memorySource.ts";
import { literal, outcomeOf, re2Done, regex, turns, waitBench } from "./waitFixture.ts";

const TEXT = "a\u017c\u{1f600}b";
const BYTES = Buffer.from(TEXT);

test.each([
  ["a literal", literal(TEXT)],
  ["a regex", regex("a\u017c.b")],
])("%s is matched wherever its UTF-8 is cut between writes", async (_kind, request) => {
  const { waits } = waitBench();
  for (let cut = 1; cut < BYTES.length; cut += 1) {
    const source = new MemorySource({ id: `%${cut}` });
    const wait = waits.wait(source, request);
    await re2Done(waits);
    source.write(BYTES.subarray(0, cut));
    expect(await outcomeOf(wait)).toBe("pending");
    await re2Done(waits);
    source.write(BYTES.subarray(cut));
    source.write("\r\n");
    const [match] = (await wait).matched;
    expect([cut, match?.text, match?.from?.outputSeq, match?.to?.outputSeq]).toEqual([cut, TEXT, 0, BYTES.length]);
  }
});

test.each([
  ["a literal ends in a byte that is no UTF-8", literal("a\ufffd"), [0x61, 0xff]],
  ["a regex ends in a byte that is no UTF-8", regex("a\\x{fffd}"), [0x61, 0xff]],
  ["a literal ends in a character that is not finished", literal("a\ufffd"), [0x61, 0xe2, 0x82, 0x1b]],
  ["a literal ends in a line end without CR", literal("a\n"), [0x61, 0x0a]],
  ["a regex ends in a line end without CR", regex("a\\s"), [0x61, 0x0a]],
  ["a literal ends in CR LF", literal("a\n"), [0x61, 0x0d, 0x0a]],
])("where %s its match does, and a wait from there misses nothing", async (_what, request, bytes) => {
  const { source, waits } = waitBench();
  const wait = waits.wait(source, request);
  source.write(Buffer.from(bytes));
  const position = (await wait).matched[0]!.to!;
  expect(position.outputSeq).toBe(bytes.at(-1) === 0x1b ? bytes.length - 1 : bytes.length);
  source.write("[0mDONE");
  const next = waits.wait(source, { ...literal("DONE"), from: { kind: "position", position } });
  expect((await next).matched[0]?.from?.outputSeq).toBe(source.outputSeq - 4);
});

test("a line rewritten with BS: what each writing says is matched, the whole line as it looks is not in the output", async () => {
  const { source, waits, clock } = waitBench();
  const waiting = [waits.wait(source, literal("20%")), waits.wait(source, regex("[2]0%"))];
  const looks = waits.wait(source, { ...literal("done 20%"), timeoutMs: 1_000 });
  await turns();
  await re2Done(waits);
  source.write("done 10%");
  expect(await outcomeOf(Promise.race(waiting))).toBe("pending");
  source.write("\b\b\b20%");
  for (const wait of waiting) expect((await wait).matched[0]?.from?.outputSeq).toBe(11);
  expect(await outcomeOf(looks)).toBe("pending");
  clock.advanceMs(1_000);
  expect(await outcomeOf(looks)).toMatchObject({ code: "TIMEOUT" });
});

test.each(["(?:error|failed): .*done", "(?:failed|error): .*done"])(
  "%s is matched in whichever line of one write a literal of it stands, and where that goes on later",
  async (text) => {
    const { source, waits } = waitBench();
    const shown = async (...writes: readonly string[]): Promise<unknown> => {
      const wait = waits.wait(source, regex(text));
      for (const write of writes) {
        source.write(write);
        await turns();
      }
      return outcomeOf(wait);
    };
    const match = (found: string): object => ({ matched: [{ text: found }] });
    expect(await shown("failed: done\r\nerror: no\r\n")).toMatchObject(match("failed: done"));
    expect(await shown("failed: no\r\nerror: not yet", ", but done\r\n")).toMatchObject(
      match("error: not yet, but done"),
    );
  },
);

test.each(["[xy]", "(?P<re2>[xy])"])(
  "a single byte of output is enough for %s, which costs no job after that",
  async (text) => {
    const { source, waits } = waitBench();
    void waits.wait(source, { ...regex(text), exit: true }).catch(() => undefined);
    await turns();
    await re2Done(waits);
    source.write("x");
    const quiet = waits.wait(source, literal("y"));
    await turns();
    await re2Done(waits);
    const { wait_regex_jobs_total: jobs } = waits.metrics();
    source.write("y");
    expect((await quiet).matched).toHaveLength(1);
    source.gap(1);
    await turns();
    expect(waits.metrics().wait_regex_jobs_total).toBe(jobs);
  },
);

/** More than one job of it, on one line. */
const LONG = "x".repeat(32_764);

test.each([
  ["over the end of the first", "N+EEDLE", `${LONG}NNEEDLE${"y".repeat(5_000)}`, "NNEEDLE"],
  ["behind it", "N+EEDLE", `${LONG}${"y".repeat(5_000)}NNEEDLE\n`, "NNEEDLE"],
  ["in a line of its own", "^N+EEDLE$", `${LONG}y\n${"y\n".repeat(20_000)}NNEEDLE\n`, "NNEEDLE"],
  ["up to a line end that is the last byte", "z+\\n", `${LONG}${"y".repeat(5_000)}z\n`, "z\n"],
  ["but a job begins no line", "^x+y", `${LONG}xxxx${"y".repeat(5_000)}\n`, undefined],
  ["but characters are whole", "[^x\\u00e9\\n]", `${LONG}xxx${"\u00e9".repeat(5_000)}\n`, undefined],
])("text of several jobs is searched %s, by RE2 and by itself before a gap too", async (_where, short, text, match) => {
  for (const [pattern, isGap] of [
    [short, false],
    [`(?P<re2>${short})`, false],
    [`(?P<re2>${short})`, true],
  ] as const) {
    const { source, waits } = waitBench();
    const wait = waits.wait(source, regex(pattern));
    source.write(text);
    // RE2's thread is still starting: what it has not judged before the gap is searched by itself.
    await turns(1);
    if (isGap) source.gap(10);
    if (match !== undefined) {
      const from = { epoch: "e1", outputSeq: Buffer.from(text).indexOf(match) };
      expect((await wait).matched).toMatchObject([{ text: match, from }]);
      continue;
    }
    for (let job = 0; job < 4; job += 1) {
      await turns();
      await re2Done(waits);
    }
    expect(await outcomeOf(wait)).toBe("pending");
    // A job is bounded, that of a stretch by itself too.
    expect(waits.metrics().wait_regex_jobs_total).toBeGreaterThan(isGap ? 2 : 1);
  }
});
