#!/usr/bin/env node
/**
 * The add-in's bridge as a bare script, for development against it: the stub over plain HTTP by default, like the bridge it
 * replaces (docs/contracts/addin.md §1, "mode default"). `tmuxwire addin` is the same with real shells over HTTPS.
 */
import process from "node:process";
import type { CommandSpec } from "../cli/commandTypes.ts";
import { processIo } from "../cli/cliIo.ts";
import { runCli } from "../cli/runCli.ts";
import { tmuxwireProgram } from "../cli/tmuxwireProgram.ts";
import { addinCommand, serve } from "../commands/service/serveCommand.ts";

const bare: CommandSpec = {
  ...addinCommand,
  summary: "run the add-in's bridge with a development's defaults",
  examples: [],
  run: (call) => serve(call, { only: new Set(["addin"]), isEverything: false, defaults: "raw", isChecked: false }),
};

process.exit(
  await runCli(tmuxwireProgram([bare]), [bare.name, ...process.argv.slice(2)], processIo(process, "tmuxwire")),
);
