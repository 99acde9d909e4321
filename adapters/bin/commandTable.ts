/** Every command there is, in the order in which help lists them. */
import type { CommandSpec } from "./commandTypes.ts";
import { completionsCommand } from "./completionsCommand.ts";
import { configCommand } from "./configCommand.ts";
import { doctorCommand } from "./doctorCommand.ts";
import { eventsCommand } from "./eventsCommand.ts";
import { followCommand } from "./followCommand.ts";
import { hooksCommand } from "./hooksCommand.ts";
import { OPERATION_COMMANDS } from "./operationCommands.ts";
import { profileCommand, profilesCommand } from "./profilesCommand.ts";
import { addinCommand, serveCommand } from "./serveCommand.ts";
import { serviceCommand } from "./serviceCommand.ts";
import { trustCommand } from "./trustCommand.ts";

export const COMMANDS: readonly CommandSpec[] = [
  serveCommand,
  addinCommand,
  ...Object.values(OPERATION_COMMANDS),
  followCommand,
  eventsCommand,
  configCommand,
  doctorCommand,
  trustCommand,
  serviceCommand,
  hooksCommand,
  profilesCommand,
  profileCommand,
  completionsCommand,
];
