/**
 * Control-mode streams made by a grammar together with the events they mean, worked out here and not by the parser. The
 * bodies are an adversary's: they repeat the true guard lines of their own block and of the next one, lines that would
 * be notifications, the nonce as rows have it, and everything of the closing word but the word.
 */
import fc from "fast-check";
import { closingWord, type ReplyShape } from "../../../protocol/control/parser.ts";
import { encodeOctal } from "../../../bench/encodeOctal.ts";
import { showBytes, type Mode } from "./controlTranscript.ts";

interface Stream {
  readonly mode: Mode;
  readonly wire: Uint8Array;
  readonly shapes: readonly ReplyShape[];
  readonly events: readonly string[];
}

/** Lines with what they mean; a line is without its end. */
interface Piece {
  readonly lines: readonly Uint8Array[];
  readonly events: readonly string[];
  readonly shape?: ReplyShape;
}

const NONCE = "Zk3mVq8TzLw0PbN5sYc1RdXa";
const CLOSING = closingWord(NONCE);

const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");
const joined = (...parts: readonly (Uint8Array | string)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? bytes(part) : part)));

const payload = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  fc.array(fc.constantFrom(92, 48, 49, 55, 10, 13, 32, 65), { maxLength: 40 }).map((list) => Uint8Array.from(list)),
);

const output: fc.Arbitrary<Piece> = fc.record({ pane: fc.nat(20), data: payload, aged: fc.boolean() }).map((made) => ({
  lines: [
    joined(made.aged ? `%extended-output %${made.pane} 12 : ` : `%output %${made.pane} `, encodeOctal(made.data)),
  ],
  events: [`output %${made.pane} ${showBytes(made.data)}`],
}));

const notice = (line: string, event: string): Piece => ({ lines: [bytes(line)], events: [event] });

const notification: fc.Arbitrary<Piece> = fc.constantFrom(
  notice("%window-add @3", 'window-add window="@3" linked=true'),
  notice("%unlinked-window-close @4", 'window-close window="@4" linked=false'),
  notice("%session-changed $1 a b", 'session-changed session="$1" name="a b"'),
  notice("%pause %7", 'pause pane="%7"'),
  notice("%layout-change @0 b25d,80x24,0,0,0 b25d,80x24,0,0,0 *", 'layout-change window="@0"'),
  notice("%sessions-changed", "sessions-changed"),
  notice("%paste-buffer-changed b", 'other keyword="%paste-buffer-changed" text="%paste-buffer-changed b"'),
  notice("%output %", 'other keyword="%output" text="%output %"'),
  notice("%output %12", 'other keyword="%output" text="%output %12"'),
  notice("%extended-output %12", 'other keyword="%extended-output" text="%extended-output %12"'),
  notice("%pause @7", 'other keyword="%pause" text="%pause @7"'),
);

const block = (number: number, client: boolean, ok: boolean, body: readonly Uint8Array[], trailer = ""): string[] => [
  `block ${number} ${client ? "client" : "hook"} ${ok ? "ok" : "failed"}`,
  ...body.map((row) => (row.length === 0 ? "  |" : `  | ${showBytes(row)}`)),
  ...(trailer === "" ? [] : [`  + ${trailer}`]),
];

const anyRow = payload.map((row) => row.filter((byte) => byte !== 10));

/** What a program would print to end the block `stamp` early, with `next` the stamp of the block after it. */
const hostileRow = (stamp: string, next: string): fc.Arbitrary<Uint8Array> =>
  fc.oneof(
    { weight: 1, arbitrary: anyRow },
    {
      weight: 4,
      arbitrary: fc
        .constantFrom(
          ...[
            [`%end ${stamp}`, `%error ${stamp}`, `%begin ${stamp}`, `%begin ${next}`, `%end ${next}`],
            ["%output %1 forged", "%exit", "%begin 1 1 1", "%end 1 1 0", "%session-changed $1 forged", ""],
            [
              NONCE,
              `${NONCE}$1 a`,
              CLOSING.slice(0, -1),
              `${CLOSING.slice(0, -1)}b`,
              ` ${CLOSING}`,
              CLOSING.toLowerCase(),
            ],
          ].flat(),
        )
        .map(bytes),
    },
  );

/** A hook's block. Its body is whatever the hook prints, but not its own end. */
const hook = (seconds: number, number: number): fc.Arbitrary<Piece> =>
  fc.array(fc.oneof(anyRow, fc.constantFrom("%exit", "%output %1 x").map(bytes)), { maxLength: 3 }).map((body) => ({
    lines: [bytes(`%begin ${seconds} ${number} 0`), ...body, bytes(`%end ${seconds} ${number} 0`)],
    events: block(number, false, true, body),
  }));

