/** A program's `completions` command: the script that makes a shell complete its commands and options. */
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import type { Shell } from "../../cli/completions.ts";
import { completionScript, SHELLS } from "../../cli/completions.ts";

export const completionsCommand = (program: string): CommandSpec => ({
  name: "completions",
  summary: "print a completion script for your shell",
  positionals: [{ name: "SHELL", description: "the shell to print it for", choices: SHELLS }],
  options: [],
  examples: [
    { line: `eval "$(${program} completions bash)"`, does: "in ~/.bashrc" },
    { line: `${program} completions zsh > "\${fpath[1]}/_${program}"`, does: "once" },
    { line: `${program} completions fish > ~/.config/fish/completions/${program}.fish`, does: "once" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    await call.io.out(completionScript(call.positionals[0] as Shell, call.program));
    return 0;
  },
});
