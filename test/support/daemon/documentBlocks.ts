/** What a document shows: indented blocks, each as its lines, and fenced blocks by their language. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../../..");

export interface DocumentBlock {
  /** `ts` and the like; empty for an indented block. */
  readonly language: string;
  readonly lines: readonly string[];
}

/** @param path from the repository's root */
export function documentBlocks(path: string): readonly DocumentBlock[] {
  const blocks: { language: string; lines: string[] }[] = [];
  let fence: { language: string; lines: string[] } | undefined;
  let isBefore = false;
  for (const line of readFileSync(join(ROOT, path), "utf8").split("\n")) {
    const mark = /^```(\w*)$/.exec(line);
    if (mark !== null) {
      if (fence === undefined) blocks.push((fence = { language: mark[1] ?? "", lines: [] }));
      else fence = undefined;
      isBefore = false;
    } else if (fence !== undefined) fence.lines.push(line);
    else if (line.startsWith("    ")) {
      if (!isBefore) blocks.push({ language: "", lines: [] });
      blocks.at(-1)!.lines.push(line.slice(4));
      isBefore = true;
    } else isBefore = false;
  }
  return blocks;
}

interface Example {
  readonly command: string;
  /** What the document shows below it. */
  readonly output: string;
}

/** Commands behind `$ ` with the output shown below each. */
export function dialogue({ lines }: DocumentBlock): readonly Example[] {
  const examples: { command: string; output: string }[] = [];
  for (const line of lines) {
    if (line.startsWith("$ ")) examples.push({ command: line.slice(2), output: "" });
    else examples.at(-1)!.output += `${line}\n`;
  }
  return examples;
}

/** Commands without a prompt: one a line, a backslash joins the next. */
export const commandsOf = ({ lines }: DocumentBlock): readonly string[] =>
  lines
    .join("\n")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n");
