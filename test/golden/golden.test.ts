/** What real tmux wrote gives the events written beside it, however the bytes are cut. */
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  cutAt,
  hideBytes,
  parseChunks,
  parseScenes,
  shapesOf,
  showBytes,
  showWire,
} from "../support/tmux/controlTranscript.ts";

const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".md"));

describe.each(files)("%s", (file) => {
  const markdown = readFileSync(`${import.meta.dirname}/${file}`, "utf8");
  const scenes = parseScenes(markdown);

  test("has both transports", () => {
    expect(scenes.map(({ mode }) => mode)).toEqual(["-C", "-CC"]);
    for (const { mode, wire } of scenes) expect(markdown).toContain(showWire(wire, mode).join("\n"));
  });

  test.each(scenes)("$mode: events", ({ commands, wire, events }) => {
    expect(parseChunks([wire], commands.flatMap(shapesOf)).events).toEqual(events);
  });

  test.each(scenes)("$mode: cut at every byte", ({ commands, wire, events }) => {
    const shapes = commands.flatMap(shapesOf);
    for (let cut = 1; cut < wire.length; cut += 1) {
      expect(parseChunks(cutAt(wire, [cut]), shapes).events, `cut at ${cut}`).toEqual(events);
    }
    const single = Array.from(wire, (byte) => Uint8Array.of(byte));
    expect(parseChunks(single, shapes).events).toEqual(events);
  });

  test.each(scenes)("$mode: cut anywhere, often", ({ commands, wire, events }) => {
    fc.assert(
      fc.property(fc.array(fc.nat(wire.length), { maxLength: 40 }), (cuts) => {
        expect(parseChunks(cutAt(wire, cuts), commands.flatMap(shapesOf)).events).toEqual(events);
      }),
      { numRuns: 50 },
    );
  });
});

test("both transports tell the same", () => {
  for (const file of files) {
    const [pipe, pty] = parseScenes(readFileSync(`${import.meta.dirname}/${file}`, "utf8"));
    expect({ file, events: pty?.events }).toEqual({ file, events: pipe?.events });
  }
});

test("no scene is missing", () => {
  expect(files).toEqual(
    expect.arrayContaining([
      ..."attach.md exitDetach.md exitDetached.md exitKillServer.md exitKillSession.md failure.md foreign.md".split(
        " ",
      ),
      ..."foreignRows.md hooks.md output.md pause.md success.md windows.md".split(" "),
    ]),
  );
});

test("the notation is reversible for every byte", () => {
  const all = Uint8Array.from({ length: 256 }, (_unused, byte) => byte);
  expect(hideBytes(showBytes(all))).toEqual(all);
});
