/** What `bundlePrograms.mjs` has made: which modules it still asks for, and whether a stack trace leads to the sources. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin, SourceMap } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { builtCli, builtFreshell } from "../support/daemon/cliBuild.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const SHIPPED = resolve(dirname(builtCli()), "..");
const files = readdirSync(SHIPPED, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.c?js$/.test(name) && !/^(?:dashboard|freshell)\/page\//.test(name))
  .map((name) => join(SHIPPED, name));

const ASKS = /^(?:import|export)\b(?:[^;"]* from)? ?"([^"]+)";|\bimport\("([^"]+)"\)|\b_*[rR]equire\d*\("([^"]+)"\)/gm;
const asked = (file: string): string[] =>
  [
    ...readFileSync(file, "utf8")
      .replaceAll(/^\/\/ .*$/gm, "")
      .matchAll(ASKS),
  ].map(([, statement, call, required]) => statement ?? call ?? required!);
const isOurs = (specifier: string): boolean => specifier.startsWith("./");

/** ws would use them if they were there. */
const WANTED_BY_WS = ["bufferutil", "utf-8-validate"];

/** Stands in programs that ajv can be asked to write out, and is asked for by nobody here. */
const WRITTEN_BY_AJV = /^ajv(?:-formats)?\/dist\//;

test("nothing but Node, its own parts and the packages that are installed with it", () => {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
    optionalDependencies: Record<string, string>;
  };
  const packages = new Set<string>();
  for (const file of files) {
    for (const specifier of asked(file)) {
      if (isOurs(specifier)) expect(existsSync(join(dirname(file), specifier))).toBe(true);
      else if (!isBuiltin(specifier) && !WANTED_BY_WS.includes(specifier) && !WRITTEN_BY_AJV.test(specifier))
        packages.add(specifier);
    }
  }
  // RE2 is found by its path.
  const native = Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => name !== "re2-wasm");
  expect([...packages].sort()).toEqual(native.sort());
});

test("what other programs load is one file each; the client and the player take nothing of Node's, for browsers", () => {
  const client = ["client/client.js", "client/castPlayer.js", "fleet/fleetClient.js"].flatMap((name) =>
    asked(join(SHIPPED, name)),
  );
  const forPi = ["team/piExtension.js", "team/readyHook.js"].flatMap((name) => asked(join(SHIPPED, name)));
  expect(client).toEqual([]);
  expect(forPi).not.toEqual([]);
  expect(forPi.filter((specifier) => !isBuiltin(specifier))).toEqual([]);
});

test("what the package exports can be loaded by Node", async () => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    exports: Record<string, { readonly default: string } | string>;
  };
  const modules = Object.values(exports).flatMap((one) => (typeof one === "string" ? [] : [one.default]));
  expect(modules.length).toBeGreaterThan(3);
  for (const path of modules) {
    const url = pathToFileURL(join(ROOT, path)).href;
    const { status, stderr } = spawnSync(process.execPath, ["-e", `import(${JSON.stringify(url)})`], {
      encoding: "utf8",
    });
    expect([path, status, stderr]).toEqual([path, 0, ""]);
  }
});

