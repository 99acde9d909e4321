/** What is known of pastes in brackets, and since when. */
import { expect, test } from "vitest";
import { bracketedPasteOf } from "../../../../../daemon/delivery/pane/bracketedPaste.ts";
import { FakePane } from "../../../../support/agents/fakePane.ts";

const [ON, OFF] = ["\u001b[?2004h", "\u001b[?2004l"];

test.each([
  ["", 0, "unknown"],
  [ON, 0, "on"],
  [ON, ON.length, "on"],
  [ON, ON.length + 1, "unknown"],
  [ON + OFF, 0, "off"],
  [ON + OFF, 2 * ON.length, "off"],
  [ON + OFF, 2 * ON.length + 1, "unknown"],
])("after %j, since %i, they are %s", (said, since, expected) => {
  const { stream } = new FakePane("claude");
  stream.take(Buffer.from(said));
  expect(bracketedPasteOf(stream, since)).toBe(expected);
});

test("where output is missing behind what was said, it is not known", () => {
  const { stream } = new FakePane("claude");
  stream.take(Buffer.from(ON));
  stream.declareHole("paused");
  expect(bracketedPasteOf(stream)).toBe("unknown");
});
