/** No files and no folders import each other in a circle, types included: what they share stands below both. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

function imports(file: string): string[] {
  const source = readFileSync(join(ROOT, file), "utf8");
  return [...source.matchAll(/\b(?:from|import)\s*\(?\s*["'](\.[^"']+)["']/g)].map((match) =>
    relative(ROOT, resolve(ROOT, dirname(file), match[1] ?? "")),
  );
}

/** Components of more than one file, each sorted (Tarjan). */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const [index, low] = [new Map<string, number>(), new Map<string, number>()];
  const [stack, found]: [string[], string[][]] = [[], []];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file)!);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(file, Math.min(low.get(file)!, low.get(next)!));
    }
    if (low.get(file) !== index.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1 || graph.get(file)?.includes(file) === true) found.push(circle.toSorted());
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return found;
}

const FILES = ["protocol", "daemon", "adapters", "bench"].flatMap((layer) =>
  readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${layer}/${name}`),
);

/** Which folder uses which, of those that stand in one folder. */
function folderGraph(edges: readonly (readonly [from: string, to: string])[]): ReadonlyMap<string, readonly string[]> {
  const graph = new Map<string, string[]>();
  for (const [from, to] of edges) {
    const [a, b] = [from.split("/"), to.split("/")];
    const parts = a.findIndex((part, at) => part !== b[at]);
    const isFile = parts < 0 || parts === a.length - 1 || parts === b.length - 1;
    if (isFile) continue;
    const folder = a.slice(0, parts + 1).join("/");
    graph.set(folder, [...(graph.get(folder) ?? []), b.slice(0, parts + 1).join("/")]);
  }
  return graph;
}

test("no file imports itself by way of others, types and pages included", () => {
  expect(FILES.some((file) => file.endsWith(".tsx"))).toBe(true);
  expect(circles(new Map(FILES.map((file) => [file, imports(file)])))).toEqual([]);
});

test("no folder uses itself by way of its neighbours", () => {
  const graph = folderGraph(FILES.flatMap((file) => imports(file).map((target) => [file, target] as const)));
  expect(graph.size).toBeGreaterThan(40);
  expect(circles(graph)).toEqual([]);
});

test("what this test would see", () => {
  const graph = new Map([
    ["a", ["b", "d"]],
    ["b", ["c"]],
    ["c", ["a"]],
    ["d", []],
    ["e", ["e"]],
  ]);
  expect(circles(graph)).toEqual([["a", "b", "c"], ["e"]]);
  const edges = [
    ["p/a/one.ts", "p/b/two.ts"],
    ["p/b/x/three.ts", "p/a/one.ts"],
    ["p/b/x/three.ts", "p/b/two.ts"],
    ["p/main.ts", "p/a/one.ts"],
    ["p/a/four.ts", "p/main.ts"],
  ] as const;
  expect(circles(folderGraph(edges))).toEqual([["p/a", "p/b"]]);
});
