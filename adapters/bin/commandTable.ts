/** Every command there is, in the order in which help lists them. */
import type { CommandSpec } from "./commandTypes.ts";
import { completionsCommand } from "./completionsCommand.ts";
import { configCommand } from "./configCommand.ts";
import { doctorCommand } from "./doctorCommand.ts";
import { followCommand } from "./followCommand.ts";
import { hooksCommand } from "./hooksCommand.ts";
import { LAYOUT_COMMANDS } from "./layoutCommands.ts";
import { panesCommand, sessionsCommand } from "./listCommands.ts";
import { captureCommand, runCommand, sendCommand } from "./paneCommands.ts";
import { profileCommand, profilesCommand } from "./profilesCommand.ts";
import { addinCommand, serveCommand } from "./serveCommand.ts";
import { serviceCommand } from "./serviceCommand.ts";
import { killCommand, newCommand } from "./sessionCommands.ts";
import { submitCommand } from "./submitCommand.ts";
import { eventsCommand, treeCommand, windowsCommand } from "./treeCommands.ts";
import { trustCommand } from "./trustCommand.ts";
import { waitCommand } from "./waitCommand.ts";

export const COMMANDS: readonly CommandSpec[] = [
  serveCommand,
  addinCommand,
  sessionsCommand,
  windowsCommand,
  panesCommand,
  treeCommand,
  newCommand,
  sendCommand,
  captureCommand,
  waitCommand,
  runCommand,
  submitCommand,
  followCommand,
  eventsCommand,
  killCommand,
  ...LAYOUT_COMMANDS,
  configCommand,
  doctorCommand,
  trustCommand,
  serviceCommand,
  hooksCommand,
  profilesCommand,
  profileCommand,
  completionsCommand,
];
