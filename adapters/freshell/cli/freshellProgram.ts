/** The program `freshell`: its table, in help's order, and its failures. */
import type { CommandSpec, Program } from "../../bin/cli/commandTypes.ts";
import { authCommand } from "./authCommand.ts";
import { capturePaneCommand } from "./capturePaneCommand.ts";
import { deviceCommand } from "./deviceCommand.ts";
import { reportFreshellFailure } from "./freshellCommand.ts";
import { CHANGE_COMMANDS } from "./changeCommands.ts";
import { LISTING_COMMANDS } from "./listingCommands.ts";
import { SESSION_COMMANDS } from "./agentSessionCommands.ts";
import { sendKeysCommand } from "./sendKeysCommand.ts";
import { healthCommand, lanInfoCommand } from "./serverCommands.ts";
import { killTerminalCommand, listTerminalsCommand, respawnTerminalCommand } from "./terminalCommands.ts";
import { waitForCommand } from "./waitForCommand.ts";

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
