/** `tmuxwire completions`: the script that makes a shell complete what the command table knows. */
import type { CommandCall, CommandSpec } from "../cli/commandTypes.ts";
import type { Shell } from "../cli/completions.ts";
import { completionScript, SHELLS } from "../cli/completions.ts";

export const completionsCommand: CommandSpec = {
  name: "completions",
  summary: "print a completion script for your shell",
  positionals: [{ name: "SHELL", description: "the shell to print it for", choices: SHELLS }],
  options: [],
  examples: [
    { line: 'eval "$(tmuxwire completions bash)"', does: "in ~/.bashrc" },
    { line: 'tmuxwire completions zsh > "${fpath[1]}/_tmuxwire"', does: "once" },
    { line: "tmuxwire completions fish > ~/.config/fish/completions/tmuxwire.fish", does: "once" },
  ],
  run: async ({ io, table, positionals }: CommandCall): Promise<number> => {
    await io.out(completionScript(positionals[0] as Shell, table));
    return 0;
  },
};
