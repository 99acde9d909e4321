/** `tmuxwire trust`: which certificate the add-in's bridge uses, and how to make this system trust it. */
import { nssFolders, trustInstructions } from "../../kit/trust/trust.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { JSON_OPTION, printResult } from "../../cli/jsonOutput.ts";
import { configurationOf } from "../connection/configuration.ts";

export const trustCommand: CommandSpec = {
  name: "trust",
  summary: "say how to trust the add-in's https certificate",
  details: [
    "Creates the local certificate authority if there is none yet. Prints the commands that change a trust store; run them " +
      "yourself.",
  ],
  positionals: [],
  options: [JSON_OPTION],
  examples: [{ line: "tmuxwire trust", does: "the commands for this system" }],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options } = call;
    const config = configurationOf(io, options);
    const { resolveCertificate } = await import("../../kit/trust/certificates.ts");
    const certificate = await resolveCertificate(config.addin.certificates, Date.now());
    const { source, authorityPath, notAfterUnixMs } = certificate;
    const folders = nssFolders(io.env["XDG_DATA_HOME"], io.homeDir);
    const instructions = trustInstructions(io.platform, certificate, folders);
    const report = {
      source,
      authorityPath: authorityPath ?? null,
      notAfter: new Date(notAfterUnixMs).toISOString(),
      instructions,
    };
    await printResult(call, report, instructions);
    return 0;
  },
};
