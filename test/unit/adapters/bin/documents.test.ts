/** Documents lead somewhere: their links, the tests that they name, and the messages that troubleshooting explains. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { pictureOf } from "../../../support/demoPicture.ts";

const ROOT = resolve(import.meta.dirname, "../../../..");

const documents = [
  "README.md",
  "SECURITY.md",
  "adapters/client/python/README.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
const textOf = (name: string): string => readFileSync(join(ROOT, name), "utf8");

/** As GitHub makes them. */
const anchors = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

test.each(documents)("%s: every link leads to something", (name) => {
  const broken = [...textOf(name).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^(?:https?:|mailto:)/.test(target))
    .filter((target) => {
      const [file = "", anchor] = target.split("#");
      const path = file === "" ? join(ROOT, name) : join(ROOT, dirname(name), file);
      if (!existsSync(path)) return true;
      return anchor !== undefined && !anchors(readFileSync(path, "utf8")).includes(anchor);
    });
  expect(broken).toEqual([]);
});

test("documents name tests that are there", () => {
  const named = documents.flatMap((name) =>
    [...textOf(name).matchAll(/\btest\/[\w./-]+(?![\w./*-])/g)].map(([path]) => path.replace(/[./]+$/, "")),
  );
  expect(named.length).toBeGreaterThan(40);
  const isThere = (path: string): boolean =>
    ["", ".ts", ".test.ts", ".load.test.ts"].some((ending) => existsSync(join(ROOT, `${path}${ending}`)));
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});

test("the contract names every metric", () => {
  const sources = ["daemon", "adapters"].flatMap((layer) =>
    readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" }).map((file) => `${layer}/${file}`),
  );
  const names = sources
    .filter((name) => /(?:[mM]etrics|measure|freshellApp)\.ts$/.test(name))
    .flatMap((name) => [...textOf(name).matchAll(/"((?:tmuxwire|freshell)_[a-z_]+)"/g)])
    .map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(15);
  const contracts = documents
    .filter((name) => name.startsWith("docs/contracts/"))
    .map(textOf)
    .join("\n");
  expect(names.filter((name) => !contracts.includes(name))).toEqual([]);
});

test("every message that troubleshooting explains is one that is said", () => {
  const sources = ["protocol", "daemon", "adapters"]
    .flatMap((layer) =>
      readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" }).map((f) => `${layer}/${f}`),
    )
    .filter((name) => name.endsWith(".ts"))
    .map(textOf)
    .join("\n");
  const rows = textOf("docs/troubleshooting.md").match(/^\| .*`.* \|$/gm) ?? [];
  const words = rows.flatMap((row) => {
    const [, message = ""] = row.split("|");
    return [...message.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
  });
  expect(words.length).toBeGreaterThan(25);
  expect(words.filter((text) => !sources.includes(text))).toEqual([]);
});

test("the README's picture is drawn from the recording beside it", async () => {
  // `npx vitest run --project unit documents -u` draws it again.
  await expect(await pictureOf(textOf("docs/demo.cast"))).toMatchFileSnapshot(join(ROOT, "docs/demo.svg"));
});
