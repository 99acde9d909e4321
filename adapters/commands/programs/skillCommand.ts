/** `skill`: what an agent has to know to use tmuxwire; the plugin has the same file. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { CommandSpec } from "../../cli/commandTypes.ts";

const SKILL = new URL("../../../docs/packaging/plugin/skills/tmuxwire/SKILL.md", import.meta.url);

export const skillCommand: CommandSpec = {
  name: "skill",
  summary: "print what a coding agent should know to use tmuxwire",
  details: ["A SKILL.md: when to use which command, and what never to do. Put it where your agent looks for skills."],
  positionals: [],
  options: [],
  examples: [{ line: "tmuxwire skill > SKILL.md", does: "to the folder where your agent looks for skills" }],
  run: async ({ io }) => {
    await io.out(await readFile(fileURLToPath(SKILL), "utf8"));
    return 0;
  },
};
