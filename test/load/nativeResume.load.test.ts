/** The long form of test/live/nativeResume.test.ts: 10,000 resumes, every retained position among them (issue 4). */
import { expect, test } from "vitest";
import { createClient } from "../../adapters/native/client.ts";
import { Record, StreamChecker } from "../support/nativeChecker.ts";
import { echoPane } from "../support/nativeEchoPane.ts";
import { below, randomFrom } from "../support/nativeScreens.ts";
import { nativeFixture } from "../support/nativeServer.ts";
import { ownedFixture } from "../support/ownedFixture.ts";

const POSITIONS = 8_000;
const CHATTER = 2_000;
const RING_BYTES = 2_048;

test(`${POSITIONS + CHATTER} resumes: nothing twice, nothing lost, every hole declared`, async () => {
  await using fixture = await ownedFixture({ ringBytes: RING_BYTES });
  await using api = await nativeFixture(fixture.server);
  const echo = await echoPane(fixture.server, "pane", 80, 24);
  const record = new Record();
  record.begin(fixture.server, echo.pane);
  for (let n = 0; n < 40; n += 1) await echo.print(Buffer.from(`${String(n).padStart(498, "=")}\r\n`));
  const { source } = echo;
  const pane = createClient({ url: api.url }).server("main").pane("pane");
  const resume = async (seq: number, to: number): Promise<StreamChecker> => {
    const checker = new StreamChecker(record);
    for await (const event of pane.follow({ from: `${source.epoch}:${seq}` })) {
      checker.see(event);
      if (Number(checker.position.split(":")[1]) >= to && (checker.gaps.length === 0 || checker.snapshots > 0)) break;
    }
    return checker;
  };

  // Every retained position, and as many that have left the ring.
  const { tailSeq, outputSeq } = source;
  let resumes = 0;
  let retained = 0;
  for (let seq = outputSeq; seq >= 0 && resumes < POSITIONS; seq -= 1) {
    const checker = await resume(seq, outputSeq);
    resumes += 1;
    if (seq >= tailSeq) {
      retained += 1;
      expect(checker).toMatchObject({ bytes: outputSeq - seq, gaps: [], snapshots: 0 });
    } else expect(checker).toMatchObject({ bytes: 0, snapshots: 1, gaps: [{ reason: "evicted" }] });
  }
  expect(retained).toBe(outputSeq - tailSeq + 1);

  // At any moment of a pane that goes on printing, the connection to tmux lost now and then.
  const random = randomFrom(1);
  for (let n = 0; n < CHATTER; n += 1) {
    await echo.print(Buffer.from(`${n}\r\n`));
    const from = Math.max(0, source.outputSeq - below(random, RING_BYTES * 2));
    const checker = await resume(from, source.outputSeq);
    resumes += 1;
    expect(checker.gaps.length).toBe(from >= source.tailSeq ? 0 : 1);
  }
  expect(resumes).toBe(POSITIONS + CHATTER);
});
