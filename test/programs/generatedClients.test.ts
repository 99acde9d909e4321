/**
 * Clients that others generate from the description which the daemon serves: they type-check, and a program that uses them
 * runs against a daemon. The generators come from their registries, into folders of this test.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { transformSync } from "esbuild";
import { expect, test, type TestContext } from "vitest";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { reached } from "../support/daemon/sandboxDaemon.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const FROM_NPM = ["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3"];
const FROM_PYPI = "openapi-python-client@0.29.0".replace("@", "==");
/** They install and compile. */
const timeout = 300_000;
const PRINTED = ["main", "work", "typed-42", "NOT_FOUND", "FORBIDDEN"].join("\n");

/** What both programs need from a daemon, and its description in a file. */
async function started(sandbox: CliSandbox): Promise<{ env: Record<string, string>; description: string }> {
  const { url, token } = await reached(sandbox);
  const description = sandbox.path("openapi.json");
  writeFileSync(description, await (await fetch(`${url}/v1/openapi.json`)).text());
  return { env: { ...sandbox.env, DAEMON: url, TOKEN: token }, description };
}

/** Runs to its end, with the registries' settings of whoever runs the tests. */
function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? ""}${stdout}${stderr}`);
  return `${stdout}${stderr}`;
}

/** Skips the test with a reason where there is no such program, or no registry. */
function installed(context: TestContext, what: string, install: () => void): void {
  try {
    install();
  } catch (error) {
    const [why = ""] =
      /ENOENT|ENOTFOUND|ETIMEDOUT|ECONNREFUSED|EAI_AGAIN|No module named \S+|No matching distribution[^\n]*/.exec(
        String(error),
      ) ?? [];
    if (why === "") throw error;
    process.stderr.write(`generated clients: ${what} cannot be installed here (${why}): skipped\n`);
    context.skip(why);
  }
}

const TYPESCRIPT = `
import createClient from "openapi-fetch";
import type { paths } from './schema.d.ts';

const headers = { authorization: \`Bearer \${process.env["TOKEN"]}\` };
// Captures come as text as well: this client wants JSON.
const api = createClient<paths, "application/json">({ baseUrl: process.env["DAEMON"]!, headers });
const { data: listed } = await api.GET("/v1/servers");
for (const { name } of listed!.servers) console.log(name);
const created = await api.POST("/v1/servers/{server}/sessions", {
  params: { path: { server: "main" } },
  body: { name: "work", command: ["sh"] },
});
console.log(created.data!.name);
const at = { params: { path: { server: "main", pane: "work" } } } as const;
const waited = await api.POST("/v1/servers/{server}/panes/{pane}/wait", {
  ...at,
  body: {
    send: { parts: [{ kind: "text", text: "echo typed-$((40 + 2))" }, { kind: "enter" }] },
    pattern: { literal: "typed-42" },
    on: "screen",
  },
});
if (waited.error !== undefined) throw new Error(waited.error.error.message);
const { data: screen } = await api.GET("/v1/servers/{server}/panes/{pane}/capture", at);
const rows: readonly string[] = screen!.lines;
console.log(rows[1]);
const nobody = await api.GET("/v1/servers/{server}/panes/{pane}/capture", {
  params: { path: { server: "main", pane: "nobody" } },
});
const code: "NOT_FOUND" | (string & {}) = nobody.error!.error.code;
console.log(code);
const foreign = await api.GET("/v1/servers", { headers: { origin: "https://elsewhere.example" } });
console.log(foreign.error!.error.code);
// What the description does not have does not compile.
// @ts-expect-error no such kind
void ((): unknown => api.POST("/v1/servers/{server}/panes/{pane}/input", { ...at, body: { parts: [{ kind: "mouse" }] } }));
`;

test("openapi-typescript: its types hold, and a program that uses them runs", { timeout }, async (context) => {
  await using sandbox = cliSandbox();
  const { env, description } = await started(sandbox);
  const home = sandbox.path("typescript");
  mkdirSync(home);
  writeFileSync(join(home, "package.json"), '{"type":"module"}');
  installed(context, FROM_NPM.join(", "), () =>
    run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...FROM_NPM], home),
  );
  run(join(home, "node_modules/.bin/openapi-typescript"), [description, "-o", "schema.d.ts"], home);
  writeFileSync(join(home, "program.ts"), TYPESCRIPT);
  symlinkSync(join(ROOT, "node_modules/@types"), join(home, "node_modules/@types"));
  const flags = "--noEmit --strict --module nodenext --target es2023 --types node --allowImportingTsExtensions";
  for (const tsc of [join(home, "node_modules/typescript/bin/tsc"), join(ROOT, "node_modules/typescript/bin/tsc")]) {
    run(process.execPath, [tsc, ...flags.split(" "), "program.ts"], home);
  }
  const { code } = transformSync(TYPESCRIPT, { loader: "ts", format: "esm" });
  writeFileSync(join(home, "program.js"), code);
  const child = spawn(process.execPath, ["program.js"], { cwd: home, env });
  const { stdout, stderr } = await sandbox.adopt(child).finished;
  expect({ stdout: stdout.trim(), stderr }).toEqual({ stdout: PRINTED, stderr: "" });
});

