import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../../../adapters/commands/commandTable.ts";
import type { CommandSpec } from "../../../../adapters/cli/commandTypes.ts";
import { Interrupted, processIo } from "../../../../adapters/cli/cliIo.ts";
import { runCli } from "../../../../adapters/cli/runCli.ts";
import { tmuxwireProgram } from "../../../../adapters/cli/tmuxwireProgram.ts";
import { TmuxwireError } from "../../../../adapters/client/client.ts";
import { AppError, ERROR_SURFACES, type ErrorCode } from "../../../../protocol/errors.ts";
import { inProcessCli } from "../../../support/daemon/cliOutput.ts";

const failing = (error: unknown): CommandSpec => ({
  name: "fail",
  summary: "fails",
  positionals: [],
  options: [{ name: "json", type: "flag", description: "answer in JSON" }],
  examples: [],
  run: () => {
    throw error;
  },
});

describe("help", () => {
  test("lists every command with its summary", async () => {
    const { code, out, err } = await inProcessCli(["help"]);
    expect([code, err]).toEqual([0, ""]);
    for (const { name, summary, isHidden = false } of COMMANDS)
      expect([name, new RegExp(`^  ${name} +${summary}$`, "m").test(out)]).toEqual([name, !isHidden]);
  });

  test.each(COMMANDS.map(({ name }) => [name]))(
    "tells everything about %s, whichever way it is asked",
    async (name) => {
      const { code, out } = await inProcessCli(["help", name]);
      expect(code).toBe(0);
      const command = COMMANDS.find((candidate) => candidate.name === name);
      for (const option of command?.options ?? []) expect(out).toContain(`--${option.name}`);
      for (const positional of command?.positionals ?? []) expect(out).toContain(positional.name);
      for (const { line } of command?.examples ?? []) expect(out).toContain(line);
      expect(out.split("\n").filter((line) => line.length > 110)).toEqual([]);
      expect((await inProcessCli([name, "--help"])).out).toBe(out);
      expect((await inProcessCli([name, "-h", "whatever"])).out).toBe(out);
    },
  );

  test.each(["exit-codes", "targets", "environment"])("help %s describes more than one command", async (topic) => {
    const { code, out } = await inProcessCli(["help", topic]);
    expect([code, out.split("\n")[2]]).toEqual([0, `${topic}:`]);
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect((await inProcessCli(["help"])).out.replaceAll("\n", " ")).toContain(`help ${topic}`);
  });

  test.each([
    [["hlep"], 'did you mean "help"?'],
    [["wait", "work", "--idle", "1"], "did you mean --stable?"],
    [["help", "exit-code"], 'did you mean "exit-codes"?'],
    [["play", "/nonexistent"], "there is no file /nonexistent"],
    [["resize", "work", "120"], "such as work 120 40 or work 120x40"],
  ])("%j: what was meant", async (args, words) => {
    const { code, err } = await inProcessCli(args);
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  });

  test("no command at all is a mistake, and the list goes to stderr", async () => {
    const { code, out, err } = await inProcessCli([]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("Start here");
  });

  test("colours only where they are wanted", async () => {
    expect((await inProcessCli(["help", "send"], { colour: true })).out).toContain("\u001b[1m");
    expect((await inProcessCli(["help", "send"])).out).not.toContain("\u001b");
  });
});

describe("failures", () => {
  test.each(Object.keys(ERROR_SURFACES) as ErrorCode[])("%s has the table's exit code and one line", async (code) => {
    const error = new AppError(code, "what\nto do");
    const result = await inProcessCli(["fail"], {}, [failing(error)]);
    expect(result).toEqual({ code: ERROR_SURFACES[code].exitCode, out: "", err: "tmuxwire: what to do\n" });
  });

  test("with --json the error is the one thing on stdout, and stderr stays empty", async () => {
    const error = new AppError("RESOURCE_LIMIT", "too much", { details: { limit: 3 } });
    const { code, out, err } = await inProcessCli(["fail", "--json"], {}, [failing(error)]);
    expect([code, err]).toEqual([8, ""]);
    expect(JSON.parse(out)).toEqual({ error: { code: "RESOURCE_LIMIT", message: "too much", details: { limit: 3 } } });
  });

  test("a wrong command line prints JSON as well when that is asked for", async () => {
    const { code, out } = await inProcessCli(["panes", "--json", "--wat"]);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ error: { code: "INVALID_ARGUMENT" } });
  });

  test("but a --json that is somebody's text does not count", async () => {
    const { code, out, err } = await inProcessCli(["snd", "--", "--json"]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain('did you mean "send"?');
  });

  test("the daemon's errors keep their code; what kept us from reaching it is told instead of that", async () => {
    const daemons = new TmuxwireError("TIMEOUT", "not within 3 ms", { status: 408 });
    expect((await inProcessCli(["fail"], {}, [failing(daemons)])).code).toBe(124);
    const cause = new AppError("DAEMON_UNREACHABLE", "no daemon listens on /x");
    const lost = new TmuxwireError("DAEMON_UNREACHABLE", "cannot be reached", { cause });
    expect(await inProcessCli(["fail"], {}, [failing(lost)])).toMatchObject({
      code: 69,
      err: "tmuxwire: no daemon listens on /x\n",
    });
  });

  test("a message cannot steer the terminal it is shown on", async () => {
    const error = new AppError("NOT_FOUND", "no \u001b[2Jpane\u202e");
    expect((await inProcessCli(["fail"], {}, [failing(error)])).err).toBe("tmuxwire: no �[2Jpane�\n");
  });

  test("our own mistakes end with 1, their stack shown to whoever asks for it", async () => {
    const table = [failing(new TypeError("oops"))];
    expect(await inProcessCli(["fail"], {}, table)).toMatchObject({ code: 1, err: "tmuxwire: oops\n" });
    const asked = await inProcessCli(["fail"], { env: { TMUXWIRE_LOG_LEVEL: "debug" } }, table);
    expect(asked.err).toContain("TypeError: oops\n    at ");
  });

  test("an interrupted command says nothing and has the signal's code", async () => {
    const controller = new AbortController();
    controller.abort(new Interrupted(130, "interrupted"));
    const table = [failing(new TmuxwireError("DAEMON_UNREACHABLE", "cut"))];
    expect(await inProcessCli(["fail"], { signal: controller.signal }, table)).toEqual({ code: 130, out: "", err: "" });
  });
});

