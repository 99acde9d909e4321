/**
 * A snapshot and the output after it, rebuilt in a terminal emulator, are tmux's own screen. Sessions are
 * random; the snapshot is taken at a random byte, in the middle of sequences and characters too.
 */
import { expect, test } from "vitest";
import { HISTORY_CHUNK_ROWS } from "../../daemon/panes/screen/historyChunks.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { echoPane } from "../support/daemon/nativeEchoPane.ts";
import { below, Emulator, randomFrom } from "../support/daemon/nativeScreens.ts";
import { snapshotSession } from "../support/daemon/nativeSnapshotSession.ts";

const SESSIONS = 20;

test(`${SESSIONS} random sessions`, async () => {
  await using fixture = await ownedFixture();
  const echo = await echoPane(fixture.server, "random", 40, 12);
  const from = echo.source.outputSeq;
  for (let seed = 1; seed <= SESSIONS; seed += 1) await snapshotSession(fixture.server, echo, seed);
  expect(echo.source.outputSeq - from).toBeGreaterThan(SESSIONS * 100);
});

test.each([
  ["attributes that go on", "\u001b[1;4;38;5;200mbold", " and more"],
  ["a sequence cut in half", "plain \u001b[3", "1mred"],
  ["a character cut in half", Buffer.from([0x61, 0xe6, 0x97]), Buffer.from([0xa5, 0x62])],
  ["a title cut in half", "a\u001b]0;half a ti", "tle\u0007b"],
  ["a wrap that is still to come", `${"x".repeat(39)}y`, "z"],
  ["a wide character before the margin", `${"x".repeat(39)}日`, "本"],
  ["a wide character that did not fit, and short and long rows", `${"x".repeat(39)}日\r\n${"y".repeat(30)}\r\nz`, "本"],
  ["a full screen", Array.from({ length: 12 }, (_, row) => `${row}`.padEnd(40, "#")).join(""), "!"],
  ["a scroll region", "\u001b[3;6r\u001b[6;1Hlast", "\r\none\r\ntwo\r\nthree"],
  ["origin mode", "\u001b[3;6r\u001b[?6h\u001b[2;2Hin", "\u001b[1;1Hhome"],
  ["the alternate screen", "below\r\n\u001b[?1049hover", " it\u001b[?1049lback"],
  ["insert mode", "\u001b[4hab\r", "cd"],
  ["no wrapping", "\u001b[?7l", "y".repeat(60)],
  ["line drawing", "\u001b(0lq", "qk"],
  ["shifted line drawing", "\u001b)0\u000elq", "qk\u000fq"],
  ["tab stops", "\u001b[3g\u001b[1;5H\u001bH\r", "\tx\ty"],
  ["a background under blanks", "\u001b[1;20H\u001b[44m\u001b[1K\u001b[1;30H\u001b[49mx", "y"],
  ["a pen of the alternate screen", "\u001b[31m\u001b[?1049h\u001b[32mg", "\u001b[?1049lr"],
  ["a reset, and what it forgets", "\u001b[1m\u001b7\u001bc\u001b8r", "n"],
])("%s", async (_name, before, after) => {
  await using fixture = await ownedFixture();
  const echo = await echoPane(fixture.server, "one", 40, 12);
  await echo.print(Buffer.from("\u001bc"));
  await echo.print(Buffer.from(before));
  const snapshot = await fixture.server.snapshot(echo.pane);
  const from = echo.source.outputSeq;
  expect(snapshot).toMatchObject({ exact: true, position: { outputSeq: from } });
  await echo.print(Buffer.from(after));
  using rebuilt = new Emulator(40, 12);
  await rebuilt.write(snapshot.data);
  await rebuilt.write(Buffer.from(after));
  using whole = new Emulator(40, 12);
  await whole.write(Buffer.concat([Buffer.from(before), Buffer.from(after)]));
  expect(rebuilt.cells()).toEqual(whole.cells());
  expect(rebuilt.cursor).toEqual(whole.cursor);
});

