/** `tmuxwire` with some of its commands: makes a program of a command table. */
import { packageVersion } from "../../serving/version.ts";
import type { CommandSpec, Program } from "./commandTypes.ts";
import { reportFailure } from "./failure.ts";

export const tmuxwireProgram = (commands: readonly CommandSpec[]): Program => ({
  name: "tmuxwire",
  about: "a daemon that drives tmux, and commands that use it",
  commands,
  version: packageVersion,
  fail: reportFailure,
});
