/**
 * Bundles the page into one script and one style sheet: `node adapters/dashboard/page/bundle.mjs [OUT_DIR]`, by default
 * where the daemon serves it from. Preact and xterm are taken in here, so that the installed package needs neither.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const PAGE = import.meta.dirname;
const SERVED = join(PAGE, "../../../dist/adapters/dashboard/page");
const out = resolve(process.argv[2] ?? SERVED);

// Whatever an earlier build has left there would be served and shipped.
if (process.argv[2] === undefined) rmSync(SERVED, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({
  entryPoints: { page: join(PAGE, "main.tsx") },
  outdir: out,
  bundle: true,
  format: "esm",
  // The screen is most of the script, and only those who open a pane need it.
  splitting: true,
  chunkNames: "[name]-[hash]",
  target: "es2022",
  minify: true,
  legalComments: "inline",
  plugins: [{ name: "xtermStyles", setup: leadXtermStyles }],
  tsconfig: join(PAGE, "tsconfig.json"),
  logLevel: "warning",
});
await build({
  entryPoints: { page: join(PAGE, "styles/page.css") },
  outdir: out,
  bundle: true,
  minify: true,
  logLevel: "warning",
});
for (const file of ["index.html", "icon.svg"]) copyFileSync(join(PAGE, file), join(out, file));
const licenses = ["preact", "@xterm/xterm"].map((name) => `${name}\n\n${readFileSync(licensePath(name), "utf8")}`);
writeFileSync(join(out, "LICENSES.txt"), licenses.join("\n\n"));
for (const file of readdirSync(out).sort()) {
  const bytes = readFileSync(join(out, file));
  process.stdout.write(`${file}: ${kilobytes(bytes.length)}, ${kilobytes(gzipSync(bytes).length)} gzipped\n`);
}

/** xterm's inline styles led to what the page's policy allows: see ui/screenSheet.ts. */
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
  return join(PAGE, "../../../node_modules", name, "LICENSE");
}

function kilobytes(bytes) {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}
