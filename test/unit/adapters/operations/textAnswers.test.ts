/** What a caller that reads text is told in headers: where the text ends, how a command ended, and what is missing. */
import { expect, test } from "vitest";
import { paneOperations } from "../../../../adapters/operations/panes/paneOperations.ts";
import { waitOperations } from "../../../../adapters/operations/panes/waitOperations.ts";

const GAP = { from: "e1:1", to: "e1:5", reason: "evicted" } as const;
const { capture } = paneOperations;
const { run, wait } = waitOperations;

test("a capture is its rows; a position that is not exact says so", () => {
  const { output } = capture.example;
  expect(capture.plainText?.(output, {})).toEqual({
    text: "$ make test\n42 passed\n$\n",
    headers: { "tmuxwire-position": "k3Jd9:2048" },
  });
  expect(capture.plainText?.({ ...output, exact: false }, {}).headers).toMatchObject({ "tmuxwire-exact": "false" });
});

test("a run is its output, or its bytes; a status that the shell did not report is absent", () => {
  const { input, output } = run.example;
  const headers = { "tmuxwire-position": "k3Jd9:1111", "tmuxwire-exit-status": "0" };
  expect(run.plainText?.(output, input)).toEqual({ text: "42 passed\n", headers });
  const raw = { ...output, output: Buffer.from([0xff, 0]).toString("base64"), exitCode: null, gaps: [GAP] };
  expect(run.plainText?.(raw, { ...input, format: "raw" })).toEqual({
    text: Buffer.from([0xff, 0]),
    headers: { "tmuxwire-position": "k3Jd9:1111", "tmuxwire-gaps": "1" },
  });
});

test("a wait is the texts that matched, a line each; what matched without one is none", () => {
  const { output } = wait.example;
  const matched = [...output.matched, { predicate: "exit" }];
  expect(wait.plainText?.({ ...output, matched, gaps: [GAP] }, {})).toEqual({
    text: "42 passed\n",
    headers: { "tmuxwire-position": "k3Jd9:1109", "tmuxwire-gaps": "1" },
  });
});
