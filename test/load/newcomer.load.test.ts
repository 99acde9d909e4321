/**
 * A newcomer's walk: the package as it would be published, installed without install scripts, its client loaded by what
 * newcomers load it with (Node, esbuild, vite, Deno, Bun, a page), and the documents' own tests from a fresh clone on each
 * version of Node. What comes from a registry goes into folders of the test.
 *
 *     NODES=20,22,24 npm run load -- newcomer
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliSandbox, cliSandbox, type Finished } from "../support/daemon/cliSandbox.ts";
import { report } from "../support/daemon/loadReport.ts";
import { NO_BROWSER, startBrowser } from "../support/page/browser.ts";
import { reached } from "../support/daemon/sandboxDaemon.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const NODES = (process.env["NODES"] ?? "20,22,24").split(",");
const DOCUMENTS = ["readme", "documents", "ownTmux", "mcp", "examples", "bundles", "noPty"];
const QUIET = ["--no-audit", "--no-fund", "--loglevel=error"];
/** They install, and some start a hundred programs. */
const timeout = 1_200_000;

/** The same for every runtime: a session, a command, a wait, a stream and a socket. */
const PROGRAM = `
import { createClient, TmuxwireError } from "tmuxwire/client";

async function walk(url: string, token: string, session: string): Promise<string> {
  const client = createClient({ url, token });
  const server = client.server("main");
  await server.createSession({ name: session, command: ["sh"] });
  const pane = server.pane(session);
  const { output, exitCode } = await pane.run("echo built; exit_with() { return $1; }; exit_with 3");
  const { position } = await pane.type("sleep 0.2; echo ready-$((40 + 2))", { enter: true });
  await pane.wait({ pattern: { literal: "ready-42" }, from: position });
  let followed = "";
  for await (const event of pane.follow({ from: position })) {
    if (event.kind === "output") followed += new TextDecoder().decode(event.bytes);
    if (followed.includes("ready-42")) break;
  }
  const missing = await server.pane("nobody").capture().catch((error: unknown) => error);
  const code = missing instanceof TmuxwireError ? missing.code : String(missing);
  await server.killSession(session);
  return [output.trim(), exitCode, code].join(" ");
}
export { walk };
`;
const WALKED = "built 3 NOT_FOUND";
/** For runtimes that have a process. */
const MAIN = `
import process from "node:process";
import { walk } from "./walk.ts";
const [url = "", token = "", session = ""] = process.argv.slice(2);
console.log(await walk(url, token, session));
`;
const PAGE = `
import { walk } from "./walk.ts";
const [url = "", token = "", session = ""] = decodeURIComponent(location.hash.slice(1)).split(" ");
walk(url, token, session).then((said) => (document.title = said), (error: unknown) => (document.title = String(error)));
`;