test("a command that only asks a daemon loads one small file of ours, without the code that serves", () => {
  const quick = join(SHIPPED, "bin/quickMain.js");
  expect(asked(quick).filter((specifier) => !isBuiltin(specifier))).toEqual([]);
  const { sources } = JSON.parse(readFileSync(`${quick}.map`, "utf8")) as { sources: string[] };
  const named = sources.map((source) => relative(ROOT, resolve(dirname(quick), source)));
  expect(named).toContain("adapters/commands/operations/waitCommand.ts");
  expect(
    named.filter((source) => /^daemon\/(?:servers\/(?:guest|owned)|connection|delivery|readiness)\//.test(source)),
  ).toEqual([]);
  expect(readFileSync(quick).length).toBeLessThan(300_000);
  expect(readFileSync(join(SHIPPED, "bin/tmuxwire.js"), "utf8")).toContain('import("./quickMain.js")');
});

test("what is run most often is smaller still, and loads neither Node's HTTP nor the catalogue of agents", () => {
  const frequent = join(SHIPPED, "bin/frequentMain.cjs");
  const wanted = asked(frequent);
  expect(wanted.filter((specifier) => !isBuiltin(specifier))).toEqual([]);
  expect(wanted.filter((specifier) => /http|stream/.test(specifier))).toEqual([]);
  const { sources } = JSON.parse(readFileSync(`${frequent}.map`, "utf8")) as { sources: string[] };
  expect(sources.filter((source) => /agentFolders|catalogue|nativeResponses/.test(source))).toEqual([]);
  const text = readFileSync(frequent, "utf8");
  expect(text.length).toBeLessThan(140_000);
  // What was compiled of another build is told by it.
  const digest = createHash("sha256")
    .update(text.replace(/[0-9a-f]{64}/, "0".repeat(64)))
    .digest("hex");
  expect(text.slice(0, 66)).toBe(`//${digest}`);
  // It is run from compiled code, not asked for.
  expect(asked(builtCli()).filter((specifier) => !isBuiltin(specifier))).toEqual(["./tmuxwire.js"]);
});

test("the command line of Freshell loads of the daemon only clock and pauses, its own files, what it did once, columns, escape sequences and what looks at directories and processes", () => {
  const loaded = new Set<string>();
  const follow = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const specifier of asked(file).filter(isOurs)) follow(join(dirname(file), specifier));
  };
  follow(builtFreshell());
  const sources = [...loaded].flatMap((file) => {
    const map = JSON.parse(readFileSync(`${file}.map`, "utf8")) as { sources: string[] };
    return map.sources.map((source) => relative(ROOT, resolve(dirname(file), source)));
  });
  expect(sources).toContain("adapters/freshell/cli/freshellRequest.ts");
  const others = sources.filter((source) => /^(?:daemon|node_modules)\//.test(source));
  expect(others.filter((source) => !/^node_modules\/(?:valibot|ws)\//.test(source)).toSorted()).toEqual([
    "daemon/host/attempt.ts",
    "daemon/host/nodeSystem.ts",
    "daemon/host/procfs.ts",
    "daemon/ops/once.ts",
    "daemon/ops/privateFiles.ts",
    "daemon/panes/columns.ts",
    "daemon/panes/vt/vtParser.ts",
    "daemon/time/backOff.ts",
    "daemon/time/clock.ts",
    "daemon/time/within.ts",
  ]);
  const wanted = [...loaded].flatMap(asked).filter((specifier) => !isOurs(specifier) && !isBuiltin(specifier));
  expect(wanted.filter((specifier) => !WANTED_BY_WS.includes(specifier))).toEqual([]);
});

test.each([
  ["OutputRing = class", "daemon/panes/outputRing.ts"],
  ["async function startDaemon(", "adapters/commands/service/serve.ts"],
])("%s leads to %s", (text, source) => {
  const found = files.filter((file) => file.includes("/bin/") && readFileSync(file, "utf8").includes(text));
  expect(found).toHaveLength(1);
  const lines = readFileSync(found[0]!, "utf8").split("\n");
  const line = lines.findIndex((one) => one.includes(text));
  const map = new SourceMap(JSON.parse(readFileSync(`${found[0]!}.map`, "utf8")) as never);
  const entry = map.findEntry(line, lines[line]!.indexOf(text));
  const original = "originalSource" in entry ? entry.originalSource : "";
  expect(resolve(dirname(found[0]!), original)).toBe(join(ROOT, source));
});

test("the device's page, whatever panes it shows, is small: xterm.js, the editor and all", () => {
  const page = join(SHIPPED, "freshell/page");
  const served = readdirSync(page).filter((name) => /\.(?:js|css|html|svg)$/.test(name));
  const sizes = served.map((name) => [name, gzipSync(readFileSync(join(page, name))).length] as const);
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0);
  expect(sizes.length).toBeGreaterThan(5);
  expect([bytes <= 250 * 1_024, bytes, sizes]).toEqual([true, bytes, sizes]);
});
