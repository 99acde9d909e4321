/** Input that must arrive byte for byte: texts of every kind, all of Unicode, megabytes, many jobs at once. */
import { randomFillSync } from "node:crypto";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { type ByteSink, keys, text } from "./panePrograms.ts";

const allBytes = Uint8Array.from({ length: 256 }, (_unused, byte) => byte);

/** Short texts, each a way in which a terminal, a shell or tmux's own parser could take it for something else. */
export const HOSTILE_TEXTS: Readonly<Record<string, string | Uint8Array>> = {
  "one letter": "a",
  "a leading dash": "-l -- -t %0 -X",
  "double dash": "--",
  "a semicolon at the end": "echo a;",
  "an escaped semicolon at the end": "echo a\\;",
  "semicolons only": ";;;",
  "a separated semicolon": "a ; kill-server ;",
  "a newline": "one\ntwo\n",
  "carriage returns": "one\rtwo\r\nthree\r",
  quotes: `'single' "double" \`back\` '"'"'`,
  "an open quote": `it's "open`,
  "a substitution": "$(touch canary) ${HOME} $HOME `touch canary`",
  "a tmux format": "#(touch canary) #{pane_id} ##{x} #[fg=red]#S",
  percent: "%0 %end 1 2 1 %d %s %% %H:%M",
  tilde: "~ ~root ~/x",
  braces: "{ } {a b} {",
  "a comment": "# comment",
  "an assignment": "X=1",
  "a conditional": "%if 1\n%hidden X=1\n%endif",
  backslashes: "\\ \\\\ \\n \\033 \\u1234 \\",
  emoji: "🙂👩‍🚀🇩🇪❤️👍🏽",
  "wide and combining": "漢字 e\u0301 \u0301 ｗ \u200b\u200d\ufeff",
  "right to left": "עברית \u202e العربية",
  "private use and unassigned": "\ue0b0\u{f0000}\u{10ffff}\u0378",
  "C1 controls": "\u0080\u0085\u009b31m\u009f",
  tabs: "\ta\t\tb\t",
  blanks: "   a   ",
  "escape sequences": "\u001b[A\u001b[31m\u001b]0;title\u0007\u001b[201~",
  "key names": "Enter C-c Up M-x F1 Space",
  "control characters": "\u0001\u0003\u0004\u0011\u0013\u001a\u001c\u007f",
  "invalid UTF-8": Uint8Array.of(0xc3, 0x28, 0xe2, 0x82, 0xf0, 0x9f, 0x99, 0xed, 0xa0, 0x80, 0xc0, 0xaf),
  "0xFF": Uint8Array.of(0xff),
  NUL: Uint8Array.of(0),
  "NUL inside": Uint8Array.of(97, 0, 98, 0, 0, 99),
  "all 256 bytes": allBytes,
  "1,024 letters": "x".repeat(1_024),
  "1,025 letters": "y".repeat(1_025),
  "just above a piece": Buffer.from("é".repeat(4_100)),
};

/** Types `bytes` and returns what the pane's program received since `before`. */
export async function typed(server: TmuxServer, sink: ByteSink, bytes: Uint8Array, before: number): Promise<Buffer> {
  await server.input(sink.pane, [text(bytes)]);
  return (await sink.received(before + bytes.length)).subarray(before);
}

/** Every code point that `step` reaches, control characters and surrogates left out. */
export function unicodeText(step: number): Buffer {
  let all = "";
  for (let code = 0x20; code <= 0x10ffff; code += step) {
    if ((code < 0x7f || code > 0x9f) && (code < 0xd800 || code > 0xdfff)) all += String.fromCodePoint(code);
  }
  return Buffer.from(all);
}

/** Types `bytes` in jobs of at most 1,000 bytes, cut between characters, so that each goes by `send-keys`. */
export async function typeInShortJobs(server: TmuxServer, sink: ByteSink, bytes: Buffer): Promise<Buffer> {
  const jobs: Promise<unknown>[] = [];
  for (let at = 0; at < bytes.length;) {
    let end = Math.min(bytes.length, at + 1_000);
    while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end -= 1;
    jobs.push(server.input(sink.pane, [text(bytes.subarray(at, end))]));
    at = end;
    if (jobs.length >= 500) await Promise.all(jobs.splice(0));
  }
  await Promise.all(jobs);
  return sink.received(bytes.length);
}

export const randomBytes = (bytes: number): Buffer => randomFillSync(Buffer.alloc(bytes));

interface ConcurrentResult {
  readonly lines: readonly string[];
  readonly expected: readonly string[];
}

/** `count` callers type a line and Enter at the same time; one of them pastes `pasteBytes` before its line. */
export async function concurrentLines(
  server: TmuxServer,
  sink: ByteSink,
  count: number,
  pasteBytes: number,
): Promise<ConcurrentResult> {
  const expected = Array.from(
    { length: count },
    (_unused, index) => `${index}: ${"abc-é漢".repeat(1 + (index % 40))};`,
  );
  if (pasteBytes > 0) expected[count >> 1] = "p".repeat(pasteBytes) + expected[count >> 1]!;
  await Promise.all(expected.map((line) => server.input(sink.pane, [text(line), keys("Enter")])));
  const total = expected.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  const lines = (await sink.received(total)).toString().split("\r");
  lines.pop();
  return { lines, expected };
}
