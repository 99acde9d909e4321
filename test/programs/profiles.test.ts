/**
 * Profiles of one's own, from the file to the pane: the daemon takes them when it starts and says in its log which it refused,
 * and the command line records screens for them and holds them against these.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRecordedScreens } from "../../daemon/readiness/recordedScreens.ts";
import { eventually } from "../support/clock/eventually.ts";
import { behind, type CliSandbox, cliSandbox, type Finished, type Running } from "../support/daemon/cliSandbox.ts";
import { ownProfile } from "../support/agents/ownProfile.ts";

const mine = {
  ...ownProfile,
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

test("an agent of a new version is named by `profiles check` until a profile for that version is there", async () => {
  await using sandbox = cliSandbox();
  const [directory, folder] = [sandbox.path("config/tmuxwire/profiles"), sandbox.path("node_modules/mine")];
  for (const made of [directory, folder]) mkdirSync(made, { recursive: true });
  const own = (file: string, more: object): void =>
    writeFileSync(join(directory, file), JSON.stringify({ ...mine, ...more }));
  const bin = sandbox.binaries("node_modules/mine/bin", {
    mine: "#!/bin/sh\nprintf 'new: '\nwhile read line; do :; done\n",
  });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "mine", version: "1.2" }));
  own("mine.json", {});
  await sandbox.serve([], { env: { PATH: behind(bin) } });
  const check = (...args: string[]): Promise<Finished> => sandbox.run(["profiles", "check", ...args]);

  expect(await check("mine")).toMatchObject({ code: 0, stdout: "no agent runs\n" });
  expect(await check("mien")).toMatchObject({ code: 3, stderr: expect.stringMatching(/neither an agent/) as string });
  await sandbox.run(["new", "work", "--", "mine"]);
  await eventually(async () =>
    (await sandbox.run(["agents"])).stdout.includes("unknown: new version 1.2, not known yet"),
  );
  const unknown = await check();
  expect(unknown.code).toBe(1);
  expect(unknown.stdout).toMatch(/^mine +mine +1\.2 +1\.0 +unknown +rules: none match its screen$/m);
  expect(JSON.parse((await check("--json")).stdout)).toEqual({
    agents: [
      expect.objectContaining({
        name: "mine",
        version: "1.2",
        seenWith: "1.0",
        why: "new version 1.2, not known yet",
        promptBox: null,
        screen: "unknown",
        matching: { asking: [], busy: [], busyFooter: [], ready: [] },
      }),
    ],
  });

  own("newer.json", { seenWith: ["1.2"], versions: ">=1.2", screen: { ...mine.screen, ready: ["^new:"] } });
  expect(await check("mine")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ 1\.2 .* recognised$/m) as string,
  });
  expect((await sandbox.run(["profiles"])).stdout).toMatch(/^mine +agent +own +1\.2 +in use for >=1\.2$/m);
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
