/** The declarations that the package publishes: what they cost a program that imports them, and whether they are true. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const DIST = resolve(dirname(builtCli()), "../..");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
/** A package that depends on this one. */
const home = mkdtempSync(join(tmpdir(), "tmuxwire-types-"));
mkdirSync(join(home, "node_modules"));
symlinkSync(ROOT, join(home, "node_modules/tmuxwire"));
symlinkSync(join(ROOT, "node_modules/@types"), join(home, "node_modules/@types"));
afterAll(() => rmSync(home, { recursive: true }));

const NODE = ["--types", "node"];
const BROWSER = ["--types", "", "--lib", "es2023,dom,dom.asynciterable"];

/** Every declaration is checked, the package's and the libraries'. */
function check(name: string, text: string, flags: readonly string[]): { types: number; memory: string } {
  writeFileSync(join(home, name), text);
  const always = "--ignoreConfig --noEmit --strict --module nodenext --target es2023 --extendedDiagnostics".split(" ");
  const { stdout } = spawnSync(process.execPath, [TSC, ...always, ...flags, name], { cwd: home, encoding: "utf8" });
  expect(stdout.split("\n").filter((line) => line.includes("error TS"))).toEqual([]);
  const [, types, memory] = /^Types:\s+(\d+)\n[^]*^Memory used:\s+(\S+)/m.exec(stdout)!;
  return { types: Number(types), memory: memory! };
}

test.each([
  ["tmuxwire/client", NODE],
  ["tmuxwire/client", BROWSER],
  ["tmuxwire/nats", NODE],
  ["tmuxwire/nats", BROWSER],
  ["tmuxwire/player", NODE],
  ["tmuxwire/player", BROWSER],
  ["tmuxwire/pi-extension", NODE],
])("a program that imports %s costs the compiler few types (%j)", (entry, flags) => {
  const empty = check("empty.mts", "export {};", flags);
  const program = check("program.mts", `import * as all from "${entry}"; export const used = all;`, flags);
  process.stdout.write(`${entry}: ${JSON.stringify({ empty, program })}\n`);
  expect(program.types - empty.types).toBeLessThan(20_000);
});

const declarations = readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".d.ts"));

test("no published declaration names a package, and none is `any`", () => {
  for (const name of declarations) {
    const code = readFileSync(join(DIST, name), "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
    const named = [...code.matchAll(/(?:\bfrom |\bimport\()"([^"]+)"/g)].map(([, specifier]) => specifier!);
    expect({ name, packages: named.filter((specifier) => !specifier.startsWith(".")) }).toEqual({ name, packages: [] });
    expect({ name, any: /\bany\b/.test(code) }).toEqual({ name, any: false });
  }
});

test("every type that is written out is the one its schema infers, in both directions", () => {
  const lines = declarations.flatMap((name, at) => {
    const source = join(ROOT, name.replace(/\.d\.ts$/, ".ts"));
    if (!readFileSync(source, "utf8").includes('from "valibot"')) return [];
    const published = readFileSync(join(DIST, name), "utf8");
    // What it imports are the source's: the brand of an id is another type in each declaration.
    const moved = published.replaceAll(/"(\.[^"]+)"/g, (_all, path: string) => `"${resolve(dirname(source), path)}"`);
    writeFileSync(join(home, `module${at}.d.ts`), moved);
    return [...published.matchAll(/^export type (\w+)(<Name extends \w+>)? =/gm)].map(([, type, ofName]) => {
      const of = (module: string): string =>
        ofName === undefined ? `import("${module}").${type}` : `{ [Name in Names]: import("${module}").${type}<Name> }`;
      return `export const ${type}${at}: Same<${of(`./module${at}.ts`)}, ${of(source)}> = true;`;
    });
  });
  expect(lines.length).toBeGreaterThan(30);
  const same = "type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;";
  const names = `type Names = import("${join(ROOT, "protocol/api/operationRoutes.ts")}").LayoutOperationName;`;
  writeFileSync(join(home, "same.mts"), [same, names, ...lines].join("\n"));
  const options = { allowImportingTsExtensions: true, noUnusedLocals: false };
  writeFileSync(
    join(home, "tsconfig.json"),
    JSON.stringify({
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: options,
      files: ["same.mts"],
      include: [],
    }),
  );
  expect(spawnSync(process.execPath, [TSC, "-p", home], { encoding: "utf8" }).stdout).toBe("");
});
