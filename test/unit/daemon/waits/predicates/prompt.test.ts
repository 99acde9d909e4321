import { expect, test } from "vitest";
import { literal, outcomeOf, turns, waitBench } from "../waitFixture.ts";

/** `settleMs`, and the turn of the loop after it in which quiet is confirmed. */
const SETTLE_MS = 31;

test.each([
  "user@box:~$ ",
  "\x1b[1;32muser@box\x1b[0m:\x1b[34m~\x1b[0m\x1b[1m$\x1b[0m ",
  "root# ",
  "> ",
  "mac% ",
  "sh-5.2$",
  "done\r\n\r\x1b[K>>> ",
])("%j is taken for a prompt once it stays", async (prompt) => {
  const { source, waits, clock } = waitBench();
  const wait = waits.wait(source, { prompt: true });
  source.write(`output\r\n${prompt}`);
  expect(await outcomeOf(wait)).toBe("pending");
  clock.advanceMs(SETTLE_MS);
  expect((await wait).matched[0]?.predicate).toBe("prompt");
});

test.each(["50%", "50% ", "done\r\n", "$ ls", "costs 5$ or more", "$ \r\n", "\x1b[?2004h", "Password: ", ""])(
  "%j is not",
  async (output) => {
    const { source, waits, clock } = waitBench();
    const wait = waits.wait(source, { prompt: true });
    source.write(output);
    await turns();
    clock.advanceMs(1_000);
    expect(await outcomeOf(wait)).toBe("pending");
    waits.close();
  },
);

test("what goes on within the settling time is no prompt, and it latches when it was one", async () => {
  const { source, waits, clock } = waitBench();
  const wait = waits.wait(source, { prompt: true, exit: true });
  source.write("<html>");
  await turns();
  clock.advanceMs(SETTLE_MS - 1);
  source.write("body\r\n");
  await turns();
  clock.advanceMs(1_000);
  source.write("$ ");
  await turns();
  clock.advanceMs(SETTLE_MS);
  source.write("next command\r\n");
  source.end({ exitCode: 0 });
  expect((await wait).matched.map((match) => match.predicate)).toEqual(["exit", "prompt"]);
});

test("a shell that announces itself is believed at once, and with any prompt", async () => {
  const { source, waits, clock } = waitBench();
  const wait = waits.wait(source, { prompt: true });
  source.write("\x1b[?2004huser$ ");
  expect((await wait).elapsedMs).toBe(0);
  const arrow = waits.wait(source, { prompt: true });
  source.write("\r\n\x1b[?2004l\rls\r\n\x1b[?2004h~ \u276f ");
  await turns();
  clock.advanceMs(SETTLE_MS);
  expect((await arrow).matched[0]?.text).toBe("~ \u276f ");
});

test("a prompt that stands there already counts, unless something is typed after", async () => {
  const { source, waits, clock } = waitBench();
  source.write("user$ ");
  // All of it has been read for another wait.
  waits.wait(source, literal("never")).catch(() => undefined);
  await turns();
  clock.advanceMs(1_000);
  const standing = waits.wait(source, { prompt: true });
  await turns();
  // What was typed just before may be about to show.
  clock.advanceMs(SETTLE_MS - 2);
  expect(await outcomeOf(standing)).toBe("pending");
  clock.advanceMs(2);
  expect((await standing).matched[0]?.text).toBe("user$ ");
  const sent = waits.sendAndWait(source, { prompt: true, excludeEcho: Buffer.from("echo '>'\r") }, (beforeWrite) => {
    beforeWrite();
    return Promise.resolve();
  });
  await turns();
  clock.advanceMs(1_000);
  source.write("echo '>");
  await turns();
  clock.advanceMs(1_000);
  source.write("'\r\n>\r\n");
  await turns();
  clock.advanceMs(1_000);
  expect(await outcomeOf(sent)).toBe("pending");
  source.write("user$ ");
  await turns();
  clock.advanceMs(SETTLE_MS);
  expect((await sent).matched[0]?.text).toBe("user$ ");
});
