/** The head of a server's frame, by the examples and the limits of RFC 6455 §5.2 and §5.7. */
import { expect, test } from "vitest";
import { emptyFrame } from "../../../../../adapters/kit/streams/messageFrame.ts";

test("a text, and nothing else", () => {
  const { frame, at } = emptyFrame("text", 5);
  frame.write("Hello", at);
  expect(frame.toString("hex")).toBe("810548656c6c6f");
});

test.each([
  [0, "8200"],
  [125, "827d"],
  [126, "827e007e"],
  [256, "827e0100"],
  [65_535, "827effff"],
  [65_536, "827f0000000000010000"],
  [1_048_576, "827f0000000000100000"],
])("a payload of %i bytes begins with %s", (payloadBytes, head) => {
  const { frame, at } = emptyFrame("binary", payloadBytes);
  expect(frame.subarray(0, at).toString("hex")).toBe(head);
  expect(frame.length).toBe(at + payloadBytes);
});
