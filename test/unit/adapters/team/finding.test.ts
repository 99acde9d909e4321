/** What the extension finds: teamd, the daemon, and which directories a lease is about. */
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  daemonFilePath,
  readDaemonFile,
  removeDaemonFile,
  writeDaemonFile,
} from "../../../../adapters/team/teamd/daemonFile.ts";
import { defaultAgentId, discoverTeamd, discoverTeamId } from "../../../../adapters/team/teamd/discovery.ts";
import { pathInProject } from "../../../../adapters/team/piExtension.ts";
import { refuseTeam } from "../../../../adapters/team/teamMount.ts";
import { parse } from "../../../../protocol/api/parse.ts";
import { teamListSchema } from "../../../../protocol/api/team.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

let homeDir: string;
beforeEach(() => {
  homeDir = ownDirectory();
});

function runtime(team: string, url: string, changedSec: number, token = `token-${team}`): void {
  const directory = join(homeDir, ".pi/teams", team);
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "runtime.json");
  writeFileSync(path, JSON.stringify({ url, token, pid: 1, schemaVersion: 1 }));
  utimesSync(path, changedSec, changedSec);
}

describe("teamd", () => {
  test("the environment goes before the token file, that before the newest runtime.json", async () => {
    runtime("old", "http://127.0.0.1:1", 1_000);
    runtime("new", "http://127.0.0.1:2", 2_000);
    const find = (env: Record<string, string>, teamId?: string) => discoverTeamd({ env, homeDir, teamId });
    expect(await find({})).toMatchObject({ teamId: "new", url: "http://127.0.0.1:2", token: "token-new" });
    expect(await find({}, "old")).toMatchObject({ teamId: "old", token: "token-old" });
    expect(await find({ PI_TEAM_ID: "old" })).toMatchObject({ teamId: "old", token: "token-old" });
    const file = join(homeDir, "token");
    writeFileSync(file, "from-file\n");
    const url = "http://127.0.0.1:3";
    const env = { PI_TEAM_ID: "mine", PI_TEAMD_URL: url, PI_TEAMD_TOKEN_FILE: file, PI_AGENT_ID: "me" };
    expect(await find(env)).toEqual({ teamId: "mine", url, token: "from-file", agentId: "me" });
    expect(await find({ ...env, PI_TEAMD_TOKEN: "given" })).toMatchObject({ token: "given" });
    writeFileSync(file, JSON.stringify({ url: "http://127.0.0.1:4", token: "in-json" }));
    const inFile = { PI_TEAM_ID: "mine", PI_TEAMD_TOKEN_FILE: file };
    expect(await find(inFile)).toMatchObject({ url: "http://127.0.0.1:4", token: "in-json" });
    // Another team's environment is not this team's.
    expect(await find({ ...env, PI_TEAMD_TOKEN: "given" }, "old")).toMatchObject({ token: "token-old" });
  });

  test("without any there is none; a team may be named all the same", async () => {
    expect(await discoverTeamd({ env: { PI_TEAMD_URL: "http://127.0.0.1:1" }, homeDir })).toBeUndefined();
    runtime("broken", "", 1_000);
    mkdirSync(join(homeDir, ".pi/teams/empty"));
    expect(await discoverTeamd({ env: {}, homeDir })).toBeUndefined();
    expect(await discoverTeamId({ env: {}, homeDir })).toBeUndefined();
    expect(await discoverTeamId({ env: { PI_TEAM_ID: "named" }, homeDir })).toBe("named");
  });

  test("who posts", () => {
    expect(defaultAgentId({ PI_AGENT_ID: "worker-1", USER: "me" })).toBe("worker-1");
  });

  // What pi-team's client makes of them, as it was asked: a lease that it holds has to be the extension's.
  test.each([
    [{ USER: "me" }, "me-auto"],
    [{ USER: "Me & you" }, "Me-you-auto"],
    [{ USER: "  a b  " }, "a-b-auto"],
    [{ USER: "é", LOGNAME: "log" }, "log-auto"],
    [{ USER: "", LOGNAME: "", USERNAME: "win" }, "win-auto"],
    [{ USER: "--x--" }, "x-auto"],
    [{ USER: "DOMAIN\\user.name" }, "DOMAIN-user.name-auto"],
    [{ USER: "a@b.c" }, "a-b.c-auto"],
    [{ USER: "a__b-.c" }, "a__b-.c-auto"],
    [{ USER: "x".repeat(80) }, `${"x".repeat(80)}-auto`],
    [{ USER: "漢字", LOGNAME: "🙂" }, `agent-${process.pid}`],
    [{ USER: "-" }, `agent-${process.pid}`],
    [{}, `agent-${process.pid}`],
  ])("who posts for %j", (env, agentId) => {
    expect(defaultAgentId(env)).toBe(agentId);
    expect(parse(teamListSchema, { teamId: "t", agentId }, refuseTeam)).toEqual({ teamId: "t", agentId });
  });
});

