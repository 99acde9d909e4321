/** `tmuxwire doctor`: checks everything that a start depends on, without changing it. */
import type { CommandCall, CommandSpec } from "../cli/commandTypes.ts";
import { JSON_OPTION } from "../cli/jsonOutput.ts";
import { CONFIG_OPTIONS, configurationOf } from "../cli/configuration.ts";
import { reportText } from "./doctorReport.ts";

export const doctorCommand: CommandSpec = {
  name: "doctor",
  summary: "check what the daemon needs, and say what to do",
  details: ["Changes nothing. Exits with 1 when something would keep a part of the daemon from starting, else with 0."],
  positionals: [],
  options: [...CONFIG_OPTIONS, JSON_OPTION],
  examples: [{ line: "tmuxwire doctor", does: "look at everything" }],
  run: async ({ io, options }: CommandCall): Promise<number> => {
    const { examine } = await import("./doctorChecks.ts");
    const findings = await examine(io, () => configurationOf(io, options));
    const failed = findings.some(({ verdict }) => verdict === "fail");
    const text = options.flag("json")
      ? `${JSON.stringify({ ok: !failed, checks: findings }, undefined, 2)}\n`
      : reportText(findings, io.colour);
    await io.out(text);
    return failed ? 1 : 0;
  },
};
