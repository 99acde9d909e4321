/**
 * Profiles of one's own, from the file to the pane: the daemon takes them when it starts and says in its log which it refused,
 * and the command line records screens for them and holds them against these.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readRecordedScreens } from "../../daemon/readiness/recordedScreens.ts";
import { behind, type CliSandbox, cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import claude from "../../adapters/agents/claude/profile.json" with { type: "json" };

const { source: _, seenWith: __, ...base } = claude;
const mine = {
  ...base,
  name: "mine",
  seenWith: ["1.0"],
  programs: ["mine"],
  titleHints: [],
  signatures: [],
  titles: [],
  screen: { rows: 20, asking: [], busy: ["^working$"], ready: ["^ready>"], boxExcludesDialog: false },
};

/** What an agent prints: Markdown, with a fence and a heading. */
const PROGRAM = `#!/bin/sh
printf '%s\\n' '## answer' '\`\`\`' 'code' '\`\`\`' && printf 'ready> '
read line && echo working && exec sleep 1000
`;

const refusals = ({ stderr }: Running): readonly object[] =>
  stderr()
    .split("\n")
    .filter((line) => line.includes('"profile.refused"'))
    .map((line) => JSON.parse(line) as object);

const listed = async (sandbox: CliSandbox): Promise<{ code: number | null; state: Record<string, string> }> => {
  const { code, stdout } = await sandbox.run(["profiles", "--json"]);
  const { profiles } = JSON.parse(stdout) as { profiles: { name: string; state: string }[] };
  return { code, state: Object.fromEntries(profiles.map(({ name, state }) => [name, state])) };
};

test("one is used, a broken one is named, and screens are recorded for the first", async () => {
  await using sandbox = cliSandbox();
  const directory = sandbox.path("config/tmuxwire/profiles");
  const broken = sandbox.path("config/tmuxwire/profiles/broken.json");
  mkdirSync(directory, { recursive: true });
  writeFileSync(sandbox.path("config/tmuxwire/profiles/mine.json"), JSON.stringify(mine));
  writeFileSync(broken, JSON.stringify({ ...mine, name: "broken", titleHints: ["("] }));
  const bin = sandbox.binaries("bin", { mine: PROGRAM });
  const ok = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await sandbox.run(args);
    expect([args, code, stderr]).toEqual([args, 0, ""]);
    return stdout;
  };

  const daemon = await sandbox.serve([], { env: { PATH: behind(bin) } });
  const refused = "titleHints.0: not a regular expression";
  expect(refusals(daemon)).toEqual([expect.objectContaining({ level: "warn", file: broken, refused })]);

  await ok("new", "work", "--", "mine");
  const following = sandbox.start(["follow", "work", "--json", "--readiness"]);
  await following.line(/"kind":"readiness","state":"idle".*"profile":"mine"/);

  const file = sandbox.path("config/tmuxwire/profiles/mine.md");
  expect(await ok("profile", "record", "mine", "work", "--state", "idle", "--as", "empty box")).toBe(`${file}\n`);
  await ok("send", "work", "--enter");
  await ok("wait", "work", "--from", "tail:10", "--regex", "^working");
  await ok("profile", "record", "mine", "work", "--state", "busy", "--as", "at work");
  const screens = readRecordedScreens(readFileSync(file, "utf8"));
  expect(screens.map(({ name, state }) => [name, state])).toEqual([
    ["empty box", "idle"],
    ["at work", "busy"],
  ]);
  expect(screens[0]?.lines).toEqual(["## answer", "```", "code", "```", "ready>"]);
  expect(screens[1]?.lines.at(-1)).toBe("working");

  const { code, state } = await listed(sandbox);
  expect(code).toBe(2);
  expect(state).toMatchObject({
    mine: "in use, 2 of 2 recorded screens right",
    [broken]: `refused: ${refused}`,
    claude: "in use",
  });
  const table = await sandbox.run(["profiles"]);
  expect(table.code).toBe(2);
  expect(table.stdout).toMatch(/^mine +agent +own +1\.0 +in use, 2 of 2 recorded screens right$/m);
  expect(table.stdout.split("\n").filter((line) => line.includes(refused))).toHaveLength(1);

  rmSync(broken);
  await ok("profile", "record", "mine", "work", "--state", "asking", "--as", "not so");
  expect(await listed(sandbox)).toMatchObject({
    code: 0,
    state: { mine: "in use, 2 of 3 recorded screens right, wrong: not so" },
  });
});

test("a directory that cannot be read is named in the log and by `profiles`, and stops nothing", async () => {
  await using sandbox = cliSandbox();
  const directory = sandbox.path("config/tmuxwire/profiles");
  mkdirSync(sandbox.path("config/tmuxwire"));
  writeFileSync(directory, "");
  const refused = expect.stringMatching(/^cannot be read \(ENOTDIR\)/) as string;
  expect(refusals(await sandbox.serve())).toEqual([expect.objectContaining({ file: directory, refused })]);
  const { code, state } = await listed(sandbox);
  expect([code, state[directory]]).toEqual([2, expect.stringMatching(/^refused: cannot be read \(ENOTDIR\)/)]);
  rmSync(directory);
  expect((await sandbox.run(["profiles"])).code).toBe(0);
});
