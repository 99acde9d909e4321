/** How long the text of a screen takes: the visible screen and the last 1,000 lines of a pane that has history. */
import { captureLines, pollUntilSeen, tmuxProcess } from "./baseline.ts";
import { check, compare, compareTrials, type Contender, type RunBench, timed, trialOf, type Trial } from "./figures.ts";
import { detachedPane, naivePane, type NaivePane, ownedPane, type OwnedPane, ROWS, SESSION } from "./privateServer.ts";

const TOTAL_LINES = 1_200;
const LAST_LINE = `line ${TOTAL_LINES} `;
/** A pane with more than 1,000 lines of 76 characters in it, doing nothing. */
const FILLED = [
  "sh",
  "-c",
  `stty -echo; seq -f 'line %.0f of a screen that a program has filled with ordinary text, and more' ${TOTAL_LINES}; exec cat`,
];

interface Size {
  readonly figure: string;
  /** Undefined: the visible screen. */
  readonly lines: number | undefined;
  readonly turns: {
    readonly trials: number;
    readonly rounds: number;
    readonly perRound: number;
    readonly warmUp: number;
  };
}

const SIZES: readonly Size[] = [
  { figure: "capture, visible screen", lines: undefined, turns: { trials: 4, rounds: 20, perRound: 10, warmUp: 200 } },
  { figure: "capture, 1,000 lines", lines: 1_000, turns: { trials: 4, rounds: 10, perRound: 5, warmUp: 50 } },
];
const PROCESS_TURNS = { rounds: 5, perRound: 10, warmUp: 3 };

export const run: RunBench = async (emit) => {
  for (const { figure, lines, turns } of SIZES) {
    const comparison = { bench: "capture", figure, unit: "ms" };
    const openTrial = async (): Promise<Trial> => {
      const ours = await ownedPane(FILLED);
      const naive = await naivePane(FILLED);
      await bothFilled(ours, naive);
      return trialOf([ourCapture(ours, lines), naiveCapture(naive, lines)], [ours, naive]);
    };
    await compareTrials(comparison, openTrial, turns, emit);

    await using ours = await ownedPane(FILLED);
    await using naive = await naivePane(FILLED);
    await using detached = detachedPane(FILLED);
    await bothFilled(ours, naive);
    await pollUntilSeen(detached.socketPath, LAST_LINE);
    const subprocess: Contender = {
      name: "subprocess capture-pane",
      sample: () => timed(async () => verify(await subprocessCapture(detached.socketPath, lines), lines)),
    };
    await compare(comparison, [ourCapture(ours, lines), subprocess], PROCESS_TURNS, emit);
  }
};

async function bothFilled({ server, pane }: OwnedPane, naive: NaivePane): Promise<void> {
  const shows = (screen: string): boolean => screen.includes(LAST_LINE);
  while (!shows((await server.capture(pane)).lines.join("\n")));
  while (!shows(await naive.client.command(`capture-pane -p -t ${naive.pane}`)));
}

const ourCapture = ({ server, pane }: OwnedPane, lines: number | undefined): Contender => ({
  name: "ours",
  sample: () =>
    timed(async () => {
      const captured = await server.capture(pane, { lines });
      check(captured.exact && captured.lines.length === (lines ?? ROWS - 1), "not the lines asked for");
      check(captured.lines.at(-1)!.startsWith(LAST_LINE), "not the end of the screen");
    }),
});

const naiveCapture = ({ client, pane }: NaivePane, lines: number | undefined): Contender => ({
  name: "naive -CC client",
  sample: () => timed(async () => verify(await client.command(`capture-pane -p -t ${pane}${startOf(lines)}`), lines)),
});

/** The screen's last row is empty, so history begins one row above what is asked for. */
const historyOf = (lines: number): number => lines - (ROWS - 1);
const startOf = (lines: number | undefined): string => (lines === undefined ? "" : ` -S -${historyOf(lines)}`);

const subprocessCapture = (socketPath: string, lines: number | undefined): Promise<string> =>
  lines === undefined
    ? tmuxProcess(socketPath, ["capture-pane", "-p", "-t", SESSION])
    : captureLines(socketPath, historyOf(lines));

function verify(screen: string, lines: number | undefined): void {
  const rows = screen.trimEnd().split("\n");
  check(rows.length === (lines ?? ROWS - 1) && rows.at(-1)!.startsWith(LAST_LINE), "not the lines asked for");
}
