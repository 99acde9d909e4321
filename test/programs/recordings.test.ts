/**
 * Recordings of real panes: by the command and by the daemon, played by asciinema and by a terminal of ours, and the last
 * screen compared with tmux's cell by cell. A daemon that is killed leaves whole lines.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { NativeRecording, PaneClient, ServerClient } from "../../adapters/client/client.ts";
import { inProcessCli } from "../support/daemon/cliOutput.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { Emulator, randomFrom, randomStep } from "../support/daemon/nativeScreens.ts";
import { eventually } from "../support/clock/eventually.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";
import { reached } from "../support/daemon/sandboxDaemon.ts";

const [COLS, ROWS] = [60, 20];

interface Recorded {
  readonly header: Record<string, unknown>;
  readonly events: readonly (readonly [number, string, string])[];
}

function recorded(path: string): Recorded {
  const text = readFileSync(path, "utf8");
  expect(text.endsWith("\n")).toBe(true);
  const [header, ...events] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  return { header, events } as Recorded;
}

const labels = ({ events }: Recorded): string[] => events.flatMap(([, code, data]) => (code === "m" ? [data] : []));

/** A terminal of ours that has seen all of it. */
async function played({ header, events }: Recorded): Promise<Emulator> {
  const term = (header["term"] ?? { cols: header["width"], rows: header["height"] }) as { cols: number; rows: number };
  const emulator = new Emulator(term.cols, term.rows);
  for (const [, code, data] of events) {
    if (code === "r") {
      const [cols = 0, rows = 0] = data.split("x").map(Number);
      emulator.resize(cols, rows);
    }
    // oxlint-disable-next-line no-await-in-loop -- in order
    if (code === "o") await emulator.write(Buffer.from(data));
  }
  return emulator;
}

const shown = (emulator: Emulator) => ({
  cells: emulator.cells(),
  cursor: emulator.cursor,
  alternateScreen: emulator.alternateScreen,
});

/** What the daemon's snapshot makes of the pane now, which its own tests hold against tmux's cells. */
async function truth(pane: PaneClient): Promise<ReturnType<typeof shown>> {
  const { cols, rows, bytes } = await pane.snapshot();
  using emulator = new Emulator(cols, rows);
  await emulator.write(bytes);
  return shown(emulator);
}

const KEEPS_PANES = keepsPanes();

const listOf = async (server: ServerClient): Promise<readonly NativeRecording[]> =>
  (await server.perform<{ recordings: NativeRecording[] }>("listRecordings")).recordings;

/** A pane that prints one file, then at each Enter the next one, and ends with status 3. */
async function printing(sandbox: CliSandbox, server: ServerClient, seed: number): Promise<PaneClient> {
  const random = randomFrom(seed);
  const name = (at: number): string => sandbox.path(`print${at}`);
  for (const at of [0, 1, 2]) {
    const steps = Array.from({ length: 25 }, () => randomStep(random, COLS, ROWS));
    writeFileSync(name(at), `${steps.join("")}\u001b[?6l\u001b[r\u001b[1;1H\u001b[2KPART${at}`);
  }
  const script = `stty -echo; cat ${name(0)}; read x; cat ${name(1)}; read x; cat ${name(2)}; read x; exit 3`;
  await server.createSession({
    name: "work",
    cols: COLS,
    rows: ROWS,
    remainOnExit: true,
    command: ["sh", "-c", script],
  });
  const pane = server.pane("work");
  await pane.wait({ pattern: { literal: "PART0" }, from: "tail:100", timeoutMs: LONG_MS });
  return pane;
}

/** A time limit is for what hangs. */
const LONG_MS = 50_000;

const nextPart = (pane: PaneClient, at: number) =>
  pane.wait({ pattern: { literal: `PART${at}` }, send: { parts: [{ kind: "enter" }] }, timeoutMs: LONG_MS });

async function begun(path: string): Promise<void> {
  await eventually(() => statSync(path, { throwIfNoEntry: false })?.size !== undefined && statSync(path).size > 0);
}

const hasAsciinema = spawnSync("asciinema", ["--version"]).status === 0;
if (!hasAsciinema) process.stderr.write("recordings: asciinema is not installed, so it plays nothing here\n");

test.skipIf(!hasAsciinema || !KEEPS_PANES)(
  "asciinema plays it, and its last screen is tmux's, cell by cell",
  async () => {
    await using sandbox = cliSandbox();
    const { server } = await reached(sandbox);
    const pane = await printing(sandbox, server, 11);
    const path = sandbox.path("demo.cast");
    const recording = sandbox.start(["rec", "work", "-o", path]);
    await begun(path);
    await nextPart(pane, 1);
    await nextPart(pane, 2);
    await eventually(() => readFileSync(path, "utf8").includes("PART2"));
    recording.child.kill("SIGINT");
    expect(await recording.finished).toEqual({ code: 0, stdout: "", stderr: "" });

    const socket = sandbox.path("player-tmux.sock");
    const config = sandbox.path("player.conf");
    writeFileSync(config, "set -g status off\n");
    const play = `asciinema play -s 1000000 ${path}; tmux -S ${socket} wait-for -S played; exec sleep 1000`;
    const made = spawnSync(
      "tmux",
      ["-u", "-f", config, "-S", socket, "new-session", "-d", "-x", String(COLS), "-y", String(ROWS), "-s", "p", play],
      { env: { ...sandbox.env, TERM: "xterm" } },
    );
    expect(made.status).toBe(0);
    sandbox.tmux(socket, "wait-for", "played");
    const screen = (where: string, session: string): string =>
      sandbox.tmux(where, "capture-pane", "-epN", "-t", session);
    const wanted = screen(sandbox.tmuxSocketPath, "work");
    expect(wanted).toContain("PART2");
    expect(screen(socket, "p")).toBe(wanted);
  },
);

