/** `device`: this command line as a device that others can reach. */
import type { DeviceRan } from "./deviceRun.ts";
import { freshellCommand } from "./freshellCommand.ts";

export const deviceCommand = freshellCommand<DeviceRan>({
  name: "device",
  summary: "keep this command line's device online",
  details: [
    "run owns the layout until it is stopped; other commands of this home then go through it. Otherwise the device is " +
      "online only while a command needs its layout.",
  ],
  positionals: [{ name: "ACTION", description: "what to do", choices: ["run"] }],
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
    { line: "freshell device run", does: "until Ctrl-C" },
    { line: "freshell device run --allow-remote desk", does: "the device desk may open tabs here" },
  ],
  perform: async (call) => (await import("./deviceRun.ts")).runDevice(call),
});
