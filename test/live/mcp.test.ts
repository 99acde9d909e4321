/** `tmuxwire mcp` and `/mcp` on real tmux, through the SDK's own client. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { mcpOverPipes } from "../support/daemon/mcpClient.ts";

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
    await mcp.call("kill", { session: name });
    await expect(mcp.call("capture", { pane })).rejects.toThrow(/^NOT_FOUND: /);
  });
});
