/** The player against a terminal that writes down what it is told: places, speeds, sizes, jumps while it writes. */
import { expect, test } from "vitest";
import { CastPlayer, parseCast, type PlayerState } from "../../../../adapters/client/castPlayer.ts";

const lines = (...all: unknown[]): string => all.map((one) => `${JSON.stringify(one)}\n`).join("");
const HEADER = { version: 2, width: 10, height: 4 };
const TEXT = lines(
  HEADER,
  [0, "o", "\u001bcone "],
  [1, "i", "typed"],
  [2, "o", "two "],
  [4, "r", "20x8"],
  [4, "o", "\u001bcthree "],
  [6, "o", "four "],
  [8, "m", "end: the pane closed"],
);

/** Lets promises that are ready settle. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function playerOf(text: string, write: (text: string) => Promise<void> = async () => undefined) {
  const said: string[] = [];
  const states: PlayerState[] = [];
  let frames: ((nowMs: number) => void)[] = [];
  let nowMs = 1_000;
  const player = new CastPlayer({
    cast: parseCast(text, "it"),
    screen: {
      reset: ({ cols, rows }) => void said.push(`reset ${cols}x${rows}`),
      resize: ({ cols, rows }) => void said.push(`resize ${cols}x${rows}`),
      write: (shown) => {
        said.push(shown.replace("\u001bc", "RIS "));
        return write(shown);
      },
    },
    onChange: (state) => states.push(state),
    nextFrame: (draw) => frames.push(draw),
  });
  return {
    player,
    last: () => states.at(-1),
    frames: () => frames.length,
    taken: async () => {
      await turn();
      return said.splice(0);
    },
    frame: async (ms: number) => {
      nowMs += ms;
      const due = frames;
      frames = [];
      for (const draw of due) draw(nowMs);
      await turn();
    },
  };
}

test("a place shows what a terminal shows that was given all before it, from the last full reset on", async () => {
  const { player, taken, last } = playerOf(TEXT);
  expect(await taken()).toEqual(["reset 10x4", "RIS one "]);
  player.seek(3);
  expect(await taken()).toEqual(["reset 10x4", "RIS one two "]);
  player.seek(7);
  expect(await taken()).toEqual(["reset 20x8", "RIS three four "]);
  player.seek(99);
  expect(await taken()).toEqual(["reset 20x8", "RIS three four "]);
  expect(last()).toEqual({ atSec: 8, lengthSec: 8, isPlaying: false });
  player.seek(-1);
  expect(await taken()).toEqual(["reset 10x4", "RIS one "]);
});

test("plays at its pace and at another, pauses, and begins anew once it is over", async () => {
  const { player, taken, frame, frames, last } = playerOf(TEXT);
  await taken();
  player.play();
  player.play();
  expect(frames()).toBe(1);
  await frame(0);
  await frame(1_999);
  expect(await taken()).toEqual([]);
  await frame(1);
  expect(await taken()).toEqual(["two "]);
  player.speed = 10;
  player.speed = 0;
  await frame(300);
  expect(await taken()).toEqual(["resize 20x8", "RIS three "]);
  expect(last()).toEqual({ atSec: 5, lengthSec: 8, isPlaying: true });
  player.pause();
  await frame(5_000);
  expect([await taken(), frames(), last()?.atSec]).toEqual([[], 0, 5]);
  player.play();
  await frame(0);
  await frame(10_000);
  expect(await taken()).toEqual(["four "]);
  expect([frames(), last()?.isPlaying]).toEqual([0, false]);
  player.play();
  expect(await taken()).toEqual(["reset 10x4", "RIS one "]);
});

test("a jump while the terminal is still writing shows the last place only, and nothing after the end", async () => {
  const writing: (() => void)[] = [];
  const { player, taken } = playerOf(TEXT, () => new Promise((done) => void writing.push(done)));
  expect(await taken()).toEqual(["reset 10x4", "RIS one "]);
  player.seek(3);
  player.seek(7);
  expect(await taken()).toEqual([]);
  writing.shift()?.();
  expect(await taken()).toEqual(["reset 20x8", "RIS three four "]);
  player.seek(1);
  player.close();
  writing.shift()?.();
  expect(await taken()).toEqual([]);
});

test("both versions, without a size, with comments and a line that was cut off; what is none is refused by its name", () => {
  const three = `${lines({ version: 3 })}# a comment\n${lines([1, "o", "a"], [2, "o", "b"])}[0.1, "o", "cut`;
  expect(parseCast(three, "it")).toMatchObject({ size: { cols: 80, rows: 24 }, lengthSec: 3, events: [{}, {}] });
  expect(parseCast(`${lines(HEADER)}[0`, "it")).toMatchObject({ lengthSec: 0, events: [] });
  expect(() => parseCast("", "it")).toThrow("it is empty");
  expect(() => parseCast("<html>", "it")).toThrow("it is not an asciicast file of version 2 or 3");
  expect(() => parseCast(lines(HEADER, [0, "o"], [1, "o", "a"]), "it")).toThrow("it: line 2 is not an event");
});
