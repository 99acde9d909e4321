/** `version` of a program. */
import type { CommandSpec } from "../../cli/commandTypes.ts";

export const versionCommand = (program: string): CommandSpec => ({
  name: "version",
  summary: "print the version, as --version and -V do",
  positionals: [],
  options: [],
  examples: [{ line: `${program} version`, does: "of this program; a running daemon may be older" }],
  run: async ({ io, program: of }) => {
    await io.out(`${of.name} ${of.version()}\n`);
    return 0;
  },
});
