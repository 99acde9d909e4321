/** The client commands against a daemon on real tmux, each a process of its own as a user's shell would start it. */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CliSandbox, Finished, RunOptions } from "../support/daemon/cliSandbox.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";
import { run } from "../support/daemon/sandboxDaemon.ts";

let sandbox: CliSandbox;
let url: string;
let tmuxPid: number;
beforeAll(async () => {
  sandbox = cliSandbox();
  const daemon = await sandbox.serve();
  [, url = ""] = await daemon.line(/listening on (http:\S+)/);
  tmuxPid = Number(sandbox.tmux(sandbox.tmuxSocketPath, "display-message", "-p", "#{pid}"));
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const cli = (args: readonly string[], options?: RunOptions): Promise<Finished> => sandbox.run(args, options);

const ok = (...args: string[]): Promise<string> => run(sandbox, ...args);

/** A session of one pane, ready to be typed into. */
async function shell(name: string): Promise<string> {
  const pane = (await ok("new", name, "--", "sh")).trim();
  await ok("wait", pane, "--from", "tail:1", "--prompt");
  return pane;
}

describe("one session from its beginning to its end", () => {
  test("new → send → wait → capture → run → follow → kill", async () => {
    const pane = (await ok("new", "work", "--cols", "100", "--rows", "30", "--", "sh")).trim();
    expect(pane).toMatch(/^%\d+$/);
    expect(await ok("sessions")).toMatch(new RegExp(`^work +\\$\\d+ +${pane} +1 `, "m"));
    expect(await ok("panes")).toMatch(new RegExp(`^${pane} +work +100x30 +\\d+ +running`, "m"));

    await ok("send", "work", "--enter", "echo one-$((40+2)); echo two");
    expect(await ok("wait", "work", "--from", "tail:50", "--regex", "^one-\\d+")).toBe("one-42\n");
    expect(await ok("capture", "work")).toMatch(/one-42\ntwo\n/);

    const ran = await cli(["run", "work", "printf 'a\\nb'; exit_with() { return $1; }; exit_with 7"]);
    expect(ran).toMatchObject({ code: 7, stdout: "a\nb\n", stderr: "" });

    const following = sandbox.start(["follow", "work", "--from", "snapshot"]);
    const typed = sandbox.start(["follow", "work", "--json"]);
    await typed.line(/"kind":"open"/);
    await ok("send", "work", "-e", "echo three-$((1+2))");
    await following.line(/three-3/);

    expect(await cli(["kill", "wor"])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/no session "wor"/) as string,
    });
    await ok("kill", "work");
    expect((await following.finished).code).toBe(0);
    const events = (await typed.finished).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string });
    expect([events[0]?.kind, events.at(-1)?.kind]).toEqual(["open", "closed"]);
    expect(await cli(["capture", "work"])).toMatchObject({ code: 3 });
  });
});

