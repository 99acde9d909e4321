/** Every command, in the order in which help lists them. */
import type { CommandSpec } from "../cli/commandTypes.ts";
import { attachCommand } from "./programs/attachCommand.ts";
import { completionsCommand } from "./programs/completionsCommand.ts";
import { configCommand } from "./programs/configCommand.ts";
import { doctorCommand } from "./doctor/doctorCommand.ts";
import { disableCommand, enableCommand } from "./programs/enableCommand.ts";
import { eventsCommand } from "./programs/eventsCommand.ts";
import { fleetLsCommand } from "./programs/fleetLsCommand.ts";
import { followCommand } from "./programs/followCommand.ts";
import { hostInfoCommand } from "./programs/hostInfoCommand.ts";
import { hooksCommand } from "./hooks/hooksCommand.ts";
import { logsCommand } from "./service/logsCommand.ts";
import { mcpCommand } from "./programs/mcpCommand.ts";
import { namesCommand } from "./programs/namesCommand.ts";
import { OPERATION_COMMANDS } from "./operations/operationCommands.ts";
import { playCommand } from "./programs/playCommand.ts";
import { profileCommand, profilesCommand } from "./programs/profilesCommand.ts";
import { recCommand } from "./programs/recCommand.ts";
import { restartCommand } from "./service/restartCommand.ts";
import { addinCommand, serveCommand } from "./service/serveCommand.ts";
import { serviceCommand } from "./service/serviceCommand.ts";
import { skillCommand } from "./programs/skillCommand.ts";
import { trustCommand } from "./programs/trustCommand.ts";
import { versionCommand } from "./programs/versionCommand.ts";

export const COMMANDS: readonly CommandSpec[] = [
  serveCommand,
  addinCommand,
  enableCommand,
  disableCommand,
  attachCommand,
  ...new Set(Object.values({ ...OPERATION_COMMANDS, tree: fleetLsCommand })),
  followCommand,
  recCommand,
  playCommand,
  eventsCommand,
  mcpCommand,
  logsCommand,
  restartCommand,
  configCommand,
  doctorCommand,
  trustCommand,
  serviceCommand,
  hooksCommand,
  profilesCommand,
  profileCommand,
  skillCommand,
  completionsCommand("tmuxwire"),
  namesCommand,
  hostInfoCommand,
  versionCommand("tmuxwire"),
];
