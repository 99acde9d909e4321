/** One random session: printed in two halves, a snapshot between them, and what an emulator makes of it. */
import { expect } from "vitest";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { EchoPane } from "./nativeEchoPane.ts";
import { below, Emulator, randomFrom, randomStep } from "./nativeScreens.ts";

export const SESSION_COLS = 40;
export const SESSION_ROWS = 12;

/** Throws when the rebuilt screen is not tmux's. */
export async function snapshotSession(server: TmuxServer, echo: EchoPane, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const steps = Array.from({ length: 10 + below(random, 40) }, () => randomStep(random, SESSION_COLS, SESSION_ROWS));
  const bytes = Buffer.from(steps.join(""));
  const cut = below(random, bytes.length + 1);
  await echo.print(Buffer.from("\u0018\u001b[?1049l\u001bc"));
  const start = echo.source.outputSeq;
  if (cut > 0) await echo.print(bytes.subarray(0, cut));
  // Half of the snapshots meet output on its way.
  const second = random() < 0.5 ? echo.print(bytes.subarray(cut)) : undefined;
  const snapshot = await server.snapshot(echo.pane);
  await (second ?? (cut < bytes.length ? echo.print(bytes.subarray(cut)) : undefined));
  expect(snapshot.exact).toBe(true);
  using rebuilt = new Emulator(SESSION_COLS, SESSION_ROWS);
  await rebuilt.write(snapshot.data);
  await rebuilt.write(bytes.subarray(snapshot.position.outputSeq - start));

  using truth = new Emulator(SESSION_COLS, SESSION_ROWS);
  const last = await server.snapshot(echo.pane);
  await truth.write(last.data);
  const capture = await server.capture(echo.pane);
  // A plain capture shows line drawing by its letters.
  const hasDrawing = bytes.includes("\u001b(0");
  const shown = (emulator: Emulator, text: readonly string[]) => ({
    session: { seed, cut, bytes: bytes.length },
    text,
    cells: emulator.cells(),
    cursor: emulator.cursor,
    alternateScreen: emulator.alternateScreen,
  });
  const wanted = shown(truth, hasDrawing ? truth.text() : capture.lines);
  expect(shown(rebuilt, rebuilt.text())).toEqual(wanted);
}
