// oxlint-disable typescript/no-unsafe-assignment, typescript/strict-boolean-expressions -- plain JavaScript: Node's modules have no types here
/**
 * Draws sentences to be read aloud by somebody who has not written them: of documents, messages and help.
 *
 *     node test/support/drawSentences.mjs [COUNT=100] [SEED=1]
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const [count = 100, seed = 1] = process.argv.slice(2).map(Number);
const files = execFileSync("git", ["ls-files", "*.md", "*.ts", "*.tsx"], { encoding: "utf8" }).trim().split("\n");

/** Of prose: no tables, headings, code. */
function* sentencesOf(text) {
  for (const line of text.replaceAll(/^```[^]*?^```/gm, "").split("\n")) {
    if (/^(?: {4}|[|#>])/.test(line)) continue;
    for (const sentence of line.trim().split(/(?<=[.!?]) (?=[A-Z`*])/)) {
      if (sentence.split(" ").length >= 6) yield sentence;
    }
  }
}

const MESSAGE =
  /(?:Error\(|invalidArgument\(|notFound\(|summary: |help: |description: |words: )[^"`]{0,40}(?:"([^"]{30,220})"|`([^`]{30,220})`)/g;

const found = [[], []];
for (const path of files) {
  const text = readFileSync(path, "utf8");
  const [sentences, messages] = found;
  if (path.endsWith(".md") && !/^test\/|CHANGELOG|contracts\//.test(path))
    for (const sentence of sentencesOf(text)) sentences.push(`${path}: ${sentence}`);
  if (/^(?:daemon|adapters|protocol)\//.test(path) && !path.endsWith(".md"))
    for (const [, quoted, template] of text.matchAll(MESSAGE)) messages.push(`${path}: ${quoted ?? template}`);
}

/** Park and Miller's generator: the same draw for the same seed. */
let state = seed;
const below = (bound) => (state = (state * 48_271) % 2_147_483_647) % bound;
for (let drawn = 0; drawn < count; drawn += 1) {
  const from = found[drawn % 2];
  process.stdout.write(`${from.splice(below(from.length), 1)[0]}\n`);
}