test.skipIf(!KEEPS_PANES)(
  "a terminal of ours plays what the command and the daemon have recorded, through resizes, to the exit",
  async () => {
    await using sandbox = cliSandbox();
    const { server, url } = await reached(sandbox);
    const pane = await printing(sandbox, server, 12);
    const path = sandbox.path("demo.cast");
    const byCommand = sandbox.start(["rec", "work", "--output", path, "--title", "a title", "--input"]);
    await begun(path);
    const { id } = await pane.startRecording({ version: 3 });
    await nextPart(pane, 1);
    await pane.resize(50, 15);
    await nextPart(pane, 2);
    await eventually(() => readFileSync(path, "utf8").includes("PART2"));
    const screen = await truth(pane);
    // The program ends, its screen stays; then the pane goes.
    await pane.wait({ exit: true, send: { parts: [{ kind: "enter" }] }, timeoutMs: LONG_MS });
    await server.killSession("work");
    expect(await byCommand.finished).toEqual({ code: 0, stdout: "", stderr: "" });
    const listed = await listOf(server);
    expect(listed).toMatchObject([{ id, endedBy: "pane", recording: false, gaps: 0 }]);

    const own = recorded(path);
    expect(own.header).toMatchObject({ version: 2, width: COLS, height: ROWS, title: "a title" });
    const typed = ({ events }: Recorded): string[] => events.flatMap(([, code, data]) => (code === "i" ? [data] : []));
    expect(typed(own)).toEqual(["\r", "\r", "\r"]);
    const daemons = recorded(listed[0]!.path);
    expect(typed(daemons)).toEqual([]);
    expect(daemons.header).toMatchObject({ version: 3, term: { cols: COLS, rows: ROWS } });
    expect(daemons.events.at(-1)?.slice(1)).toEqual(["x", "3"]);
    for (const one of [own, daemons]) {
      expect(labels(one)).toEqual(["exit: status 3", "end: the pane closed"]);
      expect(one.events.filter(([, code]) => code === "r").map(([, , size]) => size)).toEqual(["50x15"]);
      // What tmux itself prints into a pane whose program has ended is no output of it.
      // oxlint-disable-next-line no-await-in-loop -- one emulator at a time
      using emulator = await played(one);
      expect(shown(emulator)).toEqual(screen);
    }

    // The same through the command that plays, without what leaves the terminal at rest.
    const { out, err, code } = await inProcessCli(["play", path, "--speed", "1000000"]);
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(out).toContain("PART2");

    const where = ["--url", url, "--token-file", sandbox.tokenPath];
    const gone = await inProcessCli(["rec", "work", "-o", path, ...where]);
    expect(gone.err).toContain('there is no pane or session "work"');
    await server.createSession({ name: "other" });
    expect(await inProcessCli(["rec", "other", "-o", path, ...where])).toMatchObject({ code: 2 });
    expect(recorded(path)).toEqual(own);
  },
);

/** Bounded: a machine that is busy must not read what it has printed for a minute. */
const FLOOD = "yes some words of a line that goes on and on | head -c 20000000; read x";

test("a daemon that is killed leaves whole lines, and the next one knows the recording", async () => {
  await using sandbox = cliSandbox();
  const { daemon, server } = await reached(sandbox);
  await server.createSession({ name: "work", command: ["sh", "-c", FLOOD] });
  const { id, path } = await server.pane("work").startRecording({ maxBytes: 4_000_000 });
  await eventually(() => statSync(path).size > 100_000);
  daemon.child.kill("SIGKILL");
  await daemon.finished;
  // Lines as they were when it died: all but the very last one are whole at any rate.
  const left = readFileSync(path, "utf8").split("\n");
  for (const line of left.slice(0, -1)) JSON.parse(line);
  const { server: next } = await reached(sandbox);
  expect(await listOf(next)).toMatchObject([{ id, recording: false, endedBy: null }]);
  expect(recorded(path).events.length).toBeGreaterThan(0);
  if (hasAsciinema) {
    // It wants a terminal.
    await next.createSession({ name: "reader" });
    const read = await next.pane("reader").run(`asciinema cat '${path}' > /dev/null`, { timeoutMs: LONG_MS });
    expect(read).toMatchObject({ output: "", exitCode: 0 });
  }
  await next.killSession("work");
});
