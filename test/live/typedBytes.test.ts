/** `typedBytes` against tmux: what a recording says was typed is what a program in the pane was given. */
import { expect, test } from "vitest";
import { typedBytes } from "../../daemon/panes/input/typedBytes.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { ByteSink, keys, text } from "../support/tmux/panePrograms.ts";

const EDITING = ["Up", "Down", "Left", "Right", "Home", "End", "Insert", "Delete", "PageUp", "PageDown", "IC", "DC"];
const FUNCTION = Array.from({ length: 12 }, (_unused, index) => `F${index + 1}`);
const LETTERS = Array.from("abcdefghijklmnopqrstuvwxyz");
const PLAIN = "Enter Escape Tab BTab Space BSpace KPEnter KP0 KP* a Z ~ é 🙂 ^".split(" ");
/** Keys that every version of tmux sends alike; others it sends as it can, or types their names. */
const NAMES = [
  ...PLAIN,
  ...["", "C-", "M-", "S-", "C-M-", "C-M-S-"].flatMap((held) => [...EDITING, ...FUNCTION].map((key) => held + key)),
  ...["C-", "M-", "C-M-", "^"].flatMap((held) => LETTERS.map((key) => held + key)),
].concat([
  "M-Enter",
  "M-BSpace",
  "M-Escape",
  "C-Space",
  "C-[",
  "C-\\",
  "C-]",
  "C-^",
  "C-_",
  "C-?",
  "C-@",
  "C-/",
  "M-;",
]);
const BETWEEN = "\u0001|\u0001";

test("keys are recorded as the bytes that tmux sends", async () => {
  await using fixture = await ownedFixture();
  const sink = await ByteSink.start(fixture.server, fixture.socket.directory, "keys");
  const parts = NAMES.map((name) => [keys(name), text(BETWEEN)]);
  const expected = typedBytes(parts.flat());
  await Promise.all(parts.map((job) => fixture.server.input(sink.pane, job)));
  const received = await sink.received(expected.length);
  const shown = (bytes: Uint8Array) =>
    Buffer.from(bytes)
      .toString()
      .split(BETWEEN)
      .map((key, at) => [NAMES[at], key]);
  expect(shown(received)).toEqual(shown(expected));
});
