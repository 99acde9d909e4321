import { describe, expect, test } from "vitest";
import * as formats from "../../../../protocol/command/formats.ts";

const NONCE = "N0nc3";
const body = (text: string): Uint8Array => Buffer.from(text);

describe("window links", () => {
  test("one row per place", () => {
    expect(formats.WINDOW_LINKS.decode(body("$0 @1 0 1 0\n$0 @2 4 0 1\n$1 @1 1 1 0\n"))).toEqual([
      { session: "$0", window: "@1", index: 0, active: true, stray: false },
      { session: "$0", window: "@2", index: 4, active: false, stray: true },
      { session: "$1", window: "@1", index: 1, active: true, stray: false },
    ]);
  });

  test("a row of anything else is left out", () => {
    expect(formats.WINDOW_LINKS.decode(body("\n@1 $0 1\nx\n$0 @1 0\n"))).toHaveLength(1);
    expect(formats.WINDOW_LINKS.decode(body(""))).toEqual([]);
  });
});

describe("session rows", () => {
  const row = (ids: string, name: string): string => `${NONCE}${ids}${NONCE}${name}\n`;

  test("any name, one that looks like rows too", () => {
    const names = ["work", "", "two words", "é", "a\nb", "$9 1 x\n$8 2 y", "ends\n"];
    const rows = names.map((name, index) => row(`$${index} 1700000000 1 1700000009`, name)).join("");
    expect(formats.SESSIONS.decode(body(rows), NONCE)).toEqual(
      names.map((name, index) => ({
        session: `$${index}`,
        createdSec: 1_700_000_000,
        usedSec: 1_700_000_009,
        attached: 1,
        name,
      })),
    );
  });

  test("nothing in front of the first nonce is a row", () => {
    expect(formats.SESSIONS.decode(body(`$1 1 forged\n${row("$2 5 0 6", "true")}`), NONCE)).toEqual([
      { session: "$2", createdSec: 5, usedSec: 6, attached: 0, name: "true" },
    ]);
  });
});

describe("pane rows", () => {
  const row = (ids: string, name: string, title: string): Uint8Array =>
    body(`${NONCE}${ids}${NONCE}${name}${NONCE}${title}\n`);

  test("a living pane", () => {
    expect(
      formats.PANES.decode(row("@1 %2 1 80 24 4711 0   161 24 1 bb62,80x24,0,0,2", "sh", "a\ntitle"), NONCE),
    ).toEqual([
      {
        window: "@1",
        pane: "%2",
        active: true,
        cols: 80,
        rows: 24,
        pid: 4711,
        dead: false,
        deadStatus: undefined,
        deadSignal: undefined,
        shape: { cols: 161, rows: 24, zoomed: true, layout: "bb62,80x24,0,0,2" },
        windowName: "sh",
        title: "a\ntitle",
      },
    ]);
  });

  test("a dead one, by status and by signal", () => {
    const [status] = formats.PANES.decode(row("@1 %2 0 80 24 1 1 3  ", "", ""), NONCE);
    expect(status).toMatchObject({ dead: true, deadStatus: 3, deadSignal: undefined, active: false, shape: undefined });
    const [signal] = formats.PANES.decode(row("@1 %2 0 80 24 1 1  9 ", "", ""), NONCE);
    expect(signal).toMatchObject({ dead: true, deadStatus: undefined, deadSignal: 9 });
  });
});

test("a format asks for the fields in the order in which they are read", () => {
  expect(formats.WINDOW_LINKS.format).toBe(
    "#{session_id} #{window_id} #{window_index} #{window_active} #{?#{==:#{@tmuxwire_stray},1},1,0}",
  );
  expect(formats.SESSIONS.format(NONCE)).toBe(
    `${NONCE}#{session_id} #{session_created} #{session_attached} #{session_activity}${NONCE}#{session_name}`,
  );
  expect(formats.PANES.format(NONCE)).toBe(
    `${NONCE}#{window_id} #{pane_id} #{pane_active} #{pane_width} #{pane_height} #{pane_pid}` +
      " #{pane_dead} #{pane_dead_status} #{pane_dead_signal}" +
      " #{?pane_active,#{window_width} #{window_height} #{window_zoomed_flag} #{window_layout},}" +
      `${NONCE}#{window_name}${NONCE}#{pane_title}`,
  );
});

test("server identity", () => {
  expect(formats.SERVER_IDENTITY.decodeOne(body("4711 1700000000 3.3a $0 @0 %0\n"))).toEqual({
    pid: 4711,
    startSec: 1_700_000_000,
    version: "3.3a",
    session: "$0",
    window: "@0",
    pane: "%0",
    client: "",
  });
  expect(formats.SERVER_IDENTITY.decodeOne(body("4711 1700000000 3.3a $0 @0 %0 1000 /dev/pts/7\n"))).toMatchObject({
    uid: 1_000,
    client: "/dev/pts/7",
  });
  // tmux 3.2 does not tell.
  expect(formats.SERVER_IDENTITY.decodeOne(body("4711 1700000000 3.2a $0 @0 %0 \n"))).toMatchObject({ uid: undefined });
  expect(formats.SERVER_IDENTITY.decodeOne(body("4711 1700000000 3.3a   \n"))).toBeUndefined();
  expect(formats.SERVER_IDENTITY.decodeOne(body(""))).toBeUndefined();
});
