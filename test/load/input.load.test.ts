/** Input at length: every code point, a megabyte of each kind, a hundred callers at once. */
import { expect, test } from "vitest";
import { concurrentLines, randomBytes, typed, typeInShortJobs, unicodeText } from "../support/tmux/inputScenarios.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { ByteSink } from "../support/tmux/panePrograms.ts";
import { report, sinceMs } from "../support/daemon/loadReport.ts";

test("every code point by send-keys", async () => {
  await using fixture = await ownedFixture();
  const sink = await ByteSink.start(fixture.server, fixture.socket.directory, "unicode");
  const bytes = unicodeText(1);
  const startMs = performance.now();
  const equal = (await typeInShortJobs(fixture.server, sink, bytes)).equals(bytes);
  report("input.unicode", { bytes: bytes.length, equal, ms: sinceMs(startMs) });
  expect(equal).toBe(true);
});

test.each([
  ["random", randomBytes(1_048_576)],
  ["text", Buffer.alloc(1_048_576, "für 漢字; $(x) \"q\" 'q' #{y}\n")],
  ["NUL", Buffer.alloc(1_048_576)],
])("1 MiB of %s", async (kind, bytes) => {
  await using fixture = await ownedFixture();
  const sink = await ByteSink.start(fixture.server, fixture.socket.directory, "megabyte");
  const startMs = performance.now();
  const equal = (await typed(fixture.server, sink, bytes, 0)).equals(bytes);
  report("input.megabyte", { kind, equal, ms: sinceMs(startMs) });
  expect(equal).toBe(true);
});

test.each([0, 1_000_000])("100 concurrent lines, a paste of %i bytes among them", async (pasteBytes) => {
  await using fixture = await ownedFixture();
  const sink = await ByteSink.start(fixture.server, fixture.socket.directory, "lines");
  const startMs = performance.now();
  const { lines, expected } = await concurrentLines(fixture.server, sink, 100, pasteBytes);
  const intact = lines.filter((line, index) => line === expected[index]).length;
  report("input.concurrent", { pasteBytes, lines: lines.length, intact, ms: sinceMs(startMs) });
  expect(intact).toBe(100);
});
