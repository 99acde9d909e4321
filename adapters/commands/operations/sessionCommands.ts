/** `tmuxwire new` and `tmuxwire kill`: create and kill a session. */
import type { NativeSession } from "../../client/client.ts";
import { startDirectory } from "../connection/clientConnection.ts";
import { operationCommand } from "./operationCommand.ts";
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
    cols: { default: "80" },
    rows: { default: "24" },
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
  show: ({ io }, { activePane, name }) => io.out(`${activePane ?? name}\n`),
});

export const killCommand = operationCommand({
  operation: "killSession",
  name: "kill",
  positionals: [SESSION],
  examples: [{ line: "tmuxwire kill work", does: "only the session of exactly this name" }],
});
