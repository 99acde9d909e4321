/** No files import each other in a circle, types included: what they share stands below both. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

/** Circles of types only that are still there; one that is broken is struck out, and none is added. */
const KNOWN: readonly (readonly string[])[] = [
  [
    "daemon/waits/activeWait.ts",
    "daemon/waits/echo/echoWatch.ts",
    "daemon/waits/predicateSet.ts",
    "daemon/waits/predicates/bell.ts",
    "daemon/waits/predicates/cursor.ts",
    "daemon/waits/predicates/exit.ts",
    "daemon/waits/predicates/gone.ts",
    "daemon/waits/predicates/pattern.ts",
    "daemon/waits/predicates/predicate.ts",
    "daemon/waits/predicates/predicateTable.ts",
    "daemon/waits/predicates/prompt.ts",
    "daemon/waits/predicates/ready.ts",
    "daemon/waits/predicates/stable.ts",
    "daemon/waits/predicates/title.ts",
    "daemon/waits/prepared.ts",
    "daemon/waits/regex/regexEngine.ts",
    "daemon/waits/regex/regexMatcher.ts",
    "daemon/waits/regex/regexThread.ts",
    "daemon/waits/screen/screenCaptures.ts",
    "daemon/waits/screen/screenWatch.ts",
    "daemon/waits/text/textStream.ts",
    "daemon/waits/waitContext.ts",
    "daemon/waits/waitRequest.ts",
    "daemon/waits/waitTarget.ts",
    "daemon/waits/waitTypes.ts",
  ],
  [
    "daemon/servers/guest/guestBase.ts",
    "daemon/servers/guest/guestInventory.ts",
    "daemon/servers/guest/guestStreams.ts",
  ],
  ["daemon/connection/checkup.ts", "daemon/connection/controlConnection.ts", "daemon/connection/tmuxFeatures.ts"],
  ["daemon/tmux/io.ts", "daemon/tmux/outputSource.ts"],
  [
    "daemon/delivery/bracketedPaste.ts",
    "daemon/delivery/enterRead.ts",
    "daemon/delivery/paneWatch.ts",
    "daemon/delivery/stillReads.ts",
  ],
  ["daemon/servers/layout/layoutOperations.ts", "daemon/servers/layout/respawn.ts"],
];

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

test("no circle of imports, those of types and of pages included", () => {
  const files = ["protocol", "daemon", "adapters", "bench"].flatMap((layer) =>
    readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${layer}/${name}`),
  );
  expect(files.some((file) => file.endsWith(".tsx"))).toBe(true);
  const found = circles(new Map(files.map((file) => [file, imports(file)])));
  const isKnown = (circle: readonly string[]): boolean =>
    KNOWN.some((known) => circle.every((file) => known.includes(file)));
  expect(found.filter((circle) => !isKnown(circle))).toEqual([]);
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
});