describe("daemon.json", () => {
  const address = { url: "http://127.0.0.1:1", token: "t", pid: 42 };

  test("is its owner's alone, is replaced whole, and goes with its daemon", async () => {
    const path = daemonFilePath(join(homeDir, "a/b"));
    await writeDaemonFile(path, { ...address, pid: 41 });
    await writeDaemonFile(path, address);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(homeDir, "a/b")).mode & 0o777).toBe(0o700);
    expect(await readDaemonFile(path)).toEqual(address);
    await removeDaemonFile(path, 41);
    expect(existsSync(path)).toBe(true);
    await removeDaemonFile(path, 42);
    expect(existsSync(path)).toBe(false);
  });

  test("one that others can read, or that is a link or no such thing, is none", async () => {
    const path = daemonFilePath(homeDir);
    expect(await readDaemonFile(path)).toBeUndefined();
    await writeDaemonFile(path, address);
    chmodSync(path, 0o644);
    expect(await readDaemonFile(path)).toBeUndefined();
    chmodSync(path, 0o600);
    symlinkSync(path, join(homeDir, "link"));
    expect(await readDaemonFile(join(homeDir, "link"))).toBeUndefined();
    for (const text of ["", "[]", "null", '{"url":1,"token":"t","pid":1}']) {
      writeFileSync(path, text);
      expect(await readDaemonFile(path)).toBeUndefined();
    }
  });

  test("is not written where others may write", async () => {
    chmodSync(homeDir, 0o777);
    await expect(writeDaemonFile(daemonFilePath(homeDir), address)).rejects.toMatchObject({
      code: "CONFIGURATION_INVALID",
    });
    const file = join(homeDir, "file");
    writeFileSync(file, "");
    await expect(writeDaemonFile(daemonFilePath(file), address)).rejects.toThrow(/cannot write .*daemon\.json/);
  });
});

describe("the path that a lease is about", () => {
  test("is relative to the project's root, however it is reached", () => {
    const project = join(homeDir, "project");
    mkdirSync(join(project, ".git"), { recursive: true });
    mkdirSync(join(project, "a/b"), { recursive: true });
    symlinkSync(join(project, "a"), join(homeDir, "link"));
    symlinkSync(homeDir, join(project, "out"));
    expect(pathInProject(project, project)).toBe(".");
    expect(pathInProject(project, "a/b")).toBe("a/b");
    expect(pathInProject(join(project, "a"), ".")).toBe("a");
    expect(pathInProject(join(project, "a"), "..")).toBe(".");
    expect(pathInProject(join(homeDir, "link"), "b")).toBe("a/b");
    expect(pathInProject(project, join(project, "not-there-yet"))).toBe("not-there-yet");
    for (const outside of [homeDir, join(homeDir, "project-2"), "/", "../..", "out"]) {
      expect(pathInProject(project, outside)).toBeUndefined();
    }
  });

  test("without version control the project is pi's own directory", () => {
    mkdirSync(join(homeDir, "x/y"), { recursive: true });
    expect(pathInProject(join(homeDir, "x"), "y")).toBe("y");
    expect(pathInProject(join(homeDir, "x"), "..")).toBeUndefined();
  });
});
