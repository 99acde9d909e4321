/** `tmuxwire mcp` and `/mcp` on real tmux, through the SDK's own client. */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DAEMON_NODE_FLAGS } from "../../adapters/serving/autostart.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { mcpOverPipes } from "../support/daemon/mcpProgram.ts";

let sandbox: CliSandbox;
beforeAll(async () => {
  sandbox = cliSandbox();
  await sandbox.serve();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

describe.each(["legacy", "modern"] as const)("%s clients over pipes", (era) => {
  test("make a session, run, send, wait, capture, end it", async () => {
    await using mcp = await mcpOverPipes(sandbox.env, era);
    const name = `mcp-${era}`;
    const session = await mcp.call("create", { name, command: ["sh"], cols: 100, rows: 20 });
    const pane = session["activePane"] as string;
    await mcp.call("wait", { pane, from: "tail:1", prompt: true });
    expect(await mcp.call("run", { pane, command: "printf 'a\\nb\\n'; (exit 7)" })).toMatchObject({
      output: "a\nb\n",
      exitCode: 7,
    });
    const { position } = await mcp.call("send", {
      pane,
      parts: [{ kind: "text", text: "echo one-$((40+2))" }, { kind: "enter" }],
    });
    const waited = await mcp.call("wait", { pane, from: position, pattern: { regex: "one-\\d+$" } });
    expect(waited).toMatchObject({ timedOut: false, matched: [{ predicate: "pattern", text: "one-42" }] });
    expect(waited["screen"]).toContain("one-42");
    expect((await mcp.call("capture", { pane }))["output"]).toContain("\none-42\n");
    const since = await mcp.call("capture", { pane, since: position });
    expect(since["output"]).toMatch(/^echo one-\$\(\(40\+2\)\)\none-42\n/);
    const { servers } = (await mcp.call("list", {})) as { servers: { panes: object[] }[] };
    expect(servers[0]?.panes).toContainEqual(expect.objectContaining({ id: pane, sessions: [name], command: "sh" }));
    const keys = [{ kind: "keys", keys: ["Ctrl+C"] }];
    await expect(mcp.call("send", { pane, parts: keys })).rejects.toThrow(/Ctrl\+C; did you mean C-c\?$/);
    expect(await mcp.call("search", { pattern: { literal: "ONE-4", ignoreCase: true } })).toMatchObject({
      matches: [{ pane, text: "one-42" }],
    });
    const split = await mcp.call("split", { pane, direction: "horizontal", command: ["cat"] });
    await mcp.call("kill", { pane: split["pane"] });
    await mcp.call("kill", { session: name });
    await expect(mcp.call("capture", { pane })).rejects.toThrow(/^NOT_FOUND: /);
  });

  test("hear what a command prints while it runs, and free it when they give it up", async () => {
    await using mcp = await mcpOverPipes(sandbox.env, era);
    const session = await mcp.call("create", { name: `progress-${era}`, command: ["sh"] });
    const pane = session["activePane"] as string;
    await mcp.call("wait", { pane, from: "tail:1", prompt: true });
    const heard: string[] = [];
    const gone = new AbortController();
    const onprogress = ({ message = "" }: { message?: string | undefined }): void => {
      heard.push(message);
      if (heard.join("").includes("begun")) gone.abort();
    };
    const command = "echo begun; cat";
    const run = mcp.call("run", { pane, command, timeoutMs: 600_000 }, { onprogress, signal: gone.signal });
    await expect(run).rejects.toThrow("abort");
    expect(heard.join("")).toContain("begun");
    // Another is refused as long as the first is under way.
    await mcp.call("interrupt", { pane });
    await mcp.call("wait", { pane, from: "tail:1", prompt: true });
    expect(await mcp.call("run", { pane, command: "echo after" })).toMatchObject({ output: "after\n", exitCode: 0 });
    await mcp.call("kill", { session: `progress-${era}` });
  });
});

test("a daemon that is not there is started, and stderr says so; --no-autostart keeps it from that", async () => {
  await using alone = cliSandbox();
  const env = { ...alone.env, TMUXWIRE_PORT: "0" };
  await using without = await mcpOverPipes(env, "legacy", ["--no-autostart"]).catch((error: unknown) => ({
    error,
    [Symbol.asyncDispose]: async () => undefined,
  }));
  expect("error" in without ? String(without.error) : "connected").toMatch(/no daemon listens on .*: start one with/);
  await using mcp = await mcpOverPipes(env, "legacy");
  const [, pid = ""] = /no daemon was running, so one was started \(pid (\d+)\); it logs to /.exec(mcp.stderr()) ?? [];
  try {
    expect(Number(pid)).toBeGreaterThan(0);
    const args = execFileSync("ps", ["-o", "args=", "-p", pid], { encoding: "utf8" });
    expect(args).toContain(` ${DAEMON_NODE_FLAGS.join(" ")} `);
    expect(await mcp.call("list", {})).toMatchObject({ servers: [{ name: "main", state: "ready" }] });
    // The next daemon is greeted as the first was: the client need not know.
    process.kill(Number(pid), "SIGTERM");
    await eventually(
      async () =>
        !(await mcp.raw("list", {}).then(
          () => false,
          () => true,
        )) && /started.*started/s.test(mcp.stderr()),
    );
    expect(await mcp.call("list", {})).toMatchObject({ servers: [{ name: "main", state: "ready" }] });
  } finally {
    const started = [...mcp.stderr().matchAll(/one was started \(pid (\d+)\)/g)];
    for (const [, each] of started) endProcess(Number(each));
    expect(started).toHaveLength(2);
  }
});

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
