/**
 * Makes the declarations of a build plain: `node plainTypes.mjs OUT_DIR`. As tsc emits them, messages are inferred from their
 * schemas, which costs a program that imports the client tens of thousands of types and needs the schema library installed.
 * Here each of these types is written out as the checker resolves it: a module with schemas keeps its types and nothing
 * else. Declarations that no entry leads to are removed. `test/programs/publishedTypes.test.ts` compares both.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { SyntaxKind } from "typescript/unstable/ast";
import { API, NodeBuilderFlags } from "typescript/unstable/async";

const ROOT = import.meta.dirname;
const CONFIG = join(ROOT, "tsconfig.build.json");
const IN_FULL = NodeBuilderFlags.NoTruncation | NodeBuilderFlags.InTypeAlias | NodeBuilderFlags.MultilineObjectLiterals;
const out = resolve(process.argv[2] ?? join(ROOT, "dist"));

const api = new API({ cwd: ROOT });
const { program, checker } = (await api.updateSnapshot({ openProjects: [CONFIG] })).getProject(CONFIG);
const reached = new Set();
for (const { types } of Object.values(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).exports)) {
  // oxlint-disable-next-line no-await-in-loop -- one at a time: they share what they reach
  if (types !== undefined) await follow(join(out, relative("dist", types)));
}
await api.close();
for (const name of readdirSync(out, { recursive: true, encoding: "utf8" })) {
  if (name.endsWith(".d.ts") && !reached.has(join(out, name))) rmSync(join(out, name));
}

async function follow(path) {
  if (reached.has(path)) return;
  reached.add(path);
  let text = readFileSync(path, "utf8");
  if (text.includes('from "valibot"')) {
    text = await typesOf(await program.getSourceFile(join(ROOT, relative(out, path).replace(/\.d\.ts$/, ".ts"))));
    writeFileSync(path, text);
  }
  for (const [, specifier] of text.matchAll(/(?:\bfrom |\bimport\()"(\.[^"]+)\.ts"/g)) {
    // oxlint-disable-next-line no-await-in-loop -- likewise
    await follow(join(dirname(path), `${specifier}.d.ts`));
  }
}

async function typesOf(file) {
  const imports = [];
  const own = [];
  const kept = [];
  for (const statement of file.statements) {
    const text = statement.getText(file);
    const isAlias = statement.kind === SyntaxKind.TypeAliasDeclaration;
    if (statement.kind === SyntaxKind.ImportDeclaration) imports.push(text);
    else if (isAlias || statement.kind === SyntaxKind.InterfaceDeclaration) {
      const name = statement.name.text;
      const comment = statement.getFullText(file).slice(0, -text.length).trimStart();
      const isPublic = text.startsWith("export ");
      const isInferred = isAlias && /\bv\.\w/.test(text);
      const plain = isInferred ? `${isPublic ? "export " : ""}type ${name} = ${await resolved(statement)};` : text;
      if (isPublic) kept.push(comment + plain);
      else own.push({ name, text: comment + plain });
    } else if (text.startsWith("export type ")) kept.push(text);
  }
  kept.push(...own.filter(({ name }) => mentions(kept.join("\n"), name)).map(({ text }) => text));
  const body = kept.join("\n");
  return `${[...imports.flatMap((text) => importOf(text, body)), body].join("\n")}\nexport {};\n`;
}

async function resolved({ name }) {
  const type = await checker.getDeclaredTypeOfSymbol(await checker.getSymbolAtLocation(name));
  return checker.typeToString(type, name, IN_FULL);
}

/** What is used of an import. */
function importOf(text, body) {
  const [, names, from] = /\{([^}]*)\} from (".+")/.exec(text) ?? [];
  const used = names?.match(/\w+/g).filter((name) => name !== "type" && mentions(body, name)) ?? [];
  return used.length === 0 ? [] : [`import type { ${used.join(", ")} } from ${from};`];
}

/** Not as a member. */
function mentions(text, name) {
  return new RegExp(`\\b${name}\\b(?!\\??:)`).test(text);
}
