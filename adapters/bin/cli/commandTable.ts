/** Every command, in the order in which help lists them. */
import type { CommandSpec } from "./commandTypes.ts";
import { attachCommand } from "../commands/attachCommand.ts";
import { completionsCommand } from "../commands/completionsCommand.ts";
import { configCommand } from "../commands/configCommand.ts";
import { doctorCommand } from "../commands/doctorCommand.ts";
import { disableCommand, enableCommand } from "../commands/enableCommand.ts";
import { eventsCommand } from "../commands/eventsCommand.ts";
import { followCommand } from "../commands/followCommand.ts";
import { hooksCommand } from "../commands/hooksCommand.ts";
import { logsCommand } from "../commands/logsCommand.ts";
import { mcpCommand } from "../commands/mcpCommand.ts";
import { namesCommand } from "../commands/namesCommand.ts";
import { OPERATION_COMMANDS } from "../commands/operationCommands.ts";
import { playCommand } from "../commands/playCommand.ts";
import { profileCommand, profilesCommand } from "../commands/profilesCommand.ts";
import { recCommand } from "../commands/recCommand.ts";
import { addinCommand, serveCommand } from "../commands/serveCommand.ts";
import { serviceCommand } from "../commands/serviceCommand.ts";
import { trustCommand } from "../commands/trustCommand.ts";
import { versionCommand } from "../commands/versionCommand.ts";

export const COMMANDS: readonly CommandSpec[] = [
  serveCommand,
  addinCommand,
  enableCommand,
  disableCommand,
  attachCommand,
  ...Object.values(OPERATION_COMMANDS),
  followCommand,
  recCommand,
  playCommand,
  eventsCommand,
  mcpCommand,
  logsCommand,
  configCommand,
  doctorCommand,
  trustCommand,
  serviceCommand,
  hooksCommand,
  profilesCommand,
  profileCommand,
  completionsCommand("tmuxwire"),
  namesCommand,
  versionCommand("tmuxwire"),
];
