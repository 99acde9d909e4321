/**
 * The long form of test/live/nativeResume.test.ts and resumeRestarts.test.ts: 10,000 resumes, half of them over a WebSocket:
 * every retained position, any moment of a pane that prints while its connection to tmux is lost again and again, and
 * restarts of the daemon and of tmux.
 */
import { WebSocket } from "ws";
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { Record, StreamChecker } from "../support/daemon/nativeChecker.ts";
import { echoPane } from "../support/daemon/nativeEchoPane.ts";
import { below, randomFrom } from "../support/daemon/nativeScreens.ts";
import { nativeFixture } from "../support/daemon/nativeServer.ts";
import { collectUntil } from "../support/tmux/output.ts";
import { breakConnection, ownedFixture } from "../support/tmux/ownedFixture.ts";
import { report } from "../support/daemon/loadReport.ts";
import { type Restart, resumeRestarts } from "../support/daemon/resumeRestarts.ts";

const POSITIONS = 7_600;
const CHATTER = 2_000;
/** Turns of the chatter between two losses of the connection to tmux. */
const BREAK_EVERY = 100;
const READERS = 40;
const RESTARTS: readonly Restart[] = ["SIGKILL", "SIGTERM", "SIGKILL", "SIGTERM", "tmux"];
const ROUNDS = 2;
const RING_BYTES = 2_048;

test(`${POSITIONS + CHATTER} resumes: nothing twice, nothing lost, every hole declared`, async () => {
  await using fixture = await ownedFixture({ ringBytes: RING_BYTES });
  await using api = await nativeFixture(fixture.server);
  const { server } = fixture;
  const echo = await echoPane(server, "pane", 80, 24);
  const record = new Record();
  record.begin(server, echo.pane);
  for (let n = 0; n < 40; n += 1) await echo.print(Buffer.from(`${String(n).padStart(498, "=")}\r\n`));
  const client = createClient({ url: api.url });
  const socket = client.openSocket({ WebSocket });
  let resumes = 0;
  /** Reads until it is at the newest byte of the present epoch; over one transport and the other in turn. */
  const resume = async (from: string): Promise<StreamChecker> => {
    const checker = new StreamChecker(record);
    const events =
      resumes % 2 === 0 ? client.server("main").pane("pane").follow({ from }) : socket.follow("main", "pane", { from });
    resumes += 1;
    const { epoch, outputSeq } = server.output(echo.pane);
    for await (const event of events) {
      checker.see(event);
      const isComplete = checker.gaps.length === 0 || checker.snapshots > 0;
      if (checker.position === `${epoch}:${outputSeq}` && isComplete) break;
    }
    return checker;
  };

  // Every retained position, and as many that have left the ring.
  const { epoch, tailSeq, outputSeq } = echo.source;
  let retained = 0;
  for (let seq = outputSeq; seq > outputSeq - POSITIONS; seq -= 1) {
    const checker = await resume(`${epoch}:${seq}`);
    if (seq >= tailSeq) {
      retained += 1;
      expect(checker).toMatchObject({ bytes: outputSeq - seq, gaps: [], snapshots: 0 });
    } else expect(checker).toMatchObject({ bytes: 0, snapshots: 1, gaps: [{ reason: "evicted" }] });
  }
  expect(retained).toBe(outputSeq - tailSeq + 1);

  // At any moment of a pane that goes on printing; now and then the connection to tmux is lost meanwhile.
  const random = randomFrom(1);
  let lost = 0;
  for (let n = 0; n < CHATTER; n += 1) {
    const before = server.output(echo.pane);
    const from = Math.max(0, before.outputSeq - below(random, RING_BYTES * 2));
    const isLost = n % BREAK_EVERY === BREAK_EVERY - 1;
    if (isLost) {
      await breakConnection(fixture);
      record.begin(server, echo.pane);
      lost += 1;
    }
    const source = server.output(echo.pane);
    const line = Buffer.from(`${n}\r\n`);
    const at = source.outputSeq;
    await server.input(echo.pane, [{ kind: "text", bytes: line }]);
    await collectUntil(source, at, (all) => all.length >= line.length);
    const { gaps } = await resume(`${before.epoch}:${from}`);
    const wanted = isLost ? ["epoch"] : from >= source.tailSeq ? [] : ["evicted"];
    expect(gaps.map(({ reason }) => reason)).toEqual(wanted);
  }
  socket.close();
  report("resume", { resumes, retained, connectionsLost: lost });
  expect(resumes).toBe(POSITIONS + CHATTER);
});

test(`${READERS * RESTARTS.length * ROUNDS} resumes over restarts of the daemon and of tmux`, async () => {
  await using sandbox = cliSandbox();
  const restarts = Array.from({ length: ROUNDS }, () => RESTARTS).flat();
  const result = await resumeRestarts(sandbox, READERS, restarts);
  report("resume over restarts", { ...result });
  const resumes = READERS * restarts.length;
  expect(result).toMatchObject({ resumes, gaps: resumes });
});
