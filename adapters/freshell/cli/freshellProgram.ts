/** The program `freshell`: its table, in help's order, and its failures. */
import type { FreshellHealth, LanInfo } from "../../../protocol/api/freshell/freshellHttp.ts";
import type { CommandSpec, Program } from "../../cli/commandTypes.ts";
import { printable } from "../../cli/textTable.ts";
import { authCommand } from "./authCommand.ts";
import type { DeviceRan } from "./deviceRun.ts";
import { reportFreshellFailure, freshellCommand } from "./freshellCommand.ts";
import { CHANGE_COMMANDS } from "./changeCommands.ts";
import { LISTING_COMMANDS } from "./listingCommands.ts";
import { SESSION_COMMANDS } from "./agentSessionCommands.ts";
import {
  capturePaneCommand,
  killTerminalCommand,
  listTerminalsCommand,
  respawnTerminalCommand,
  sendKeysCommand,
} from "./terminalCommands.ts";
import { waitForCommand } from "./waitForCommand.ts";

const healthCommand = freshellCommand<FreshellHealth>({
  name: "health",
  summary: "tell whether the server and its tmux are running",
  perform: ({ session }) => session.open({ method: "GET", path: "/api/health" }),
  show: ({ version, ready }) =>
    `ok, version ${printable(version)}, ${ready ? "ready" : "not ready: tmux is not running"}\n`,
});

const lanInfoCommand = freshellCommand<LanInfo>({
  name: "lan-info",
  summary: "list the addresses of the server's machine",
  perform: ({ session }) => session.call({ method: "GET", path: "/api/lan-info" }),
  show: ({ ips }) => ips.map((ip) => `${printable(ip)}\n`).join(""),
});

/** `device`: this command line as a device that others can reach. */
const deviceCommand = freshellCommand<DeviceRan>({
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

/** @param more commands independent of Freshell */
export const freshellProgram = (version: () => string, more: readonly CommandSpec[]): Program => ({
  name: "freshell",
  about: "type into, read, and wait for the terminals of a Freshell server, and lay them out in tabs and panes",
  commands: [
    authCommand,
    listTerminalsCommand,
    sendKeysCommand,
    capturePaneCommand,
    waitForCommand,
    respawnTerminalCommand,
    killTerminalCommand,
    ...CHANGE_COMMANDS,
    ...LISTING_COMMANDS,
    deviceCommand,
    healthCommand,
    lanInfoCommand,
    ...SESSION_COMMANDS,
    ...more,
  ],
  version,
  fail: reportFreshellFailure,
});
