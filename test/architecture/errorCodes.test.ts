/** A code stands for something that happens: each is thrown somewhere, and the one of a lost tmux only where tmux is. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { ERROR_SURFACES } from "../../protocol/errors.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Of the freshell contract, which the adapter that is to come throws. */
const TO_COME: readonly string[] = [
  "INVALID_TARGET",
  "AMBIGUOUS_TARGET",
  "UNSUPPORTED_CAPTURE_MODE",
  "RPC_TIMEOUT",
  "OWNER_TIMEOUT",
];

/** The table itself, and what stands for a tmux server to a feed. */
const NOT_LOOKED_AT: readonly string[] = ["protocol/errors.ts", "adapters/freshell/terminals/terminalServer.ts"];

const textsOf = (layer: string): readonly string[] =>
  readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !NOT_LOOKED_AT.includes(`${layer}/${name}`))
    .map((name) => readFileSync(join(ROOT, layer, name), "utf8"));

test("every code is thrown", () => {
  const everything = ["protocol", "daemon", "adapters"].flatMap(textsOf).join("\n");
  const isUsed = (code: string): boolean => everything.includes(`"${code}"`);
  const unused = Object.keys(ERROR_SURFACES).filter((code) => !isUsed(code) && !TO_COME.includes(code));
  expect(unused).toEqual([]);
});

test("CONNECTION_LOST is about tmux: no client and no surface makes one", () => {
  const thrown = textsOf("adapters").flatMap((text) => text.match(/Error\(\s*"CONNECTION_LOST"/g) ?? []);
  expect(thrown).toEqual([]);
});
