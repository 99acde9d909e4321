/** Full-screen programs on a person's terminal: what passes shows the same screen as all that was printed. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { QuietOutput } from "../../adapters/cli/quietOutput.ts";
import { eventually } from "../support/clock/eventually.ts";
import { Emulator } from "../support/daemon/nativeScreens.ts";
import { ownedApi } from "../support/daemon/ownedApi.ts";

const COLS = 90;
const ROWS = 28;

interface Session {
  readonly program: string;
  readonly args: readonly string[];
  /** Shown when it is ready; then keys, each with what the screen shows after it. */
  readonly ready: RegExp;
  readonly steps: readonly (readonly [keys: readonly string[], shows: RegExp])[];
}

const ITSELF = import.meta.filename;
const ALL: readonly Session[] = [
  {
    program: "vim",
    args: ["-u", "NONE", "-c", "set nu hls mouse=a | syntax on", ITSELF],
    ready: /1 \/\*\* Full-screen/,
    steps: [
      [["G"], /\}\s*\n\s*$|Bot|expect/],
      [["/", "P", "r", "o", "g", "Enter"], /Prog/],
      [[":", "v", "s", "p", "Enter", "C-d"], /\[|quietScreens/],
      [["i", "日", "本", "x", "Escape"], /日本x/],
      [[":", "q", "a", "!", "Enter"], /tmux-42/],
    ],
  },
  {
    program: "htop",
    args: ["--delay=5"],
    ready: /F10/,
    steps: [
      [["F6"], /Sort by/],
      [["Escape"], /F10/],
      [["F2"], /Setup|Categories|Meters/],
      [["F10"], /F10/],
      [["q"], /tmux-42/],
    ],
  },
  {
    program: "less",
    args: ["-R", ITSELF],
    ready: /Full-screen/,
    steps: [
      [["Space"], /./],
      [["/", "P", "r", "o", "g", "Enter"], /Prog/],
      [["q"], /tmux-42/],
    ],
  },
];
const SESSIONS = ALL.filter(({ program }) => {
  const isThere = spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
  if (!isThere) console.log(`${program} is not installed: its test is left out`);
  return isThere;
});

test.each(SESSIONS)("$program", async ({ program, args, ready, steps }) => {
  await using api = await ownedApi();
  // The shell stays, so that what the program leaves behind is seen, too.
  const { pane } = await api.session({ command: ["sh"], cols: COLS, rows: ROWS });
  const all: Uint8Array[] = [];
  const ended = new AbortController();
  await pane.run("PS1=");
  const { position } = await pane.capture();
  const following = (async () => {
    for await (const event of pane.follow({ from: position, signal: ended.signal }))
      if (event.kind === "output") all.push(event.bytes);
  })().catch(() => undefined);
  const [printed, passed] = [new Emulator(COLS, ROWS, 500), new Emulator(COLS, ROWS, 500)];
  const quiet = new QuietOutput();
  const draw = async (): Promise<void> => {
    for (const bytes of all.splice(0)) {
      // oxlint-disable-next-line no-await-in-loop -- in order
      await Promise.all([printed.write(bytes), passed.write(quiet.pass(bytes))]);
    }
  };
  const shows = async (pattern: RegExp): Promise<void> => {
    await eventually(async () => {
      await draw();
      return pattern.test(passed.text().join("\n"));
    }, 20);
    expect(passed.cells()).toEqual(printed.cells());
    expect([passed.cursor, passed.alternateScreen]).toEqual([printed.cursor, printed.alternateScreen]);
  };
  try {
    const line = [program, ...args].map((word) => `'${word}'`).join(" ");
    await pane.type(`TERM=xterm-256color ${line}; echo tmux-$((40+2))`, { enter: true });
    await shows(ready);
    for (const [keys, pattern] of steps) {
      // oxlint-disable-next-line no-await-in-loop -- in order
      await pane.input(
        keys.map((key) => (key.length > 1 ? { kind: "keys", keys: [key] } : { kind: "text", text: key })),
      );
      // oxlint-disable-next-line no-await-in-loop -- in order
      await shows(pattern);
      // oxlint-disable-next-line no-await-in-loop -- in order
    }
    // What it had set and may not: the mouse, keys, pastes.
    expect(passed.modes).toMatchObject({ mouseTrackingMode: "none", bracketedPasteMode: false });
  } finally {
    ended.abort();
    await following;
    printed[Symbol.dispose]();
    passed[Symbol.dispose]();
  }
});