describe("the process's own input and output", () => {
  /** As much of a process as `processIo` uses. */
  function fakeProcess(env: Record<string, string>, isTTY: boolean, write: Writable["_write"]): NodeJS.Process {
    const stdout = Object.assign(new Writable({ write }), { isTTY });
    const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
    const nothing = (): void => undefined;
    return {
      env,
      stdout,
      stderr,
      stdin: process.stdin,
      platform: "linux",
      cwd: () => "/",
      once: nothing,
      on: nothing,
    } as unknown as NodeJS.Process;
  }

  test.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ TERM: "dumb" }, true, false],
  ])("%j on a terminal (%j): colours %j", (env, isTTY, colour) => {
    expect(
      processIo(
        fakeProcess(env, isTTY, (_chunk, _encoding, done) => done()),
        "tmuxwire",
      ).colour,
    ).toBe(colour);
  });

  test("a reader that has gone ends the command quietly", async () => {
    const epipe = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    const io = processIo(
      fakeProcess({}, false, (_chunk, _encoding, done) => done(epipe)),
      "tmuxwire",
    );
    await io.out("a");
    await new Promise(setImmediate);
    expect(io.signal.aborted).toBe(true);
    await io.out("b");
    const table = [failing(io.signal.reason)];
    expect(await inProcessCli(["fail"], { signal: io.signal }, table)).toEqual({ code: 0, out: "", err: "" });
  });
});

test("output that cannot be written is one line and exit code 1, however the stream says so", async () => {
  const enospc = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  for (const write of [
    ((_chunk, _encoding, done) => done(enospc)) satisfies Writable["_write"],
    () => {
      throw enospc;
    },
  ]) {
    let err = "";
    const stdout = Object.assign(new Writable({ write }), { isTTY: false });
    const stderr = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        err += chunk.toString();
        done();
      },
    });
    const io = processIo(
      {
        ...process,
        stdout,
        stderr,
        cwd: () => "/",
        once: () => undefined,
        on: () => undefined,
      } as unknown as NodeJS.Process,
      "tmuxwire",
    );
    for (const args of [["help"], ["--version"], ["fail", "--json"]]) {
      expect(await runCli(tmuxwireProgram([failing(new Error("no"))]), args, io)).toBe(1);
    }
    expect(err).toBe(
      "tmuxwire: cannot write to standard output (ENOSPC: no space left on device, write): free some space, or redirect it elsewhere\n",
    );
  }
});

test("the version, three ways", async () => {
  const { out } = await inProcessCli(["--version"]);
  expect((await inProcessCli(["-V"])).out).toBe(out);
  expect((await inProcessCli(["version"])).out).toBe(out);
});

test("other names of a command", async () => {
  const { out } = await inProcessCli(["help", "ls"]);
  expect(out).toContain("tmuxwire tree is the same");
  expect((await inProcessCli(["help", "tree"])).out).toBe(out);
  expect((await inProcessCli(["tree", "--help"])).out).toBe(out);
  expect((await inProcessCli(["sho"])).err).toContain('did you mean "show"?');
});

describe("messages", () => {
  test("a name that is near, and where the token is", async () => {
    const key = new TmuxwireError("INVALID_ARGUMENT", "Invalid key token: Ctrl+C", { details: { nearest: "C-c" } });
    expect((await inProcessCli(["fail"], {}, [failing(key)])).err).toBe(
      "tmuxwire: Invalid key token: Ctrl+C; did you mean C-c?\n",
    );
    const token = failing(new TmuxwireError("UNAUTHORIZED", "no"));
    const { err } = await inProcessCli(["fail"], { homeDir: "/home/me" }, [token]);
    expect(err).toMatch(/refused the token: .*--token-file.*\/home\/me\/\.local\/state\/tmuxwire\/token/);
  });

  test("a pane can be left out inside tmux only", async () => {
    expect((await inProcessCli(["capture"])).err).toMatch(/missing PANE: you can leave it out only inside a tmux pane/);
    const inside = { TMUX: "/elsewhere/own,1,0", TMUX_PANE: "%1", TMUXWIRE_TMUX_SOCKET: "/elsewhere/own" };
    const other = await inProcessCli(["capture", "--server", "mine"], { env: inside });
    expect(other.err).toMatch(/missing PANE: this terminal's pane is on another server/);
    const { code, err } = await inProcessCli(["capture"], { env: inside });
    expect([code, err]).toEqual([69, expect.stringMatching(/no daemon listens/)]);
  });
});