function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? ""}${stdout}${stderr}`);
  return stdout;
}

let sandbox: CliSandbox;
let home: string;
let token: string;
let url: string;
/** What an origin of its own is allowed for: the page's. */
let site: ReturnType<typeof createServer>;
const served = new Map<string, string>();
let sessions = 0;

const originOf = (): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
const bin = (name: string): string => join(home, "node_modules/.bin", name);
const given = (): string[] => [url, token, `walk${(sessions += 1)}`];

/** What it prints, run beside the daemon as a program of the sandbox. */
async function walked(command: string, args: readonly string[]): Promise<Finished> {
  const child = spawn(command, [...args, ...given()], { cwd: home, env: { ...sandbox.env, NO_COLOR: "1" } });
  return sandbox.adopt(child).finished;
}
const GOOD: Finished = { code: 0, stdout: `${WALKED}\n`, stderr: "" };

/** One file each, of the name. */
const BUNDLERS: Readonly<Record<string, (entry: string, out: string, isForNode: boolean) => string>> = {
  esbuild: (entry, out, isForNode) =>
    run(
      bin("esbuild"),
      [
        entry,
        "--bundle",
        "--format=esm",
        `--platform=${isForNode ? "node" : "browser"}`,
        `--outfile=${out}`,
        "--log-level=error",
      ],
      home,
    ),
  vite: (entry, out, isForNode) => {
    const config = {
      logLevel: "error",
      build: {
        outDir: dirname(out),
        emptyOutDir: false,
        minify: true,
        ...(isForNode ? { ssr: entry } : {}),
        rollupOptions: { input: entry, output: { entryFileNames: out.slice(dirname(out).length + 1) } },
      },
      ssr: { noExternal: true },
    };
    writeFileSync(join(home, "vite.config.json"), JSON.stringify(config));
    writeFileSync(
      join(home, "vite.config.js"),
      'import { readFileSync } from "node:fs"; export default JSON.parse(readFileSync("vite.config.json", "utf8"));',
    );
    return run(bin("vite"), ["build"], home);
  },
};

describe("the client of the installed package", () => {
  beforeAll(async () => {
    sandbox = cliSandbox();
    home = sandbox.path("newcomer");
    mkdirSync(home);
    site = createServer((request, response) => {
      const file = served.get((request.url ?? "/").slice(1));
      response.setHeader("content-type", file === undefined ? "text/html" : "text/javascript");
      const name = (request.url ?? "").slice(1);
      response.end(file ?? `<link rel="icon" href="data:,"><script type="module" src="/${name}.js"></script>`);
    }).listen(0, "127.0.0.1");
    await once(site, "listening");
    const daemon = await sandbox.serve([], { env: { TMUXWIRE_ALLOWED_ORIGINS: originOf() } });
    ({ url, token } = await reached(sandbox, daemon));
    const packed = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", home], ROOT)) as {
      filename: string;
    }[];
    writeFileSync(join(home, "package.json"), '{"type":"module","private":true}');
    const tools = ["vite@8.3.8", "esbuild@0.28.2"];
    run("npm", ["install", "--ignore-scripts", ...QUIET, join(home, packed[0]!.filename), ...tools], home);
    for (const [name, text] of Object.entries({ "walk.ts": PROGRAM, "main.ts": MAIN, "page.ts": PAGE })) {
      writeFileSync(join(home, name), text);
    }
  }, timeout);

  afterAll(async () => {
    site.close();
    await sandbox[Symbol.asyncDispose]();
  });

  test.each(Object.keys(BUNDLERS))("bundled by %s, in Node", { timeout }, async (name) => {
    const out = join(home, "out", `${name}Node.mjs`);
    BUNDLERS[name]!("main.ts", out, true);
    expect(await walked(process.execPath, [out])).toEqual(GOOD);
  });

  test.skipIf(NO_BROWSER !== undefined).each(Object.keys(BUNDLERS))(
    "bundled by %s, in a page",
    { timeout },
    async (name) => {
      const out = join(home, "out", `${name}Page.js`);
      BUNDLERS[name]!("page.ts", out, false);
      served.set(`${name}Page.js`, readFileSync(out, "utf8"));
      await using browser = await startBrowser();
      const hash = encodeURIComponent(given().join(" "));
      await using opened = await browser.open(`${originOf()}/${name}Page#${hash}`, { shows: url });
      await opened.page.waitForFunction("document.title !== ''");
      expect(await opened.page.title()).toBe(WALKED);
    },
  );

  test.each([
    ["deno@2.9.6", ["run", "--allow-net", "--allow-env", "--allow-read", "main.ts"]],
    ["bun@1.4.5", ["run", "main.ts"]],
  ])("in %s", { timeout }, async (name, args) => {
    const folder = sandbox.path(name);
    mkdirSync(folder);
    run("npm", ["install", ...QUIET, name], folder);
    const program = name.split("@")[0]!;
    expect(await walked(join(folder, "node_modules/.bin", program), args)).toEqual(GOOD);
  });
});

test.each(NODES)("the documents, from a clone, on Node %s", { timeout }, async (major) => {
  await using own = cliSandbox();
  const folder = own.path(`node${major}`);
  mkdirSync(folder);
  let node = process.execPath;
  if (process.versions.node.split(".")[0] !== major) {
    run("npm", ["install", ...QUIET, `node@${major}`], folder);
    node = run(join(folder, "node_modules/.bin/node"), ["-p", "process.execPath"], folder).trim();
  }
  const version = run(node, ["-v"], folder).trim();
  expect(version.split(".")[0]).toBe(`v${major}`);
  const clone = join(folder, "clone");
  run("git", ["clone", "-q", ROOT, clone], folder);
  const path = [dirname(node), process.env["PATH"]].join(delimiter);
  const env = {
    ...process.env,
    PATH: path,
    HOME: own.env["HOME"]!,
    VITEST: undefined,
    VITEST_POOL_ID: undefined,
    VITEST_WORKER_ID: undefined,
    NODE_ENV: undefined,
    NO_COLOR: "1",
    FORCE_COLOR: undefined,
  };
  const npm = run("sh", ["-c", "command -v npm"], folder, process.env).trim();
  // npm's own program is of the Node that it came with; what it starts is of the one that is first on the path.
  const started = performance.now();
  run(node, [npmCli(npm), "ci", "--ignore-scripts", ...QUIET], clone, env);
  run(node, ["build.mjs"], clone, env);
  const built = performance.now();
  const said = run(node, ["node_modules/vitest/vitest.mjs", "run", "--project", "programs", ...DOCUMENTS], clone, env);
  const [, passed = ""] = /Tests.*?(\d+) passed/.exec(said) ?? [];
  report("newcomer", {
    node: version,
    installAndBuildSec: Math.round((built - started) / 1_000),
    passed: Number(passed),
  });
  expect(Number(passed)).toBeGreaterThan(20);
});

const npmCli = (npm: string): string =>
  run("node", ["-p", `require("fs").realpathSync(${JSON.stringify(npm)})`], ROOT).trim();