test("a snapshot includes the modes", async () => {
  await using fixture = await ownedFixture();
  const echo = await echoPane(fixture.server, "modes", 40, 12);
  await echo.print(
    Buffer.from("\u001b[?1h\u001b=\u001b[?1003h\u001b[?1006h\u001b[?2004h\u001b[?1004h\u001b[?7l\u001b[4h"),
  );
  const { data } = await fixture.server.snapshot(echo.pane);
  using rebuilt = new Emulator(40, 12);
  await rebuilt.write(data);
  expect(rebuilt.modes).toMatchObject({
    applicationCursorKeysMode: true,
    applicationKeypadMode: true,
    mouseTrackingMode: "any",
    bracketedPasteMode: true,
    sendFocusMode: true,
    wraparoundMode: false,
    insertMode: true,
  });
});

test("wrapped rows stay one line", async () => {
  await using fixture = await ownedFixture();
  const echo = await echoPane(fixture.server, "wraps", 40, 12);
  await echo.print(Buffer.from(`\u001bc${"w".repeat(100)}\r\nnew\r\n${"v".repeat(40)}\r\nend`));
  const { data } = await fixture.server.snapshot(echo.pane);
  using rebuilt = new Emulator(40, 12);
  await rebuilt.write(data);
  expect(rebuilt.wraps().slice(0, 6)).toEqual([false, true, true, false, false, false]);
});

test("wide characters are in tmux's rows after a change of width", async () => {
  await using fixture = await ownedFixture();
  const echo = await echoPane(fixture.server, "narrowed", 40, 12);
  const rows = [
    "日本語abc日本語 é漢漢0123456789    漢 漢",
    "c日本語abc0123456789漢 漢日本語",
    "short",
    "漢 漢".repeat(8),
    "end",
  ];
  await echo.print(Buffer.from(`\u001bc${rows.join("\r\n")}`));
  for (const cols of [25, 33, 18]) {
    fixture.socket.tmux("resize-window", "-t", echo.pane, "-x", String(cols));
    // oxlint-disable-next-line no-await-in-loop -- one width after the other
    const [{ data }, { lines, cursor }] = await Promise.all([
      fixture.server.snapshot(echo.pane),
      fixture.server.capture(echo.pane),
    ]);
    using rebuilt = new Emulator(cols, 12);
    // oxlint-disable-next-line no-await-in-loop -- as above
    await rebuilt.write(data);
    expect([rebuilt.text().slice(0, lines.length), rebuilt.cursor]).toEqual([lines, cursor]);
  }
});

test("history that is captured in chunks is the history that was printed: colours, wraps and line drawing over their seams", async () => {
  await using fixture = await ownedFixture();
  const echo = await echoPane(fixture.server, "chunks", 40, 12);
  const random = randomFrom(17);
  const line = (at: number): string => {
    const kind = below(random, 8);
    if (kind === 0) return `\u001b[3${below(random, 8)}m${at} from here on in colour`;
    if (kind === 1) return `\u001b[0m${at} plain again`;
    if (kind < 5) return `${at} ${"wrapped\u001b[1m ".repeat(3)}${"日本語 rows".repeat(2 + below(random, 30))}`;
    if (kind === 5) return `${at} \u001b(0${"lqqk".repeat(1 + below(random, 40))}\u001b(B`;
    return `${at}`;
  };
  // The screen begins with a line of its own: whether the newest row of history goes on there is not rebuilt.
  const end = "\r\nshort".repeat(12);
  const printed = Buffer.from(`\u001bc\u001b[3J${Array.from({ length: 900 }, (_, at) => line(at)).join("\r\n")}${end}`);
  await echo.print(printed);
  const { data, exact } = await fixture.server.snapshot(echo.pane, { historyLines: 5_000 });
  expect(exact).toBe(true);
  using rebuilt = new Emulator(40, 12, 10_000);
  await rebuilt.write(data);
  using whole = new Emulator(40, 12, 10_000);
  await whole.write(printed);
  expect(whole.wraps().length).toBeGreaterThan(3 * HISTORY_CHUNK_ROWS);
  expect(rebuilt.cells()).toEqual(whole.cells());
  expect(rebuilt.wraps()).toEqual(whole.wraps());
  expect(rebuilt.cursor).toEqual(whole.cursor);
});
