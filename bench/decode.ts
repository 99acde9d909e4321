/**
 * How fast control-mode bytes become pane output, by kind of text: the whole parser into a ring, against the same done
 * with strings (latin1 text, `split`, `replace`), and against cutting the stream into lines and nothing else. Rates count
 * decoded bytes, so that kinds compare with what tmux delivers (8–17 MB/s, docs/performanceFacts.md).
 */
import { fileURLToPath } from "node:url";
import { OutputRing } from "../daemon/panes/outputRing.ts";
import { LineSplitter } from "../protocol/control/lines.ts";
import { decodeOctal } from "../protocol/control/octal.ts";
import { encodeOctal } from "./encodeOctal.ts";
import { ControlParser } from "../protocol/control/parser.ts";
import { check, compare, type Contender, type Emit, type RunBench } from "./figures.ts";

const DECODED_BYTES = 4_000_000;
/** Decoded bytes per `%output` line: what tmux sends a reader that keeps up. */
const LINE_BYTES = 1_024;
/** What one read of a pipe or pty brings at most. */
const CHUNK_BYTES = 65_536;
const RETAIN_BYTES = 524_288;
const TURNS = { rounds: 9, perRound: 1, warmUp: 2 };

/** A pseudo-random sequence that is the same in every run. */
function* random(): Generator<number> {
  for (let state = 1; ;) {
    state = (state * 48_271) % 2_147_483_647;
    yield state;
  }
}

const WORDS = "the quick brown fox jumps over a lazy dog while it compiles main.c and links lib/foo.o".split(" ");
const UTF8_WORDS = "größe naïve 東京 λόγος привет 🙂 café Ελλάδα ─── │ █ 漢字 emoji 👍 ok".split(" ");

const word = (words: readonly string[], value: number): string => words[value % words.length]!;

/** One terminal line of each kind. */
const KINDS: Readonly<Record<string, (next: () => number) => Uint8Array>> = {
  text: (next) => Buffer.from(`${Array.from({ length: 12 }, () => word(WORDS, next())).join(" ")}\r\n`),
  yes: () => Buffer.from("y\r\n"),
  sgr: (next) =>
    Buffer.from(
      `${Array.from({ length: 8 }, () => `\u001b[3${next() % 8}m${word(WORDS, next())}\u001b[0m`).join(" ")}\r\n`,
    ),
  utf8: (next) => Buffer.from(`${Array.from({ length: 12 }, () => word(UTF8_WORDS, next())).join(" ")}\r\n`),
  binary: (next) => Uint8Array.from({ length: 97 }, () => next() >> 3),
};

interface Sample {
  readonly chunks: readonly Uint8Array[];
  readonly lines: number;
}

function sampleOf(line: (next: () => number) => Uint8Array): Sample {
  const numbers = random();
  const next = (): number => numbers.next().value as number;
  const plain = new Uint8Array(DECODED_BYTES);
  for (let at = 0; at < plain.length;) {
    const made = line(next).subarray(0, plain.length - at);
    plain.set(made, at);
    at += made.length;
  }
  const parts: Uint8Array[] = [];
  for (let at = 0; at < plain.length; at += LINE_BYTES) {
    parts.push(Buffer.from("%output %1 "), encodeOctal(plain.subarray(at, at + LINE_BYTES)), Buffer.from("\n"));
  }
  const wire = Buffer.concat(parts);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < wire.length; at += CHUNK_BYTES)
    chunks.push(new Uint8Array(wire.subarray(at, at + CHUNK_BYTES)));
  return { chunks, lines: parts.length / 3 };
}

/**
 * MB/s of decoded bytes, by processor time: the work is one thread's and waits for nothing, so what else the machine does
 * need not count.
 */
function rate(work: () => void): Promise<number> {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return Promise.resolve(DECODED_BYTES / (user + system));
}

const decodeIntoRing = (sample: Sample): Contender => ({
  name: "parser into a ring",
  sample: () =>
    rate(() => {
      const ring = new OutputRing(RETAIN_BYTES);
      const parser = new ControlParser({
        output: (_pane, line, from, to) => {
          const { buffer, at } = ring.reserve(to - from);
          ring.commit(decodeOctal(line, from, to, buffer, at) - at);
        },
        expect: () => undefined,
        block: () => undefined,
        notification: () => undefined,
      });
      for (const chunk of sample.chunks) parser.push(chunk);
      check(ring.headSeq === DECODED_BYTES, "the parser lost output");
    }),
});

const frameOnly = (sample: Sample): Contender => ({
  name: "lines only",
  sample: () =>
    rate(() => {
      let lines = 0;
      const splitter = new LineSplitter(
        () => (lines += 1),
        () => undefined,
      );
      for (const chunk of sample.chunks) splitter.push(chunk);
      check(lines === sample.lines, "the splitter lost lines");
    }),
});

/** The straightforward way, correct for every byte. */
const decodeStrings = (sample: Sample): Contender => ({
  name: "strings",
  sample: () =>
    rate(() => {
      const ring = new OutputRing(RETAIN_BYTES);
      let carry = "";
      for (const chunk of sample.chunks) {
        const lines = (carry + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("latin1")).split(
          "\n",
        );
        carry = lines.pop() ?? "";
        for (const line of lines) {
          const data = /^%output %\d+ ([^]*)$/.exec(line)?.[1];
          if (data === undefined) continue;
          const text = data.replace(/\\([0-3][0-7]{2})/g, (_all, digits: string) =>
            String.fromCharCode(Number.parseInt(digits, 8)),
          );
          ring.append(Buffer.from(text, "latin1"));
        }
      }
      check(ring.headSeq === DECODED_BYTES, "the strings lost output");
    }),
});

/** Emits, for each kind of text, the parser against strings and against lines only. */
export const run: RunBench = (emit) => decodeFigures(emit);

async function decodeFigures(emit: Emit): Promise<void> {
  for (const [kind, line] of Object.entries(KINDS)) {
    const sample = sampleOf(line);
    const contenders = [decodeIntoRing(sample), decodeStrings(sample), frameOnly(sample)] as const;
    await compare({ bench: "decode", figure: kind, unit: "MB/s" }, contenders, TURNS, emit);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await decodeFigures((figure) => process.stdout.write(`${JSON.stringify(figure)}\n`));
}
