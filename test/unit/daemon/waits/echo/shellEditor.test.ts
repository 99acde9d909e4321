/** A wait that types into a shell whose editor never says that it ends. */
import { expect, test } from "vitest";
import { FakeWaitPane } from "../../../../support/tmux/fakeWaitPane.ts";
import type { WaitRequest, WaitResult } from "../../../../../daemon/waits/waitRequest.ts";
import { literal, outcomeOf, re2Done, regex, turns, waitBench } from "../waitFixture.ts";

const PROMPT = "\u001b[?2004h$ ";

/** A wait for this after `make all` and Enter, armed. */
async function typing(
  request: WaitRequest,
  bench = waitBench(),
): Promise<ReturnType<typeof waitBench> & { readonly wait: Promise<WaitResult> }> {
  const pane = new FakeWaitPane(bench.source);
  pane.isShell = true;
  bench.source.write(PROMPT);
  let wait: Promise<WaitResult> | undefined;
  await new Promise<void>((resolve) => {
    const asked = { ...request, pane, excludeEcho: Buffer.from("make all\r") };
    wait = bench.waits.sendAndWait(bench.source, asked, (beforeWrite) => Promise.resolve(beforeWrite()).then(resolve));
  });
  return { ...bench, wait: wait as Promise<WaitResult> };
}

test.each([
  ["literal", literal("DONE")],
  ["regex", regex("DO[N]E")],
])("a %s in the last 64 KiB is matched after ten seconds of quiet, one before them is not", async (_kind, request) => {
  const { source, waits, clock, wait } = await typing(request);
  source.write("make all\r\n");
  for (const line of ["DONE long ago\r\n", ...Array<string>(70).fill(`${".".repeat(1_000)}\r\n`), "it is DONE\r\n"]) {
    source.write(line);
    await turns(1);
  }
  await re2Done(waits);
  clock.advanceMs(9_900);
  expect(await outcomeOf(wait)).toBe("pending");
  clock.advanceMs(200);
  await re2Done(waits);
  expect((await wait).matched[0]?.from?.outputSeq).toBe(source.outputSeq - "DONE\r\n".length);
});

test("what is missing while it draws is declared, and what comes after is output", async () => {
  const { source, wait } = await typing(literal("DONE"));
  source.write("make DONE");
  await turns();
  source.gap(10);
  expect(await outcomeOf(wait)).toBe("pending");
  source.write("DONE\r\n");
  const { matched, gaps } = await wait;
  expect([matched[0]?.from?.outputSeq, gaps.length]).toEqual([source.outputSeq - "DONE\r\n".length, 1]);
});

test.each([
  ["text", literal("make")],
  ["text at the end of the output", regex("mak[e]$")],
])(
  "%s that is held back for another wait is shown after its own time, not after the editor's",
  async (_what, request) => {
    const bench = waitBench();
    const { source, waits, clock } = bench;
    const other = waits.wait(source, { ...request, excludeEcho: Buffer.from("make all\r") });
    const { wait } = await typing(literal("DONE"), bench);
    wait.catch(() => undefined);
    source.write("make");
    await turns();
    clock.advanceMs(1_900);
    expect(await outcomeOf(other)).toBe("pending");
    clock.advanceMs(200);
    await re2Done(waits);
    clock.advanceMs(100);
    expect(await outcomeOf(other)).toMatchObject({ matched: [{ text: "make" }] });
  },
);
