/** The program `freshell`: its table, in help's order, and its failures. */
import type { CommandSpec, Program } from "../../cli/commandTypes.ts";
import { authCommand } from "./authCommand.ts";
import { freshellCommand, reportFreshellFailure, word } from "./freshellCommand.ts";
import { LAYOUT_COMMANDS } from "./deviceCommands.ts";
import type { DeviceRan } from "./ownDevice.ts";
import { ABOUT_COMMANDS, SESSION_COMMANDS, TERMINAL_COMMANDS } from "./serverCommands.ts";

/** `device`: this command line as a device that others can reach. */
const deviceCommand = freshellCommand<DeviceRan>({
  name: "device",
  summary: "keep this command line's device online",
  details: [
    "run owns the layout until it is stopped; other commands of this home then go through it. Otherwise the device is " +
      "online only while a command needs its layout.",
  ],
  positionals: [word("ACTION", "what to do", { choices: ["run"] })],
  options: [
    {
      name: "allow-remote",
      type: "list",
      value: "DEVICE",
      description: "a device that may change this one's layout, * for all; may be given more than once",
      default: "none",
    },
  ],
  examples: [
    ["device run", "until Ctrl-C"],
    ["device run --allow-remote desk", "the device desk may open tabs here"],
  ],
  perform: async (call) => (await import("./ownDevice.ts")).runDevice(call),
});

/** @param more commands independent of Freshell */
export const freshellProgram = (version: () => string, more: readonly CommandSpec[]): Program => ({
  name: "freshell",
  about: "type into, read, and wait for the terminals of a Freshell server, and lay them out in tabs and panes",
  commands: [
    authCommand,
    ...TERMINAL_COMMANDS,
    ...LAYOUT_COMMANDS,
    deviceCommand,
    ...ABOUT_COMMANDS,
    ...SESSION_COMMANDS,
    ...more,
  ],
  version,
  fail: reportFreshellFailure,
});
