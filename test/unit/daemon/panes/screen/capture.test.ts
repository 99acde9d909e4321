/** A capture below a connection that is moved by hand: when its position is exact, how far it reaches, what its rows hold. */
import { describe, expect, test } from "vitest";
import type { CaptureContext } from "../../../../../daemon/panes/askPane.ts";
import { PaneStream } from "../../../../../daemon/panes/paneStream.ts";
import { captureScreen } from "../../../../../daemon/panes/screen/capture.ts";
import type { CaptureOptions } from "../../../../../daemon/tmux/io.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import type { PaneId } from "../../../../../protocol/ids.ts";

const PANE = "%1" as PaneId;

/** A pane of 20 columns with some history, and what happens while tmux is asked. */
class Captured {
  readonly commands: string[] = [];
  readonly stream = new PaneStream({ id: PANE, epoch: "e", retainBytes: 1_000, onListenerError: () => undefined });
  otherBytes = 0;
  historyLines = 0;
  owner = PANE;
  files: string[] = [];
  /** What a capture from this row on prints. */
  rows: (start: string | undefined) => readonly string[] = () => [];
  /** While tmux is asked for the nth time. */
  during: (nth: number) => void = () => undefined;
  error: AppError | undefined;

  take(options: CaptureOptions = {}, hasFiles = false) {
    const sendForeign = (
      build: () => string,
      { format }: { readonly format: string },
      settle: (outcome: object) => void,
    ): void => {
      const command = build();
      this.commands.push(command);
      this.during(this.commands.length);
      if (this.error !== undefined) return settle({ error: this.error });
      const body = this.rows(/-S (\S+)/.exec(command)?.[1]).map((row) => `${row}\n`);
      const values: Readonly<Record<string, string | number>> = {
        pane_id: this.owner,
        cursor_x: 3,
        cursor_y: 2,
        pane_width: 20,
        pane_height: 4,
        history_size: this.historyLines,
        history_limit: 100,
        pane_tabs: "8,16",
      };
      const trailer = format.replaceAll(/#\{(\w+)\}/g, (_, name: string) => String(values[name] ?? 0));
      settle({ replies: [{ body: Buffer.from(body.join("")), trailer }] });
    };
    const files = {
      take: (_connection: unknown, ask: (buffer: string) => unknown) => {
        this.files.push("asked");
        return ask("b-1");
      },
    };
    const context = {
      pane: PANE,
      stream: this.stream,
      connection: { sendForeign },
      totalOutputBytes: () => this.stream.outputSeq + this.otherBytes,
      files: hasFiles ? files : undefined,
    };
    return captureScreen(context as unknown as CaptureContext, options);
  }
}

describe("a position is exact", () => {
  test.each<[string, boolean, boolean, boolean, number]>([
    ["when nothing came", false, false, true, 1],
    ["when this pane alone printed", true, false, true, 1],
    ["when other panes alone did", false, true, true, 1],
    ["but not when both did, each time", true, true, false, 3],
  ])("%s", async (_what, own, other, exact, asked) => {
    const pane = new Captured();
    pane.during = () => {
      if (own) pane.stream.take(Buffer.from("xx"));
      if (other) pane.otherBytes += 5;
    };
    const capture = await pane.take();
    expect([capture.exact, pane.commands.length]).toEqual([exact, asked]);
    expect(capture).toMatchObject({
      position: { epoch: "e", outputSeq: own ? 2 * asked : 0 },
      cursor: { col: 3, row: 2 },
    });
  });

  test("when it is asked for again", async () => {
    const pane = new Captured();
    pane.during = (nth) => {
      if (nth === 3) return;
      pane.stream.take(Buffer.from("x"));
      pane.otherBytes += 1;
    };
    expect(await pane.take()).toMatchObject({ exact: true, position: { outputSeq: 2 } });
  });
});

describe("rows", () => {
  const printed = ["one  ", "\u001b[31mred\u0007\tx", "", "  "];
  test.each<[string, CaptureOptions, readonly string[], readonly string[]]>([
    ["plain", {}, printed, ["one", "[31mred x"]],
    ["whole", { whole: true, lines: 2 }, ["one", "a\tb\t", ""], ["one", "a       b", ""]],
    ["from a row on", { start: -2 }, ["one", "", ""], ["one", "", ""]],
    [
      "with attributes",
      { ansi: true },
      ["\u001b[1mone\u001b[0m", "a\tb", "  "],
      ["\u001b[1mone\u001b[0m", "a       b"],
    ],
    ["with attributes, whole", { ansi: true, start: 0 }, ["\u001b[1mone", ""], ["\u001b[1mone", ""]],
    ["the last of them", { lines: 2 }, ["one", "two", "three", ""], ["two", "three"]],
    [
      "the last of them, with what was set before",
      { lines: 1, ansi: true },
      ["\u001b[1;31mone", "two"],
      ["\u001b[0;1;31mtwo"],
    ],
    [
      "the last of them, with what is set in the first",
      { lines: 2, ansi: true },
      ["\u001b[1mone\u001b[0m", "\u001b[31mtwo", "three"],
      ["\u001b[31mtwo", "three"],
    ],
    ["the last of them, after a reset", { lines: 1, ansi: true }, ["\u001b[1mone\u001b[0m", "two"], ["two"]],
    ["all of them, with attributes", { lines: 5, ansi: true }, ["\u001b[1mone", "two"], ["\u001b[1mone", "two"]],
  ])("%s", async (_what, options, raw, rows) => {
    const pane = new Captured();
    pane.rows = () => raw;
    expect((await pane.take(options)).lines).toEqual(rows);
  });

  test("of wrapped lines are looked for further back, as far as there is history", async () => {
    const pane = new Captured();
    pane.historyLines = 100;
    const starts: (string | undefined)[] = [];
    pane.rows = (start) => {
      starts.push(start);
      return Array.from({ length: Math.ceil(-Number(start) / 10) }, (_, at) => `line ${at}`);
    };
    expect((await pane.take({ lines: 9, joinWrapped: true })).lines).toHaveLength(9);
    expect(starts).toEqual(["-9", "-36", "-100"]);
    expect(pane.commands[0]).toContain(" -J");
    pane.historyLines = 30;
    expect((await pane.take({ lines: 9 })).lines).toHaveLength(3);
    expect(starts.slice(3)).toEqual(["-9", "-30"]);
  });
});

describe("is refused", () => {
  test.each([0, 1.5, 20_001])("for %d lines", async (lines) => {
    const pane = new Captured();
    await expect(pane.take({ lines })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(pane.commands).toEqual([]);
  });

  test("of a pane that is gone, whatever tmux says of it", async () => {
    const pane = new Captured();
    pane.owner = "%2" as PaneId;
    await expect(pane.take()).rejects.toMatchObject({ code: "NOT_FOUND" });
    const unknown = new Captured();
    unknown.error = new AppError("TMUX_COMMAND_FAILED", "can't find pane: %1");
    await expect(unknown.take()).rejects.toMatchObject({ code: "NOT_FOUND" });
    unknown.error = new AppError("CONNECTION_LOST", "lost");
    await expect(unknown.take()).rejects.toBe(unknown.error);
  });

  test("to a caller that has left", async () => {
    const signal = AbortSignal.abort(new AppError("CANCELLED", "left"));
    await expect(new Captured().take({ signal })).rejects.toMatchObject({ code: "CANCELLED" });
  });
});

test.each<[CaptureOptions, boolean]>([
  [{ lines: 500 }, true],
  [{ start: "oldest" }, true],
  [{ lines: 499 }, false],
  [{ start: 5 }, false],
  [{}, false],
])("%j goes through a file: %j", async (options, isFile) => {
  const pane = new Captured();
  await pane.take(options, true);
  expect([pane.files.length > 0, pane.commands[0]?.includes("-b b-1")]).toEqual([isFile, isFile]);
});