const PYTHON = `
import os
from tmuxwire_api import AuthenticatedClient
from tmuxwire_api.api.default import capture, create_session, list_servers, wait
from tmuxwire_api.models import (
    CreateSessionBody, Error, WaitBody, WaitBodyOn, WaitBodyPatternLiteral, WaitBodySend,
    WaitBodySendPartsEnter, WaitBodySendPartsText,
)

client = AuthenticatedClient(base_url=os.environ["DAEMON"], token=os.environ["TOKEN"], raise_on_unexpected_status=True)
for server in list_servers.sync(client=client).servers:
    print(server.name)
print(create_session.sync("main", client=client, body=CreateSessionBody(name="work", command=["sh"])).name)
typed = [WaitBodySendPartsText(kind="text", text="echo typed-$((40 + 2))"), WaitBodySendPartsEnter(kind="enter")]
waited = wait.sync("main", "work", client=client, body=WaitBody(
    send=WaitBodySend(parts=typed), pattern=WaitBodyPatternLiteral(literal="typed-42"), on=WaitBodyOn.SCREEN,
))
assert not isinstance(waited, Error), waited
print(capture.sync("main", "work", client=client).lines[1])
nobody = capture.sync("main", "nobody", client=client)
assert isinstance(nobody, Error)
print(nobody.error.code)
foreign = list_servers.sync_detailed(client=client.with_headers({"Origin": "https://elsewhere.example"}))
print(foreign.parsed.error.code)
`;
/** Its media type is not one that the generator knows; the bytes are in the response all the same. */
const PARTLY = ["GET /v1/recordings/{recording}/file"];

test("openapi-python-client: a program that uses what it makes runs", { timeout }, async (context) => {
  await using sandbox = cliSandbox();
  const { env, description } = await started(sandbox);
  const home = sandbox.path("python");
  mkdirSync(home);
  const bin = join(home, "venv/bin");
  installed(context, FROM_PYPI, () => {
    run("python3", ["-m", "venv", "venv"], home);
    run(join(bin, "python"), ["-m", "pip", "install", "--quiet", "--retries", "0", FROM_PYPI], home);
  });
  const path = [bin, process.env["PATH"]].join(delimiter);
  const generate = ["generate", "--path", description, "--meta", "none", "--output-path", "tmuxwire_api"];
  const said = run(join(bin, "openapi-python-client"), generate, home, { ...process.env, PATH: path, COLUMNS: "200" });
  expect([...said.matchAll(/^WARNING parsing (.*) within/gm)].map(([, what]) => what)).toEqual(PARTLY);
  writeFileSync(join(home, "program.py"), PYTHON);
  const child = spawn(join(bin, "python"), ["-B", "program.py"], { cwd: home, env });
  const { stdout, stderr } = await sandbox.adopt(child).finished;
  expect({ stdout: stdout.trim(), stderr }).toEqual({ stdout: PRINTED, stderr: "" });
});
