import { expect, test } from "vitest";
import { outcomeOf, waitBench } from "../waitFixture.ts";
import { ECHO_RECORDINGS, type EchoRecording } from "./echoRecordings.ts";

type Name = keyof typeof ECHO_RECORDINGS;

/** Which occurrence of the pattern in the output after typing is the real one; -1: none is. */
const EXPECTED: readonly (readonly [Name, string, number])[] = [
  ["bash", "DONE", 1],
  ["bash", "echo", -1],
  ["bashMulti", "DONE", 1],
  ["bashMulti", "one", 1],
  ["bashMulti", "two", 1],
  ["bashAhead", "DONE", 2],
  ["bashBusy", "DONE", 2],
  ["bashPaste", "DONE", 2],
  ["bashPaste", "one", 2],
  ["bashUtf8", "za\u017c\u00f3\u0142\u0107", 1],
  ["bashColor", "DONE", 1],
  // `set -x` prints the command: that is output.
  ["bashSetX", "DONE", 1],
  ["bashSlowChars", "DONE", 1],
  ["bashWrapTyped", "DONE", 1],
  ["bashWrapTyped", "0123456", 1],
  ["bashDelayed", "DONE", 1],
  ["dash", "DONE", 1],
  ["dashMulti", "DONE", 1],
  ["dashMulti", "one", 1],
  ["cat", "hello", 1],
  ["catMulti", "c", 1],
  ["catMulti", "a", 1],
  ["read", "DONE", 0],
  ["read", "bob", 1],
  ["readSilent", "secret", 0],
  ["readOne", "yes", 0],
  ["readOneSilent", "quit", 0],
  ["sudoLike", "yes", 0],
  ["bc", "= 4", 0],
  ["bc", "2+2", -1],
  ["python", "DONE", 0],
];

const occurrence = (text: string, pattern: string, index: number): number => {
  let at = -1;
  for (let seen = 0; seen <= index; seen++) at = text.indexOf(pattern, at + 1);
  return at;
};

/** Chunks as recorded, one byte each, and all in one. */
const CUTS: Readonly<Record<string, (recording: EchoRecording) => readonly string[]>> = {
  recorded: (recording) => recording.output,
  bytes: (recording) => Array.from(recording.output.join("")),
  whole: (recording) => [recording.output.join("")],
};

for (const [name, pattern, index] of EXPECTED) {
  for (const [cut, chunksOf] of Object.entries(CUTS)) {
    test(`${name}: "${pattern}" is matched where it is output (${cut})`, async () => {
      const recording: EchoRecording = ECHO_RECORDINGS[name];
      const { source, waits } = waitBench();
      source.write(Buffer.from(recording.before, "latin1"));
      const excludeEcho = Buffer.from(recording.typed, "latin1");
      const wait = waits.wait(source, { pattern: { kind: "literal", text: pattern }, excludeEcho });
      for (const chunk of chunksOf(recording)) {
        source.write(Buffer.from(chunk, "latin1"));
        await Promise.resolve();
      }
      const outcome = await outcomeOf(wait);
      const bytes = Buffer.from(pattern, "utf8").toString("latin1");
      const wanted =
        index < 0 ? "pending" : recording.before.length + occurrence(recording.output.join(""), bytes, index);
      const at = typeof outcome === "object" && "matched" in outcome ? outcome.matched[0]?.from?.outputSeq : outcome;
      expect(at).toBe(wanted);
    });
  }
}
