/** `tmuxwire new` and `tmuxwire kill`: create and kill a session. */
import type { NativeSession } from "../../client/client.ts";
import { startDirectory } from "../connection/clientConnection.ts";
import { operationCommand } from "./operationCommand.ts";
import type { CommandSpec } from "../../cli/commandTypes.ts";
import { oneLine } from "../../cli/textTable.ts";
import { HERE_OR_HOME, SESSION } from "./paneArguments.ts";

export const newCommand = operationCommand<NativeSession>({
  operation: "createSession",
  name: "new",
  details: ["Prints its pane. Runs your shell, or the program after `--`; no shell interprets the arguments."],
  positionals: [
    { gives: "name", name: "NAME", description: "its name; if omitted, the daemon picks one", optional: true },
    {
      gives: "command",
      name: "COMMAND",
      description: "the program to run and its arguments",
      optional: true,
      many: true,
    },
  ],
  tweak: {
    cwd: { value: "DIR", description: "where it runs", default: HERE_OR_HOME, complete: "directory" },
    cols: { short: "x", default: "80" },
    rows: { short: "y", default: "24" },
    remainOnExit: { name: "keep" },
  },
  examples: [
    { line: "tmuxwire new work", does: "a shell in this directory" },
    { line: "tmuxwire new build --keep -- make -j8", does: "keep the pane, so that its exit can be waited for" },
  ],
  input: (call) => {
    const [name, ...command] = call.positionals;
    return {
      cwd: startDirectory(call, call.options.text("cwd")),
      ...(name === "" ? { name: undefined } : {}),
      ...(command.length === 0 ? { command: undefined } : {}),
    };
  },
  show: async ({ io, positionals: [given = ""] }, { activePane, name }) => {
    if (given !== "" && given !== name) io.err(`tmuxwire: tmux calls the session ${oneLine(name)}\n`);
    await io.out(`${activePane ?? name}\n`);
  },
});

const killOne = operationCommand({
  operation: "killSession",
  name: "kill",
  positionals: [{ ...SESSION, many: true }],
  examples: [
    { line: "tmuxwire kill work", does: "only the session of exactly this name" },
    { line: "tmuxwire kill build test", does: "both, in this order, up to the first that there is not" },
  ],
});

export const killCommand: CommandSpec = {
  ...killOne,
  run: async (call) => {
    for (const session of call.positionals) await killOne.run({ ...call, positionals: [session] });
    return 0;
  },
};
