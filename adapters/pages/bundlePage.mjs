/**
 * Bundles a page: its scripts, split where they import dynamically, one style sheet, and the files that are copied; each
 * compressed beside it.
 * Preact, xterm and other dependencies are bundled, so that the installed package needs none of them.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { agentFolders } from "../../bundleAgents.mjs";

const ROOT = join(import.meta.dirname, "../..");

/**
 * @param name the page's folder in `adapters`; its files go to the same place in `dist`, or to `process.argv[2]`
 * @param scripts entry points by the names under which they are served
 * @param packages whose licences are included
 * @param worker its service worker, if it has one: one file, and no module, which not every browser takes there
 */
export async function bundlePage({ name, scripts, packages, worker }) {
  const page = join(ROOT, "adapters", name);
  const served = join(ROOT, "dist/adapters", name);
  const out = resolve(process.argv[2] ?? served);
  // Leftovers of an earlier build would be served and shipped.
  if (process.argv[2] === undefined) rmSync(served, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  await build({
    entryPoints: Object.fromEntries(Object.entries(scripts).map(([as, file]) => [as, join(page, file)])),
    outdir: out,
    bundle: true,
    format: "esm",
    splitting: true,
    chunkNames: "[name]-[hash]",
    target: "es2022",
    minify: true,
    legalComments: "inline",
    define: { KNOWN_AGENTS: await knownAgents() },
    plugins: [{ name: "xtermStyles", setup: leadXtermStyles }],
    tsconfig: join(page, "tsconfig.json"),
    logLevel: "warning",
  });
  if (worker !== undefined) {
    await build({
      entryPoints: { serviceWorker: join(page, worker) },
      outdir: out,
      bundle: true,
      format: "iife",
      target: "es2022",
      minify: true,
      tsconfig: join(page, "tsconfig.json"),
      logLevel: "warning",
    });
  }
  await build({
    entryPoints: { page: join(page, "styles/page.css") },
    outdir: out,
    bundle: true,
    minify: true,
    logLevel: "warning",
  });
  for (const file of ["index.html", "icon.svg"]) copyFileSync(join(page, file), join(out, file));
  const licenses = packages.map((one) => `${one}\n\n${readFileSync(licensePath(one), "utf8")}`);
  writeFileSync(join(out, "LICENSES.txt"), licenses.join("\n\n"));
  for (const file of readdirSync(out).sort()) {
    const bytes = readFileSync(join(out, file));
    const packed = gzipSync(bytes, { level: 9 });
    // Served to whoever takes it (pageFiles.ts).
    if (packed.length < bytes.length) writeFileSync(join(out, `${file}.gz`), packed);
    process.stdout.write(`${file}: ${kilobytes(bytes.length)}, ${kilobytes(packed.length)} gzipped\n`);
  }
}

/** What a page says of agents: see knownAgents.ts. */
async function knownAgents() {
  const known = (await agentFolders()).map(({ name, agent: { label, resume, stream, hooks } }) => {
    return {
      name,
      label,
      resumes: resume !== undefined,
      converses: stream === "conversation",
      reports: hooks !== undefined,
    };
  });
  return JSON.stringify(known);
}

/** Replaces xterm's inline styles by what a page's policy allows: see `ScreenSheet` in pageScreen.ts. */
function leadXtermStyles({ onLoad }) {
  onLoad({ filter: /@xterm\/xterm\/lib\/xterm\.js$/ }, ({ path }) => {
    let contents = readFileSync(path, "utf8");
    contents = replaced(contents, /createElement\("style"\)/g, 2, 'createElement("screen-sheet")');
    const attribute = /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g;
    contents = replaced(contents, attribute, 1, "$1.style.cssText+=`${$2};`");
    return { contents, loader: "js" };
  });
}

function replaced(text, pattern, times, by) {
  const found = text.match(pattern)?.length ?? 0;
  if (found !== times) throw new Error(`xterm has changed: ${pattern} is there ${found} times, not ${times}`);
  return text.replace(pattern, by);
}

function licensePath(name) {
  const folder = join(ROOT, "node_modules", name);
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} comes without a licence`);
  return join(folder, file);
}

function kilobytes(bytes) {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}
