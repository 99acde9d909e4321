import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { patternProblem, sendAndMatch, waitPatternOf } from "../../../../adapters/addin/addinWaits.ts";
import { clientGone } from "../../../../adapters/kit/guard/requestAbort.ts";
import { PaneStream } from "../../../../daemon/panes/paneStream.ts";
import { systemClock } from "../../../../daemon/time/clock.ts";
import { WaitManager } from "../../../../daemon/waits/waitManager.ts";

let waits: WaitManager;

beforeAll(() => {
  waits = new WaitManager({ clock: systemClock });
});

afterAll(() => waits.close());

describe("waitPatternOf", () => {
  test.each(["ready", "a b", "100%", "x-y_z:", 'say "hi"', "é😀"])("%s is its own text", (text) => {
    expect(waitPatternOf(text)).toEqual({ kind: "literal", text });
  });
  test.each(["^a", "a$", "a.b", "a|b", "a?", "a*", "a+", "(a)", "[a]", "a{2}", "\\d"])("%s is a regex", (text) => {
    expect(waitPatternOf(text)).toEqual({ kind: "regex", text });
  });
});

describe("patternProblem", () => {
  test.each(["plain", "^(a+)+$", "[[:alpha:]]+", "(?<name>x)", "(?i)x"])("%s has none", async (pattern) => {
    expect(await patternProblem(waits, pattern)).toBeUndefined();
  });
  test.each(["(?=x)", "(?!x)", "(?<=x)", "(a)\\1", "(", "[", "*", "a{1000}{1000}"])("%s has one", async (pattern) => {
    expect(await patternProblem(waits, pattern)).toMatch(/^[^\n]+$/);
  });
  test("an engine that is not there is no fault of the pattern", async () => {
    const without = new WaitManager({ clock: systemClock, disableRegex: true });
    await expect(patternProblem(without, "a.b")).rejects.toMatchObject({ code: "UNSUPPORTED_PATTERN_ENGINE" });
    without.close();
  });
});

describe("sendAndMatch", () => {
  const stream = (): PaneStream =>
    new PaneStream({ id: "%1", epoch: "e", retainBytes: 65_536, onListenerError: () => undefined });
  const write = (source: PaneStream, text: string): void => {
    source.take(new TextEncoder().encode(text));
    source.announce();
  };
  const request = (pattern: string, signal = new AbortController().signal) => ({
    pattern,
    timeoutMs: 5_000,
    excludeEcho: undefined,
    screen: undefined,
    signal,
  });

  test.each(["done", "d.ne"])(
    "%s: what was there before the write does not count, what comes after does",
    async (pattern) => {
      const source = stream();
      write(source, "done before\n");
      const matched = sendAndMatch(waits, source, request(pattern), async (beforeWrite) => {
        write(source, "done too early\n");
        beforeWrite();
        setImmediate(() => write(source, "and now dine\n"));
        setImmediate(() => write(source, pattern === "done" ? "really done\n" : ""));
      });
      expect(await matched).toEqual({ kind: "matched", text: pattern === "done" ? "done" : "dine" });
    },
  );

  test("a client that goes frees the wait", async () => {
    const source = stream();
    const client = new AbortController();
    const matched = sendAndMatch(waits, source, request("never", client.signal), async (beforeWrite) => beforeWrite());
    await expect.poll(() => waits.metrics().wait_active).toBe(1);
    client.abort(clientGone());
    await expect(matched).rejects.toMatchObject({
      code: "CANCELLED",
      message: "the client closed the connection",
    });
    expect(waits.metrics().wait_active).toBe(0);
  });
});
