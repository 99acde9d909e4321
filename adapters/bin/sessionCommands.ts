/** `tmuxwire new` and `tmuxwire kill`: a session comes and goes. */
import { resolve } from "node:path";
import type { NativeCreateSession } from "../native/client.ts";
import { CLIENT_OPTIONS, connect } from "./clientConnection.ts";
import type { CommandCall, CommandSpec } from "./commandTypes.ts";

const MAX_SIZE = 1_000;

export const newCommand: CommandSpec = {
  name: "new",
  summary: "make a session and print its pane",
  details: ["Runs your shell, or the program after `--` with its arguments as they are: no shell reads them."],
  positionals: [
    { name: "NAME", description: "its name; the daemon finds one when there is none", optional: true },
    { name: "COMMAND", description: "the program to run and its arguments", optional: true, many: true },
  ],
  options: [
    { name: "cwd", type: "text", value: "DIR", description: "where it runs", default: "here", complete: "directory" },
    { name: "cols", type: "number", value: "N", description: "width", default: "80", min: 1, max: MAX_SIZE },
    { name: "rows", type: "number", value: "N", description: "height", default: "24", min: 1, max: MAX_SIZE },
    { name: "keep", type: "flag", description: "keep the pane readable when its program has ended" },
    ...CLIENT_OPTIONS,
  ],
  examples: [
    { line: "tmuxwire new work", does: "a shell in this directory" },
    { line: "tmuxwire new build --keep -- make -j8", does: "a program whose end can be waited for" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options, positionals } = call;
    const [name, ...command] = positionals;
    const request: NativeCreateSession = {
      ...(name === undefined || name === "" ? {} : { name }),
      ...(command.length === 0 ? {} : { command }),
      cwd: resolve(io.cwd, options.text("cwd") ?? "."),
      ...(options.number("cols") === undefined ? {} : { cols: options.number("cols") }),
      ...(options.number("rows") === undefined ? {} : { rows: options.number("rows") }),
      ...(options.flag("keep") ? { remainOnExit: true } : {}),
    };
    const session = await (await connect(call)).createSession(request, { signal: io.signal });
    await io.out(`${options.flag("json") ? JSON.stringify(session) : (session.activePane ?? session.name)}\n`);
    return 0;
  },
};

export const killCommand: CommandSpec = {
  name: "kill",
  summary: "end a session and every program in it",
  positionals: [{ name: "SESSION", description: "its name, exactly, or its id such as $3" }],
  options: CLIENT_OPTIONS,
  examples: [{ line: "tmuxwire kill work", does: "and nothing whose name begins so" }],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options, positionals } = call;
    const [session = ""] = positionals;
    await (await connect(call)).killSession(session, { signal: io.signal });
    if (options.flag("json")) await io.out(`${JSON.stringify({ ok: true })}\n`);
    return 0;
  },
};
