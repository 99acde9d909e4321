/** The picture at the head of ARCHITECTURE.md: it shows every room, and an arrow only where one room imports another. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const LAYERS = ["adapters", "daemon", "protocol"];
const PICTURE = /```mermaid\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8"))?.[1] ?? "";

/** By a node's name in the picture: its layer and the folders that its first line names. */
const nodes = new Map<string, { readonly layer: string; readonly folders: readonly string[] }>();
let layer = "";
for (const line of PICTURE.split("\n")) {
  layer = /subgraph \w+\["(\w+)\//.exec(line)?.[1] ?? layer;
  for (const [, name, folders] of line.matchAll(/(\w+)\["([^"<]+)<br/g))
    nodes.set(name!, { layer, folders: folders!.split(" · ") });
}

const isFolder = (path: string): boolean => readdirSync(join(ROOT, path), { withFileTypes: true }).length > 0;

test.each(LAYERS)("the picture shows each folder of %s/, and no other", (one) => {
  const shown = [...nodes.values()].filter((node) => node.layer === one).flatMap(({ folders }) => folders);
  const folders = readdirSync(join(ROOT, one), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isFolder(join(one, entry.name)))
    .map(({ name }) => name);
  expect(shown.toSorted()).toEqual(folders.toSorted());
});

/** Every import, as `folder -> folder`. */
const imports = new Set(
  LAYERS.flatMap((one) =>
    readdirSync(join(ROOT, one), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .flatMap((name) => {
        const file = join(ROOT, one, name);
        return [...readFileSync(file, "utf8").matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(([, to]) =>
          [join(one, name), relative(ROOT, resolve(dirname(file), to!))]
            .map((path) => path.split("/").slice(0, 2).join("/"))
            .join(" -> "),
        );
      }),
  ),
);

/** The sides of an arrow may name several nodes, with `&` between them; round nodes are no code of ours. */
const arrows = PICTURE.split("\n").flatMap((line) => {
  const [from, to] = line.replaceAll(/[[(]+"[^"]*"[\])]+/g, "").split(" --> ");
  if (to === undefined) return [];
  const names = (side: string) => side.split("&").map((name) => name.trim());
  return names(from!).flatMap((below) => names(to).map((above) => [below, above] as const));
});

test("an arrow of the picture leads from a room to one that it imports", () => {
  expect(arrows.length).toBeGreaterThan(20);
  const untrue = arrows
    .filter(([from]) => from !== "user")
    .filter(([from, to]) => {
      const [low, high] = [nodes.get(from), nodes.get(to)];
      if (low === undefined || high === undefined) return true;
      return !low.folders.some((a) => high.folders.some((b) => imports.has(`${low.layer}/${a} -> ${high.layer}/${b}`)));
    });
  expect(untrue).toEqual([]);
});
