/** `device`: this command line as a device that others can reach. */
import type { OptionSpec } from "../../bin/cli/commandTypes.ts";
import type { DeviceRan } from "./deviceRun.ts";
import { freshellCommand } from "./freshellCommand.ts";

const ALLOW: OptionSpec = {
  name: "allow-remote",
  type: "list",
  value: "DEVICE",
  description: "a device that may change this one's layout, * for each; may be given more than once",
  default: "none",
};

export const deviceCommand = freshellCommand<DeviceRan>({
  name: "device",
  summary: "keep this command line's device online",
  details: [
    "run owns the layout until it is told to stop; other commands of this home then go through it. Without it the device is " +
      "online for as long as a command needs its layout.",
  ],
  positionals: [{ name: "ACTION", description: "what to do", choices: ["run"] }],
  options: [ALLOW],
  examples: [
    { line: "freshell device run", does: "until Ctrl-C" },
    { line: "freshell device run --allow-remote desk", does: "the device desk may open tabs here" },
  ],
  perform: async (call) => (await import("./deviceRun.ts")).runDevice(call),
});
