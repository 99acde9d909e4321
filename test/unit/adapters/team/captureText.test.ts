/** What of a capture is cut, and how that is said. */
import { expect, test } from "vitest";
import { captureText, type CaptureTarget, initialCapture } from "../../../../adapters/team/captureText.ts";
import { StubServer } from "../../../../daemon/servers/stub/stubServer.ts";

const ROWS = 24;

async function target(lines: number): Promise<CaptureTarget> {
  const server = new StubServer({ nowUnixMs: () => 0, onListenerError: () => undefined });
  const { activePane: pane } = await server.createSession({ name: "w", rows: ROWS });
  for (let line = 1; line <= lines; line += 1) {
    await server.input(pane!, [{ kind: "text", bytes: Buffer.from(`row ${line}`) }]);
  }
  return { server, socketPath: "/s", sessionName: "w", pane: pane! };
}

test("the history asked for and the whole screen", async () => {
  const few = await captureText(await target(3), 10);
  expect([few.lines, few.truncated]).toEqual([ROWS, false]);
  const many = await captureText(await target(100), 10);
  expect([many.lines, many.requestedLines, many.text.split("\n").length]).toEqual([10 + ROWS, 10, 10 + ROWS]);
});

test("more than 5,000 lines are cut, and the marker says so", async () => {
  const { text, lines, truncated } = await captureText(await target(100), 5_001);
  expect([truncated, text.endsWith("\n[truncated to 5000 lines]")]).toEqual([true, true]);
  expect(text.split("\n")).toHaveLength(lines + 1);
});

test("never more than 5,000 lines, whichever number was asked for", async () => {
  const many = await target(5_400);
  for (const [requested, kept, cut] of [
    [4_900, 4_900 + ROWS, false],
    [1e9, 5_000, true],
  ] as const) {
    const { text, lines, truncated } = await captureText(many, requested);
    expect([lines, truncated, text.endsWith("\n[truncated to 5000 lines]")]).toEqual([kept, cut, cut]);
    expect(text.split("\n").length).toBe(kept + (cut ? 1 : 0));
  }
  const first = await initialCapture(many, 1e9);
  expect([first.lines, first.truncated, first.text.endsWith("\n[truncated to 5000 lines]")]).toEqual([
    5_000,
    true,
    true,
  ]);
});

test("of a start: the last rows that hold something", async () => {
  const { text, lines } = await initialCapture(await target(100), 5);
  const rows = text.split("\n");
  expect([rows.length, lines]).toEqual([5, 5]);
  expect(rows.at(-1)).not.toBe("");
});
