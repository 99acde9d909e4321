/** Profiles that a person wrote: what is taken, what is refused in one line, and that no pattern of theirs holds the daemon up. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { beforeEach, describe, expect, test } from "vitest";
import claude from "../../../../adapters/agents/claude/profile.json" with { type: "json" };
import { profilesOf } from "../../../../adapters/agents/agentProfiles.ts";
import { refusedPattern } from "../../../../daemon/readiness/userProfiles.ts";
import { Profiles } from "../../../../daemon/readiness/profiles.ts";
import { patternsOf, readUserProfiles } from "../../../../daemon/readiness/userProfiles.ts";
import {
  judgeRecorded,
  readRecordedScreens,
  type RecordedScreen,
  writeRecordedScreen,
} from "../../../../daemon/readiness/recordedScreens.ts";
import { AGENTS, PROFILES } from "../../../support/agents/agentCatalogue.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

const { source: _, ...base } = claude;
const mine = {
  ...base,
  name: "mine",
  programs: ["mine"],
  titleHints: [],
  signatures: [],
  screen: {
    rows: 20,
    asking: ["^Really\\?"],
    busy: ["^working \\d{1,4} s$"],
    ready: ["^ready>"],
    boxExcludesDialog: false,
  },
};

let directory: string;
beforeEach(() => {
  directory = ownDirectory();
});
const write = (name: string, content: unknown): void =>
  writeFileSync(join(directory, name), typeof content === "string" ? content : JSON.stringify(content));

test("a profile of one's own is found by its program's name, and none is there without the directory", () => {
  expect(readUserProfiles(join(directory, "absent"))).toEqual([]);
  write("mine.json", mine);
  const [read] = readUserProfiles(directory);
  const profiles = new Profiles(profilesOf(AGENTS), [read!.profile!]);
  expect(profiles.guess({ command: "mine", title: "" }).name).toBe("mine");
  expect(profiles.named("mine").source).toBe("own");
});

test("one with a name of ours takes its place", () => {
  write("claude.json", { ...mine, name: "claude" });
  const profiles = new Profiles(profilesOf(AGENTS), [readUserProfiles(directory)[0]!.profile!]);
  expect(profiles.all.filter(({ name }) => name === "claude").map(({ screen }) => screen.rows)).toEqual([20]);
});

describe("is refused in one line that names the field, and the others hold:", () => {
  test.each([
    ["{", /JSON/],
    ["null", /^the profile must be a JSON object$/],
    [{ ...mine, kind: "robot" }, /^kind: /],
    [{ ...mine, extra: 1 }, /^there is no member `extra`; use one of name, kind, /],
    [{ ...mine, name: "shell" }, /^name: shell is the daemon's own/],
    [{ ...mine, titleHints: ["("] }, /^titleHints\.0: not a regular expression$/],
    [{ ...mine, titleHints: ["(a+)+b"] }, /^titleHints\.0: could take too long/],
    [{ ...mine, screen: { ...mine.screen, ready: ["^ok", "(a)\\1"] } }, /^screen\.ready\.1: back references/],
    [{ ...mine, titleHints: Array.from({ length: 65 }, (__, index) => `^${index}`) }, /more than 64 patterns/],
    ["x".repeat(70_000), /longer than/],
  ])("%#", (content, reason) => {
    write("bad.json", content);
    write("mine.json", mine);
    const [bad, good] = readUserProfiles(directory);
    expect(bad?.profile).toBeUndefined();
    expect(bad?.refused).toMatch(reason);
    expect(bad?.refused).not.toMatch(/\n/);
    expect(good?.profile?.name).toBe("mine");
  });

  test("a directory that cannot be read, of which nothing is known", () => {
    const refused = (path: string, reason: RegExp): void =>
      expect(readUserProfiles(path)).toEqual([{ file: path, refused: expect.stringMatching(reason) as string }]);
    write("file", "");
    refused(join(directory, "file"), /^cannot be read \(ENOTDIR\); /);
    refused(join(directory, "file", "profiles"), /^cannot be read \(ENOTDIR\); /);
    symlinkSync("loop", join(directory, "loop"));
    refused(join(directory, "loop"), /^cannot be read \(ELOOP\); /);
    mkdirSync(join(directory, "closed"), { mode: 0 });
    if (process.getuid?.() !== 0) refused(join(directory, "closed"), /^cannot be read \(EACCES\); /);
  });

  test("a directory, a FIFO, and the same name twice", () => {
    mkdirSync(join(directory, "a.json"));
    expect(spawnSync("mkfifo", [join(directory, "b.json")]).status).toBe(0);
    write("c.json", mine);
    write("d.json", mine);
    const read = readUserProfiles(directory);
    expect(read.map(({ refused }) => refused)).toEqual([
      "not a file",
      "not a file",
      undefined,
      expect.stringMatching(/^name: mine is the name in c\.json/) as string,
    ]);
  });
});

describe("a pattern", () => {
  test.each([
    "^ready>",
    "\\d+ tokens",
    "^[✢✳] \\S.{0,80}…(?: \\(|$)",
    "[Ee]nter to (?:select|confirm)",
    "\\[Pasted(?: \\+\\d{1,5} lines)?\\]",
    "^.*done$",
    "^›(?:[ \\u00a0](?!\\d{1,2}\\. )|$)",
  ])("%s may run", (source) => expect(refusedPattern(source)).toBeUndefined());

  test.each(["(a+)+b", "(a|a)*b", "(a|b|ab){20}c", ".*.*x", "^(.*)(.*)(.*)x", "(a)\\1", "(?=(a+)+b)", "((a?){30})*"])(
    "%s may not",
    (source) => expect(refusedPattern(source)).toBeDefined(),
  );

  test("that may run takes no longer than a turn on the worst row", () => {
    for (const source of ["\\d+ tokens", "^.*a.{0,1}b$", "x.{0,500}y"]) {
      if (refusedPattern(source) !== undefined) continue;
      const pattern = new RegExp(source, "u");
      const begun = performance.now();
      for (const row of ["1".repeat(512), "x".repeat(512), "a".repeat(512)]) pattern.test(row);
      expect(performance.now() - begun).toBeLessThan(10_000);
    }
  });

  test("of ours would be taken from a person too", () => {
    const refused = PROFILES.all
      .filter(({ kind }) => kind === "agent")
      .flatMap((profile) =>
        patternsOf(profile).flatMap(({ path, text }) => {
          const reason = refusedPattern(text);
          return reason === undefined ? [] : [`${profile.name} ${path} ${text} ${reason}`];
        }),
      );
    expect(refused).toEqual([]);
  });
});

test("a screen that was recorded is read back, and judged by the profile", () => {
  write("mine.json", mine);
  const profile = readUserProfiles(directory)[0]!.profile!;
  const screen = (name: string, state: RecordedScreen["state"], lines: string[]): RecordedScreen => ({
    name,
    state,
    judged: state,
    title: "a\u0007b",
    command: "mine",
    cursor: { row: 0, col: 3 },
    cols: 80,
    rows: 24,
    labels: [],
    question: [],
    lines,
  });
  const screens = [
    screen("idle", "idle", ["ready>"]),
    screen("busy", "busy", ["\u001b[1mworking 3 s\u001b[m"]),
    screen("asks", "asking", ["Really?"]),
    screen("nothing", "unknown", ["what"]),
  ];
  const read = readRecordedScreens(screens.map(writeRecordedScreen).join(""));
  expect(read).toEqual(screens.map((one) => ({ ...one, title: "a b" })));
  expect(read.map((one) => judgeRecorded(profile, one))).toEqual(["idle", "busy", "asking", "unknown"]);
});
