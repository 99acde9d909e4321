/**
 * Bundles what Node runs: `node bundlePrograms.mjs OUT_DIR`. Hundreds of small modules cost a process more to load than
 * everything else it does at its start. Packages are bundled as well, but for those with native code or wasm, which are
 * found by their own files; the licences of the others go with them.
 *
 * Every path is that of its source, and what a program splits off lies in the folder of its entry point, so that
 * `import.meta.url` leads to the same neighbours from everywhere.
 */
import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { build } from "esbuild";
import { foldersInBundle } from "./bundleAgents.mjs";
import { factsInBundle } from "./bundleFacts.mjs";

const ROOT = import.meta.dirname;
const out = resolve(process.argv[2] ?? join(ROOT, "dist"));

/** Dynamic imports become files of their own: a command loads no more than it needs. */
const PROGRAMS = ["adapters/bin/tmuxwire.ts", "adapters/bin/addin.ts"];
/** One file, as small as it can be: most of what a command costs is to load it. */
const QUICK = ["adapters/bin/quickMain.ts"];
/** The executable, and the smallest file: CommonJS, for which Node loads the least. */
const EXECUTABLE = [
  { in: "adapters/bin/entry.ts", out: "adapters/bin/tmuxwire" },
  { in: "adapters/bin/frequentMain.ts", out: "adapters/bin/frequentMain" },
];
/** Shares no file with those: what it loads is what it needs. */
const FRESHELL = ["adapters/bin/freshell.ts"];
/** Each is loaded by somebody else's program (a browser's, pi's): one file, and nothing of Node's that its source has not. */
const LIBRARIES = [
  "adapters/client/client.ts",
  "adapters/client/castPlayer.ts",
  "adapters/fleet/fleetClient.ts",
  "adapters/team/piExtension.ts",
  "adapters/team/readyHook.ts",
];
/** For us alone; package.json does not ship them. */
const OURS = [
  ...readdirSync(join(ROOT, "bench"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `bench/${name}`),
  "test/support/daemon/daemonChild.ts",
  "test/support/daemon/linkChild.ts",
  "test/support/tmux/guestEngine.ts",
];

const options = {
  absWorkingDir: ROOT,
  outdir: out,
  outbase: ".",
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  // A package's ES modules where it has both: of a CommonJS one, a dynamic import would have a default and nothing else.
  mainFields: ["module", "main"],
  sourcemap: true,
  sourcesContent: false,
  external: ["@homebridge/node-pty-prebuilt-multiarch", "@photostructure/sqlite", "re2-wasm"],
  legalComments: "none",
  // Constants by their values: of a bundle they are variables, whose loads cost decoding a sixth (`bench decode`).
  minifySyntax: true,
  metafile: true,
  plugins: [foldersInBundle, factsInBundle],
  logLevel: "warning",
};
/** What some packages are, CommonJS, asks for Node's modules by `require`. */
const requiring = {
  splitting: true,
  banner: { js: 'import { createRequire as madeBy } from "node:module";\nconst require = madeBy(import.meta.url);' },
};

/** For the others it is a file beside them. */
const quickBeside = {
  name: "quickMain",
  setup({ onResolve }) {
    onResolve({ filter: /\/quickMain\.ts$/ }, () => ({ path: "./quickMain.js", external: true }));
  },
};

/** For the executable both are: of one it has what Node loads in its older way, of the other what it imports. */
const restBeside = {
  name: "restBeside",
  setup({ onResolve }) {
    onResolve({ filter: /\/frequentMain\.cjs$/ }, ({ path }) => ({ path, external: true }));
    onResolve({ filter: /\/tmuxwire\.ts$/ }, () => ({ path: "./tmuxwire.js", external: true }));
  },
};
/** Stands where `keptCode.ts` looks for the file's SHA-256. */
const NO_DIGEST = "0".repeat(64);
/** What a module says of itself. */
const COMMON_JS = { "import.meta.dirname": "__dirname" };

/** `tmuxwire/nats` works on a connection that its caller has opened, and what signs in asks for Node's modules by `require`. */
const withoutKeys = {
  name: "withoutKeys",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@nats-io\/nkeys$/ }, () => ({ path: "nkeys", namespace: "nothing" }));
    onLoad({ filter: /.*/, namespace: "nothing" }, () => ({ contents: "module.exports = {};" }));
  },
};

const shipped = await Promise.all([
  build({
    ...options,
    ...requiring,
    plugins: [...options.plugins, quickBeside],
    entryPoints: PROGRAMS,
    chunkNames: "adapters/bin/[name]-[hash]",
  }),
  build({ ...options, entryPoints: QUICK, minifyIdentifiers: true }),
  build({
    ...options,
    plugins: [...options.plugins, restBeside],
    entryPoints: EXECUTABLE,
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    define: COMMON_JS,
    minify: true,
    banner: { js: `//${NO_DIGEST}` },
  }),
  build({ ...options, ...requiring, entryPoints: FRESHELL, chunkNames: "adapters/bin/[name]-[hash]" }),
  // Their maps are for us: a line in them that leads to one would have bundlers look for it in the package.
  build({ ...options, plugins: [...options.plugins, withoutKeys], entryPoints: LIBRARIES, sourcemap: "external" }),
]);
await build({ ...options, ...requiring, entryPoints: OURS, chunkNames: "bench/[name]-[hash]" });

const frequent = join(out, "adapters/bin/frequentMain.cjs");
const unsigned = readFileSync(frequent, "utf8");
writeFileSync(frequent, unsigned.replace(NO_DIGEST, createHash("sha256").update(unsigned).digest("hex")));

cpSync(join(ROOT, "daemon/shell/tmuxwire-marks"), join(out, "daemon/shell/tmuxwire-marks"), { recursive: true });

const bundled = new Set(shipped.flatMap(({ metafile }) => Object.keys(metafile.inputs).flatMap(packageOf)));
writeFileSync(join(out, "LICENSES.txt"), [...bundled].sort().map(licenceOf).join("\n\n"));

/** The folder of the package that a file is of. */
function packageOf(path) {
  const found = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path);
  return found === null ? [] : [found[0]];
}

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
  const file = readdirSync(join(ROOT, folder)).find((one) => /^(?:licen[cs]e|copying)/i.test(one));
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(ROOT, folder, file), "utf8").trim();
  return `${name} ${version}\n\n${text}\n`;
}
