/** One way from an outside value to a schema's type: only `protocol/api/parse.ts` calls the library's parsers. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const PARSERS = "parse|parser|safeParse|safeParser|parseAsync|parserAsync|safeParseAsync|safeParserAsync|is|assert";
/** By the library's name here, however it was imported. */
const CALLED = new RegExp(`\\bv\\s*\\.\\s*(?:${PARSERS})\\b`);
const IMPORTED = new RegExp(`\\bimport\\s*\\{[^}]*\\b(?:${PARSERS})\\b[^}]*\\}\\s*from\\s*"valibot"`);

const parses = (source: string): boolean => CALLED.test(source) || IMPORTED.test(source);

test("nothing else calls valibot's parsers", () => {
  const offences = ["protocol", "daemon", "adapters", "bench"].flatMap((layer) =>
    readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${layer}/${name}`)
      .filter((name) => {
        const source = readFileSync(join(ROOT, name), "utf8");
        // Under another name it would not be seen.
        return parses(source) || /import (?:type )?\* as (?!v )\w+ from "valibot"/.test(source);
      }),
  );
  expect(offences).toEqual(["protocol/api/parse.ts"]);
});

test("what this test would see", () => {
  expect(parses("v.safeParse(schema, given)")).toBe(true);
  expect(parses("if (!v.is(schema, given)) return")).toBe(true);
  expect(parses('import { type GenericSchema, safeParse } from "valibot";')).toBe(true);
  expect(parses('import { type GenericSchema, type InferOutput } from "valibot";')).toBe(false);
  expect(parses("const a = v.isoDate();")).toBe(false);
});
