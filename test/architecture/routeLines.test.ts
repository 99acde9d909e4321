/**
 * A route is short: its row, and every function of its contract that is given the request (`c`) and makes a response. An
 * operation of the native API is no handler: it knows nothing of requests.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ADAPTERS = resolve(import.meta.dirname, "../../adapters");
const MAX_LINES = 40;

const sourcesOf = (contract: string): readonly string[] =>
  readdirSync(join(ADAPTERS, contract), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(ADAPTERS, contract, name), "utf8"));

/** The text from a line to the line that closes it: with the same indentation, and no opening of its own. */
function blockAt(lines: readonly string[], first: number): readonly string[] {
  const indent = /^ */.exec(lines[first] ?? "")?.[0] ?? "";
  const end = lines.findIndex(
    (line, at) => at > first && new RegExp(`^${indent}[}\\])]`).test(line) && !/[({[]$/.test(line),
  );
  return lines.slice(first, end < 0 ? first + 1 : end + 1);
}

const HANDLES = /^[^{]*\bc: (?:Context<GuardEnv>|NativeHandlerContext)[^]*?\): (?:Promise<)?Response\b/;

interface Block {
  readonly name: string;
  readonly lines: readonly string[];
}

const blocksOf = (sources: readonly string[], begin: RegExp, nameOf: (lines: readonly string[]) => string) =>
  sources.flatMap((source): readonly Block[] => {
    const lines = source.split("\n");
    return lines.flatMap((line, at) => {
      if (!begin.test(line)) return [];
      const block = blockAt(lines, at);
      return [{ name: nameOf(block), lines: block }];
    });
  });

/** With what it calls that takes the request, each once. */
function linesOf(block: Block, handlers: ReadonlyMap<string, Block>, seen = new Set<Block>()): number {
  if (seen.has(block)) return 0;
  seen.add(block);
  const called = [...block.lines.join("\n").matchAll(/\b(\w+)\((?=[^;]*\bc\b)/g)].flatMap(([, name = ""]) => {
    const handler = handlers.get(name);
    return handler === undefined ? [] : [handler];
  });
  return called.reduce((sum, handler) => sum + linesOf(handler, handlers, seen), block.lines.length);
}

function routesOf(contract: string): readonly { readonly name: string; readonly lines: number }[] {
  const sources = sourcesOf(contract);
  const declared = blocksOf(
    sources,
    /^(?:export )?(?:async )?function \w+\(/,
    (lines) => /function (\w+)/.exec(lines[0] ?? "")?.[1] ?? "",
  );
  const handlers = new Map(
    declared.flatMap((block) => (HANDLES.test(block.lines.join("\n")) ? [[block.name, block]] : [])),
  );
  const rows = blocksOf(sources, /^ +(?:endpoint\(\{|\{)$/, (lines) => lines.slice(0, 5).join(" "))
    .filter(
      ({ lines }) =>
        lines.some((line) => /^ +path: /.test(line)) && lines.some((line) => /^ +handle(?:[:,]|$)/.test(line)),
    )
    .filter(({ lines }) => lines.filter((line) => /^ +path: /.test(line)).length === 1);
  return rows.map((row) => ({
    name: /path: (.*),/.exec(row.lines.join("\n"))?.[1] ?? "",
    lines: linesOf(row, handlers),
  }));
}

test("a stream of the native API is opened in at most 40 lines", () => {
  const sources = sourcesOf("native");
  const handlers = blocksOf(sources, /^(?:export )?(?:async )?function \w+\(/, (lines) => lines[0] ?? "").filter(
    ({ lines }) => HANDLES.test(lines.join("\n")),
  );
  expect(handlers.length).toBeGreaterThanOrEqual(2);
  expect(handlers.filter(({ lines }) => lines.length > MAX_LINES)).toEqual([]);
});

test.each([
  ["addin", 2],
  ["team", 1],
  ["dashboard", 16],
  ["freshell", 30],
])("a route of %s, its handler included, has at most 40 lines", (contract, atLeast) => {
  const routes = routesOf(contract);
  expect(routes.length).toBeGreaterThanOrEqual(atLeast);
  expect(routes.filter(({ lines }) => lines > MAX_LINES)).toEqual([]);
});
