/** The program `freshell`: its table, as help lists it, and how it ends. */
import type { CommandSpec, Program } from "../../bin/cli/commandTypes.ts";
import { authCommand } from "./authCommand.ts";
import { capturePaneCommand } from "./capturePaneCommand.ts";
import { reportFreshellFailure } from "./freshellCommand.ts";
import { PENDING_COMMANDS } from "./pendingCommands.ts";
import { sendKeysCommand } from "./sendKeysCommand.ts";
import { healthCommand, lanInfoCommand } from "./serverCommands.ts";
import { killTerminalCommand, listTerminalsCommand, respawnTerminalCommand } from "./terminalCommands.ts";
import { waitForCommand } from "./waitForCommand.ts";

/** @param more commands that know nothing of Freshell */
export const freshellProgram = (version: () => string, more: readonly CommandSpec[]): Program => ({
  name: "freshell",
  about: "type into, read, and wait for the terminals of a Freshell server",
  commands: [
    authCommand,
    listTerminalsCommand,
    sendKeysCommand,
    capturePaneCommand,
    waitForCommand,
    respawnTerminalCommand,
    killTerminalCommand,
    healthCommand,
    lanInfoCommand,
    ...PENDING_COMMANDS,
    ...more,
  ],
  version,
  fail: reportFreshellFailure,
});
