/**
 * What is exported is imported somewhere, and what is there serves the product: a text scan, which sees every form of
 * import that is in use here (names, `* as`, `import()`).
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const LAYERS = ["protocol", "daemon", "adapters", "bench", "test"];

/** Imported by others than us (`exports` of package.json), by path or by a script, or a program's text. */
const FOR_OTHERS: ReadonlySet<string> = new Set([
  "adapters/client/client.ts",
  "adapters/client/castPlayer.ts",
  "adapters/team/piExtension.ts",
  "test/support/tmux/guestEngine.ts",
  "test/support/tmux/recordGolden.ts",
]);

/** Loaded by the agent's name (`agentStream.ts`, `agentTranscript.ts`). */
const STREAMS = /^adapters\/agents\/(\w+)\/\1(?:Stream|Transcript)\.ts$/;

const texts = new Map(
  LAYERS.flatMap((layer) =>
    readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => [`${layer}/${name}`, readFileSync(join(ROOT, layer, name), "utf8")]),
  ),
);

const namesIn = (list = ""): string[] =>
  list.split(",").flatMap((part) => /^(?:type\s+)?(\w+)/.exec(part.trim())?.slice(1) ?? []);

const DECLARED =
  /^export (?:declare |abstract |async )*(?<kind>const|let|function\*?|class|interface|type|enum) (?<name>\w+)/gm;
const NAMED = /^(?:import|export)(?: type)? \{([^}]*)\} from "(\.[^"]+)"/gm;
/** The names are taken from what the whole file says: it may hand the module on, or take it apart later. */
const WHOLE = /(?:\* as \w+ from |import\(\s*)"(\.[^"]+)"/g;

/** `file#name` → the layers that import it. */
function imports(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const add = (file: string, path: string, name: string): void => {
    const key = `${join(dirname(file), path)}#${name}`;
    const layers = found.get(key) ?? new Set();
    found.set(key, layers.add(file.slice(0, file.indexOf("/"))));
  };
  for (const [file, text] of texts) {
    for (const [, names, path = ""] of text.matchAll(NAMED)) for (const name of namesIn(names)) add(file, path, name);
    for (const [, path = ""] of text.matchAll(WHOLE)) {
      for (const [name] of text.matchAll(/\b\w+\b/g)) add(file, path, name);
    }
  }
  return found;
}

test("every export is imported, and no function is there for tests only", () => {
  const imported = imports();
  const [unused, forTestsOnly]: [string[], string[]] = [[], []];
  for (const [file, text] of texts) {
    for (const { groups: { kind = "", name = "" } = {} } of text.matchAll(DECLARED)) {
      const key = `${file}#${name}`;
      if (FOR_OTHERS.has(file) || STREAMS.test(file)) continue;
      const layers = imported.get(key);
      if (layers === undefined) unused.push(key);
      else if (!/^(?:test|bench)\//.test(file) && /function|class|const/.test(kind)) {
        const isUsedHere = text.split(new RegExp(`\\b${name}\\b`)).length > 2;
        if (!isUsedHere && [...layers].every((layer) => layer === "test" || layer === "bench")) forTestsOnly.push(key);
      }
    }
  }
  expect({ unused, forTestsOnly }).toEqual({ unused: [], forTestsOnly: [] });
});