describe("new", () => {
  test.runIf(keepsPanes())("runs a program as it is given, in this directory, and keeps it readable", async () => {
    // It waits before it ends: tmux before 3.7 may lose what a program writes last (docs/tmuxFacts.md 15).
    const program = 'printf "%s|" "$@"; pwd; read line; exit 3';
    const pane = (await ok("new", "kept", "--keep", "--", "sh", "-c", program, "sh", "a b", "-x", "$HOME")).trim();
    const cwd = realpathSync(sandbox.root);
    expect(await ok("wait", pane, "--from", "tail:9", "--text", cwd)).toBe(`${cwd}\n`);
    const ended = ok("wait", pane, "--enter", "--exit", "--json");
    // tmux 3.3a misses one SIGCHLD in ten here, and then never learns that its program has ended.
    const nudge = setInterval(() => process.kill(tmuxPid, "SIGCHLD"), 50);
    const response = JSON.parse(await ended.finally(() => clearInterval(nudge))) as { exit: { exitCode: number } };
    expect(response.exit.exitCode).toBe(3);
    expect(await ok("capture", pane, "--joined", "--lines", "50")).toContain(`a b|-x|$HOME|${cwd}`);
    expect(await ok("panes")).toMatch(new RegExp(`^${pane} +kept .* exited 3`, "m"));
  });

  test("refuses a name that is taken", async () => {
    await ok("new", "taken");
    const { stdout, stderr } = await cli(["new", "bad:name", "-x", "90", "-y", "20"]);
    const [name = ""] = / (bad\S*)\n$/.exec(stderr)?.slice(1) ?? ["bad:name"];
    expect((await ok("ls", name)).split("\n")[2]).toContain(`${stdout.trim()}* 90x20`);
    await ok("resize", name, "100x30");
    expect(JSON.parse(await ok("ls", name, "--json"))).toMatchObject({
      sessions: [{ name }],
      panes: [{ cols: 100, rows: 30 }],
    });
    expect(await cli(["ls", "bda"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no session "bda"') as string,
    });
    await ok("new", "other");
    expect(await ok("kill", name, "other")).toBe("");
    expect(await cli(["kill", "other", "taken"])).toMatchObject({ code: 3 });
    expect(await cli(["new", "taken"])).toMatchObject({ code: 7, stderr: "tmuxwire: duplicate session: taken\n" });
  });
});

describe("send", () => {
  test("types every byte, wherever it comes from", async () => {
    const file = sandbox.path("typed");
    const pane = (await ok("new", "raw", "--", "sh", "-c", `stty raw -echo; printf ready; exec cat > ${file}`)).trim();
    await ok("wait", pane, "--from", "tail:1", "--text", "ready");
    await ok("send", pane, "--", "-R;", "'quoted'", "$(x)");
    const bytes = randomBytes(10_000);
    expect((await cli(["send", pane, "-"], { input: bytes })).code).toBe(0);
    await ok("send", pane, "--key", "C-c", "-k", "Up", "--enter", "end");
    const expected = Buffer.concat([Buffer.from("-R; 'quoted' $(x)"), bytes, Buffer.from("end\u0003\u001b[A\r")]);
    await expect.poll(() => readFileSync(file).length, { timeout: 10_000, interval: 5 }).toBe(expected.length);
    expect(readFileSync(file).equals(expected)).toBe(true);
  });
});

describe("wait", () => {
  test("each predicate", async () => {
    const pane = await shell("waits");
    expect(await ok("wait", pane, "--send", "echo x=$((6*7))", "--enter", "--text", "x=42")).toBe("x=42\n");
    expect(await ok("wait", pane, "-s", "echo ABC", "-e", "--regex", "^abc$", "--ignore-case")).toBe("ABC\n");
    expect(await ok("wait", pane, "--stable", "0.05")).toBe("");
    expect(await ok("wait", pane, "-s", ":", "-e", "--prompt", "--stable", "0.05")).toMatch(/^[$#] ?$/m);
    const any = JSON.parse(await ok("wait", pane, "--any", "--text", "never", "--stable", "0.05", "--json")) as {
      matched: { predicate: string }[];
    };
    expect(any.matched.map(({ predicate }) => predicate)).toEqual(["anyOf[1].stable"]);
    const gone = sandbox.start(["wait", pane, "--gone"]);
    await ok("kill", "waits");
    const { code } = await gone.finished;
    expect([0, 3]).toContain(code);
  });

  test("says when the time is over, with exit code 124, and what had been seen", async () => {
    const pane = await shell("late");
    const late = await cli(["wait", pane, "--text", "never", "--timeout", "0.05"]);
    expect(late).toMatchObject({
      code: 124,
      stdout: "",
      stderr: expect.stringMatching(/^tmuxwire: .*0\.05 s/) as string,
    });
    const json = await cli(["wait", pane, "--text", "never", "-t", "0.05", "--json"]);
    expect([json.code, json.stderr]).toEqual([124, ""]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      error: { code: "TIMEOUT", details: { predicates: expect.anything() as object } },
    });
  });

  test("ends with the shell's Ctrl-C, and frees the wait", async () => {
    const pane = await shell("interrupted");
    const waiting = sandbox.start(["wait", pane, "--text", "never"]);
    const active = async (): Promise<string> => {
      const headers = { authorization: `Bearer ${readFileSync(sandbox.tokenPath, "utf8").trim()}` };
      return /^wait_active\S* (\d+)/m.exec(await (await fetch(`${url}/metrics`, { headers })).text())?.[1] ?? "";
    };
    await expect.poll(active, { timeout: 10_000, interval: 5 }).toBe("1");
    waiting.child.kill("SIGINT");
    expect(await waiting.finished).toMatchObject({ code: 130, stdout: "", stderr: "" });
    await expect.poll(active, { timeout: 10_000, interval: 5 }).toBe("0");
  });
});

describe("run", () => {
  test("gives the command's output and status, and nothing of ours", async () => {
    const pane = await shell("runs");
    expect(await cli(["run", pane, "true"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(await cli(["run", pane, "--", "sh", "-c", "'exit 42'"])).toMatchObject({ code: 42, stdout: "" });
    const raw = await cli(["run", "--raw", pane, "printf '\\033[31mred\\033[0m'"]);
    expect(raw.stdout).toContain("\u001b[31mred\u001b[0m");
    const json = JSON.parse((await cli(["run", "--json", pane, "seq 3; false"])).stdout) as Record<string, unknown>;
    expect(json).toMatchObject({ output: "1\n2\n3\n", exitCode: 1, gaps: [] });
  });

  test("takes everything behind the pane, options too, as words with a blank between", async () => {
    const pane = await shell("words");
    expect(await ok("run", pane, "ls", "-d", "/usr")).toBe("/usr\n");
    expect(await ok("run", pane, "echo", "--json", "-t", "'a  b'", "c  d")).toBe("--json -t a  b c d\n");
    const refused = await cli(["run", pane, "-t", "5", "true"]);
    expect(refused).toMatchObject({ code: 125, stdout: "" });
    expect(refused.stderr).toMatch(/-t is not a COMMAND/);
  });

  test.each([
    ["bash", ["bash", "--norc", "--noprofile"]],
    ["sh", ["sh"]],
  ])("prints as it comes, and Ctrl-C is the pane's: %s", async (name, command) => {
    const pane = (await ok("new", `stream-${name}`, "--", ...command)).trim();
    await ok("wait", pane, "--from", "tail:1", "--prompt");
    const running = sandbox.start(["run", pane, "echo first; read line; echo $line; sleep 1000; echo never"]);
    await running.line(/^first\n/);
    await ok("send", pane, "--enter", "second");
    await running.line(/\nsecond\n/);
    await expect
      .poll(async () => JSON.parse(await ok("pane", pane, "--json")) as object)
      .toMatchObject({ command: "sleep" });
    running.child.kill("SIGINT");
    const { code, stdout } = await running.finished;
    expect([code, stdout.includes("never")]).toEqual([130, false]);
    expect(await ok("run", pane, "echo alive")).toBe("alive\n");
  });

  test("a shell that gives the line up is told, and nobody waits for it", async () => {
    const pane = (await ok("new", "given-up", "--", "dash")).trim();
    await ok("wait", pane, "--from", "tail:1", "--prompt");
    const { code, stderr } = await cli(["run", pane, "if then"]);
    // dash abandons the whole line, and its end mark with it.
    expect([code, stderr]).toEqual([125, "tmuxwire: the shell is back at its prompt but reported no exit status\n"]);
  });

  test("its own failures are kept apart from the command's", async () => {
    const pane = await shell("apart");
    expect((await cli(["run", pane, "exit_with() { return $1; }; exit_with 7"])).code).toBe(7);
    expect((await cli(["run", "no-such-pane", "true"])).code).toBe(125);
    expect((await cli(["run", "--socket", sandbox.path("nobody.sock"), pane, "true"])).code).toBe(255);
    // The shell is gone, and so is whoever could tell a status.
    expect((await cli(["run", pane, "exit 3"])).code).toBe(125);
  });

  test("the command goes on when the time is over", async () => {
    const pane = await shell("slow");
    // The prompt is known then, and the time is the command's alone.
    await ok("run", pane, "true");
    expect((await cli(["run", "-t", "1", pane, "read line; echo got-$line"])).code).toBe(124);
    expect(await ok("wait", pane, "--send", "it", "--enter", "--regex", "^got-it")).toBe("got-it\n");
  });
});

describe("ls", () => {
  test("draws the tree again when it changes, with what the programs do", async () => {
    const pane = await shell("watched");
    expect(await ok("ls")).toMatch(new RegExp(`^watched \\$\\d+\\n {2}0: \\S+ @\\d+\\*\\n {4}\\${pane}\\* 80x24`, "m"));
    const watching = sandbox.start(["ls", "-w"]);
    await watching.line(new RegExp(`\\${pane}\\* 80x24 idle`));
    await ok("split", pane);
    await watching.line(new RegExp(`\\${pane} 80x12`));
    watching.child.kill("SIGINT");
    expect((await watching.finished).code).toBe(130);
  });
});

describe("follow", () => {
  test("--text: whole lines, as a terminal's reader would grep them", async () => {
    const pane = await shell("lines");
    const from = (JSON.parse(await ok("capture", pane, "--json")) as { position: string }).position;
    await ok("run", pane, "printf '\\033[31mre'; printf 'd\\033[0m one\\r\\n10%%\\r20%%\\nend\\n'");
    const following = sandbox.start(["follow", pane, "--text", "--from", from]);
    await following.line(/^red one\n10%\n20%\nend\n/m);
    following.child.kill("SIGINT");
    expect((await following.finished).stdout).not.toContain("\u001b");
    const refused = await cli(["follow", pane, "--text", "--json"]);
    expect(refused.code).toBe(2);
  });

  test("goes on from where another one stopped, every byte once", async () => {
    const pane = await shell("stream");
    const first = sandbox.start(["follow", pane, "--json"]);
    const [open] = await first.line(/.*"kind":"open".*/);
    await ok("run", pane, "seq 1 500");
    first.child.kill("SIGINT");
    expect((await first.finished).code).toBe(130);
    const events = (await first.finished).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; position: string; data?: string });
    const outputs = events.filter((event) => event.kind === "output");
    const start = (JSON.parse(open) as { position: string }).position;
    await ok("run", pane, "seq 501 1000");
    await ok("new", "stream-end", "--", "sh");
    const bytesOf = async (from: string): Promise<Buffer> => {
      const running = sandbox.start(["follow", pane, "--from", from]);
      await running.line(/1000\r\n/);
      running.child.kill("SIGINT");
      return Buffer.from((await running.finished).stdout, "latin1");
    };
    const whole = await bytesOf(start);
    const rest = await bytesOf(outputs.at(-1)?.position ?? "");
    const seen = Buffer.concat([...outputs.map((event) => Buffer.from(event.data ?? "", "base64")), rest]);
    const end = "1000\r\n";
    const upTo = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.lastIndexOf(end) + end.length);
    const digest = (bytes: Buffer): string => createHash("sha256").update(upTo(bytes)).digest("hex");
    expect(digest(seen)).toBe(digest(whole));
  });

  test("a reader that has had enough ends it quietly", async () => {
    const pane = (await ok("new", "yes", "--", "yes")).trim();
    const following = sandbox.start(["follow", pane]);
    await following.line(/y\r\ny/);
    following.child.stdout?.destroy();
    expect(await following.finished).toMatchObject({ code: 0, stderr: "" });
    await ok("kill", "yes");
  });

  test("a pane or daemon that was never there is an error, not a wait", async () => {
    expect((await cli(["follow", "%99999"])).code).toBe(3);
    expect((await cli(["follow", "x", "--socket", sandbox.path("none.sock")])).code).toBe(69);
  });
});

describe("the way to the daemon", () => {
  test("by URL with the token's file, which has to be the right one", async () => {
    expect(JSON.parse(await ok("panes", "--json", "--url", url))).toHaveProperty("panes");
    expect((await cli(["panes"], { env: { TMUXWIRE_URL: url } })).code).toBe(0);
    const other = sandbox.path("other-token");
    writeFileSync(other, "o".repeat(43), { mode: 0o600 });
    const refused = await cli(["panes", "--url", url, "--token-file", other]);
    expect(refused).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/refused the token: .*--token-file/) as string,
    });
    expect((await cli(["panes", "--token-file", other])).code).toBe(6);
  });

  test("never sends the token over a network in the clear", async () => {
    for (const bad of [
      "http://example.com",
      "http://127.0.0.1.example.com:1",
      "ftp://localhost",
      "x",
      `${url}?token=1`,
    ]) {
      expect(await cli(["panes", "--url", bad])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/is not a daemon URL/) as string,
      });
    }
  });

  test("says what to do when there is no daemon, or no such server", async () => {
    const none = await cli(["panes", "--socket", sandbox.path("none.sock")]);
    expect(none).toMatchObject({
      code: 69,
      stderr: expect.stringMatching(/no daemon listens on .*: start one with `tmuxwire serve`/) as string,
    });
    expect(await cli(["panes", "--server", "nope"])).toMatchObject({ code: 3 });
    expect((await cli(["panes", "--url", "http://127.0.0.1:1"])).code).toBe(69);
  });
});
