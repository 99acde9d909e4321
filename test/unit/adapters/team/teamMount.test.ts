/** Requests that are refused say what they have to be, in words of ours. */
import { expect, test } from "vitest";
import { refuseTeam } from "../../../../adapters/team/teamMount.ts";
import { parse } from "../../../../protocol/api/parse.ts";
import { teamCaptureSchema, teamStartSchema } from "../../../../protocol/api/team.ts";

const start = { teamId: "t", taskPrompt: "x" };

const refused: readonly (readonly [body: unknown, message: string])[] = [
  [undefined, "the body must be a JSON object"],
  [[], "the body must be a JSON object"],
  ["text", "the body must be a JSON object"],
  [{ taskPrompt: "x" }, "teamId: is missing"],
  [{ teamId: "t" }, "taskPrompt: is missing"],
  [{ ...start, extra: 1 }, "extra: the request has no such field"],
  [{ ...start, titel: "x" }, "titel: the request has no such field; did you mean title\\?"],
  [{ ...start, teamId: 7 }, "teamId: must be text"],
  [{ ...start, taskPrompt: null }, "taskPrompt: must be text"],
  [{ ...start, cwd: 7 }, "cwd: must be text"],
  [{ ...start, cwd: "x".repeat(5_000) }, "cwd: must be at most 4096 characters"],
  [{ ...start, lines: "5" }, "lines: must be an integer from 1"],
  [{ ...start, lines: 1.5 }, "lines: must be an integer from 1"],
  [{ ...start, lines: 0 }, "lines: must be an integer from 1"],
  [{ ...start, lines: Number.NaN }, "lines: must be an integer from 1"],
  [{ ...start, title: "" }, "title: must not be empty"],
  [{ ...start, idempotencyKey: "" }, "idempotencyKey: must not be empty"],
  [{ ...start, idempotencyKey: "k".repeat(257) }, "idempotencyKey: must be at most 256 characters"],
  [{ ...start, teamd: "here" }, "teamd: must be a JSON object"],
  [{ ...start, teamd: { url: "x" } }, "teamd.token: is missing"],
  [{ ...start, teamd: { url: "x", token: "" } }, "teamd.token: must not be empty"],
  [{ ...start, teamd: { url: "x".repeat(600), token: "x" } }, "teamd.url: must be at most 512 characters"],
];

test.each(refused)("%j", (body, message) => {
  expect(() => parse(teamStartSchema, body, refuseTeam)).toThrow(new RegExp(`^${message}$`));
});

test("a number of lines has no upper bound: what is above ours is cut, and that is said", () => {
  for (const lines of [1, 5_000, 1e9, Number.MAX_VALUE]) {
    expect(parse(teamCaptureSchema, { teamId: "t", sessionName: "s", lines }, refuseTeam)).toMatchObject({ lines });
  }
});
