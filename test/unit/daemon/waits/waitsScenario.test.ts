/**
 * Thousands of waits over everything that has fooled polling clients: stale screens, the own echo, cleared and scrolled
 * text, split chunks and split characters. Each scene knows by construction where the one true match is, if there is one.
 */
import { expect, test } from "vitest";
import { WaitManager } from "../../../../daemon/waits/waitManager.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";
import { MemorySource } from "../../../support/daemon/memorySource.ts";

/** A small seeded generator (mulberry32): every run is the same. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Scene {
  /** Output before the wait. */
  readonly before: string;
  readonly typed: string | undefined;
  /** Output after it, and where in it the match is: -1 when there is none. */
  readonly after: string;
  readonly at: number;
}

type Random = () => number;
const pick = <Value>(random: Random, values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value;

const noise = (random: Random, word: string): string =>
  Array.from({ length: Math.floor(random() * 8) }, () =>
    pick(random, [
      "compiling \u65e5\u672c\u8a9e\r\n",
      "\x1b[32mok\x1b[0m \u{1f600}\r\n",
      `${word.slice(0, -1)} \r\n`,
      `\x1b]0;${word}\x07`,
      `${word.slice(0, 2)}\x1b[2J\x1b[H${word.slice(2)}`,
      "progress 50%\rprogress 60%\r\n",
      `${word.slice(1)}\r\n`,
    ]),
  ).join("");

function scene(random: Random, word: string): Scene {
  const prompt = pick(random, ["$ ", "\x1b[?2004huser@box:~$ ", "\x1b[1;32m>\x1b[0m "]);
  const isEditor = prompt.includes("2004");
  const before = noise(random, word) + (random() < 0.5 ? `${word}\r\n` : "") + prompt;
  const isTyped = random() < 0.6;
  const command = `run ${word} ${Math.floor(random() * 100)}`;
  // Half the time the echo is there, in one of its shapes; else the program reads without echo.
  const shape = isTyped ? pick(random, ["plain", "none", "redraw", "coloured", "doubled"]) : "none";
  const start = isEditor ? "\x1b[?2004l\r" : "";
  const echoes: Readonly<Record<string, string>> = {
    plain: `${command}\r\n${start}`,
    none: "",
    redraw: `\r\x1b[K${prompt.replace("\x1b[?2004h", "")}${command}\r\n${start}`,
    coloured: `\x1b[1mrun\x1b[0m ${word}${command.slice(4 + word.length)}\r\n${start}`,
    doubled: isEditor ? `${command}\r\n${start}` : `${command}\r\n\x1b[?2004huser$ ${command}\r\n\x1b[?2004l\r`,
  };
  const lead = (echoes[shape] ?? "") + noise(random, word);
  const isMatch = random() < 0.7;
  const after = lead + (isMatch ? pick(random, ["", "result: ", "\x1b[31m"]) : "");
  const body = isMatch ? `${word} it is\r\n` : "";
  return {
    before,
    typed: isTyped ? `${command}\r` : undefined,
    after: after + body + noise(random, word) + pick(random, ["", prompt]),
    at: isMatch ? Buffer.byteLength(after) : -1,
  };
}

/** Random chunks, cut inside characters and sequences. */
function chunksOf(random: Random, output: string): Buffer[] {
  const bytes = Buffer.from(output);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = 1 + Math.floor(random() * pick(random, [2, 10, 200]));
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}

test("10,000 waits: no false match and no miss", { timeout: 60_000 }, async () => {
  const random = seeded(20_261_120);
  const clock = new FakeClock();
  const waits = new WaitManager({ clock, limits: { maxGlobal: 20_000, maxPerTarget: 20_000 } });
  const wrong: unknown[] = [];
  let matches = 0;
  for (let round = 0; round < 500; round++) {
    const word = `MARK${round}x`;
    const { before, typed, after, at } = scene(random, word);
    const source = new MemorySource({ id: `%${round}`, ringBytes: 65_536 });
    source.write(before);
    await Promise.resolve();
    const head = source.outputSeq;
    const excludeEcho = typed === undefined ? undefined : Buffer.from(typed);
    const outcomes: number[] = [];
    // Twenty waits on each pane: for the word, for words that share its letters, and alternatives of both.
    for (let index = 0; index < 20; index++) {
      const text = index < 10 ? word : `${word} it`;
      const wait = waits.wait(source, { pattern: { kind: "literal", text }, excludeEcho, timeoutMs: 10_000 });
      outcomes[index] = -1;
      wait.then(
        (result) => (outcomes[index] = (result.matched[0]?.from?.outputSeq ?? 0) - head),
        () => undefined,
      );
    }
    for (const chunk of chunksOf(random, after)) {
      source.write(chunk);
      if (random() < 0.7) await Promise.resolve();
    }
    await new Promise<void>((resolve) => setImmediate(resolve));
    clock.advanceMs(20_000);
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (at >= 0) matches++;
    if (outcomes.some((outcome) => outcome !== at))
      wrong.push({ round, before, typed, after, at, outcomes: [...new Set(outcomes)] });
  }
  expect(wrong).toEqual([]);
  // The scenes are no use when they are all of one kind.
  expect(matches).toBeGreaterThan(250);
  expect(matches).toBeLessThan(450);
  expect(waits.metrics().wait_active).toBe(0);
  expect(waits.metrics().wait_started_total).toBe(10_000);
  waits.close();
});