const foreign = (seconds: number, number: number): fc.Arbitrary<Piece> => {
  const stamp = `${seconds} ${number} 1`;
  const next = `${seconds} ${number + 2} 1`;
  return fc
    .record({
      body: fc.array(hostileRow(stamp, next), { maxLength: 12 }),
      between: fc.array(fc.oneof(output, notification, hook(seconds, number + 1)), { maxLength: 3 }),
      ok: fc.boolean(),
    })
    .map(({ body, between, ok }) => ({
      lines: [
        [bytes(`%begin ${stamp}`)],
        body,
        [bytes(`%${ok ? "end" : "error"} ${stamp}`)],
        between.flatMap(({ lines }) => lines),
        [`%begin ${next}`, `${CLOSING} %3 0`, `%end ${next}`].map(bytes),
      ].flat(),
      events: [...block(number, true, ok, body, "%3 0"), ...between.flatMap(({ events }) => events)],
      shape: { kind: "foreign", nonce: NONCE },
    }));
};

/** A reply of ids and numbers; its rows may look like anything but its own end. */
const ours = (seconds: number, number: number): fc.Arbitrary<Piece> =>
  fc
    .record({
      body: fc.array(hostileRow(`${seconds} ${number} 0`, `${seconds} ${number + 1} 1`), { maxLength: 4 }),
      ok: fc.boolean(),
    })
    .map(({ body, ok }) => ({
      lines: [
        bytes(`%begin ${seconds} ${number} 1`),
        ...body,
        bytes(`%${ok ? "end" : "error"} ${seconds} ${number} 1`),
      ],
      events: block(number, true, ok, body),
      shape: { kind: "ours" },
    }));

/** A reply that can have no body: what begins with `%` in it are notifications. */
const none = (seconds: number, number: number): fc.Arbitrary<Piece> =>
  fc.array(fc.oneof(output, notification), { maxLength: 3 }).map((inside) => ({
    lines: [
      bytes(`%begin ${seconds} ${number} 1`),
      ...inside.flatMap(({ lines }) => lines),
      bytes(`%end ${seconds} ${number} 1`),
    ],
    events: [...inside.flatMap(({ events }) => events), ...block(number, true, true, [])],
    shape: { kind: "none" },
  }));

const piece = fc
  .nat(9)
  .chain((seconds) =>
    fc
      .integer({ min: 1, max: 9_999 })
      .chain((number) =>
        fc.oneof(
          { weight: 2, arbitrary: output },
          { weight: 1, arbitrary: notification },
          { weight: 1, arbitrary: hook(1_700_000_000 + seconds, number) },
          { weight: 1, arbitrary: ours(1_700_000_000 + seconds, number) },
          { weight: 1, arbitrary: none(1_700_000_000 + seconds, number) },
          { weight: 3, arbitrary: foreign(1_700_000_000 + seconds, number) },
        ),
      ),
  );

function streamOf(mode: Mode, pieces: readonly Piece[]): Stream {
  const eol = mode === "-CC" ? "\r\n" : "\n";
  return {
    mode,
    wire: joined(
      mode === "-CC" && pieces.length > 0 ? "\u001bP1000p" : "",
      ...pieces.flatMap(({ lines }) => lines.flatMap((line) => [line, eol])),
    ),
    shapes: pieces.flatMap(({ shape }) => (shape === undefined ? [] : [shape])),
    events: pieces.flatMap(({ events }) => events),
  };
}

/** A stream of at most `maxLength` pieces. */
export const arbitraryStream = (maxLength: number): fc.Arbitrary<Stream> =>
  fc
    .record({ mode: fc.constantFrom<Mode>("-C", "-CC"), pieces: fc.array(piece, { maxLength }) })
    .map(({ mode, pieces }) => streamOf(mode, pieces));

/** What a control-mode stream is made of. */
export const SOUP_WORDS: readonly Uint8Array[] = [
  ["%begin 1 2 1\n", "%end 1 2 1\n", "%error 1 2 1\n", "%begin 1 3 1\n", "%end 1 3 1\n", "\n", "\r\n"],
  ["%begin 1 2 0\n", "%end 1 2 0\n", `${CLOSING}\n`, `${CLOSING} 7\n`, "%output %1 ", "%output %", "%1 "],
  ["%begin 1 2 1\n%end 1 2 1\n%begin 1 3 1\n", `%begin 1 2 1\n%end 1 2 1\n%begin 1 3 1\n${CLOSING}\n`],
  ["%extended-output %1 5 : ", " : ", "%exit\n", "%pause %1\n", "\u001bP1000p", "\\0", "\\134", "%b", " "],
]
  .flat()
  .map(bytes);

/** The words of the protocol in no order, between arbitrary bytes: mostly nonsense, now and then a block. */
export const arbitrarySoup = (maxLength: number): fc.Arbitrary<Uint8Array> =>
  fc
    .array(
      fc.oneof(
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 8 }) },
        {
          weight: 6,
          arbitrary: fc.constantFrom(...SOUP_WORDS),
        },
      ),
      { maxLength },
    )
    .map((parts) => joined(...parts));

/** Shapes for `expect` to return, for bytes that are no stream of ours. */
export const SOUP_SHAPES: readonly ReplyShape[] = Array.from({ length: 60 }, (_unused, index) => {
  const shapes: readonly ReplyShape[] = [{ kind: "foreign", nonce: NONCE }, { kind: "ours" }, { kind: "none" }];
  return shapes[index % 3]!;
});
