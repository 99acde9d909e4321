/** A daemon whose installed files are replaced while it runs, as an upgrade of the package does. */
import { cpSync, readdirSync, renameSync, symlinkSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { callJson } from "../support/daemon/nativeServer.ts";
import { reached } from "../support/daemon/sandboxDaemon.ts";

const BUILT = resolve(dirname(builtCli()), "../..");

test("goes on, and says of what it can no longer load that it has to be started again", async () => {
  await using sandbox = cliSandbox();
  const installed = sandbox.path("package");
  cpSync(join(BUILT, "adapters"), join(installed, "dist/adapters"), { recursive: true });
  cpSync(resolve(BUILT, "../package.json"), join(installed, "package.json"));
  symlinkSync(resolve(BUILT, "../node_modules"), join(installed, "node_modules"));
  const bin = join(installed, "dist/adapters/bin");
  await using daemon = await runningFrom(sandbox, bin);
  const mcp = readdirSync(bin).find((name) => /^mcpEndpoint-.*\.js$/.test(name))!;
  renameSync(join(bin, mcp), join(bin, "of-another-version.js"));
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  };
  const headers = { accept: "application/json, text/event-stream", authorization: `Bearer ${daemon.token}` };
  const refused = await callJson(daemon.url, "POST", "/mcp", initialize, headers);
  expect([refused.status, refused.json["error"]]).toMatchObject([
    409,
    {
      code: "INCONSISTENT_STATE",
      message: expect.stringContaining("run `tmuxwire restart`") as string,
      details: { reason: "replaced" },
    },
  ]);
  expect((await callJson(daemon.url, "GET", "/v1/servers", undefined, headers)).status).toBe(200);
  // As they were: nothing of the refusal is kept.
  renameSync(join(bin, "of-another-version.js"), join(bin, mcp));
  expect((await callJson(daemon.url, "POST", "/mcp", initialize, headers)).status).toBe(200);
});

async function runningFrom(sandbox: ReturnType<typeof cliSandbox>, bin: string) {
  const script = relative(dirname(builtCli()), join(bin, "tmuxwire.js"));
  const daemon = sandbox.start(["serve", "--only", "native", "--port", "0"], { script });
  return {
    ...(await reached(sandbox, daemon)),
    [Symbol.asyncDispose]: async () => {
      daemon.child.kill("SIGTERM");
      await daemon.finished;
    },
  };
}
