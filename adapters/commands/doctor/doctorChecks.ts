/** Every check of `tmuxwire doctor`: the machine, the configuration, then each adapter's own. */
import { localHost } from "../../../daemon/host/localHost.ts";
import { ptyProblem } from "../../../daemon/host/clients/ptyTransport.ts";
import { toAppError } from "../../../protocol/errors.ts";
import { ADAPTERS } from "../../adapters.ts";
import { type Check, fail, type Finding, findingOf, ok } from "../../serving/findings.ts";
import type { Config } from "../connection/configuration.ts";
import { descriptorCheck, hostCheck, nodeCheck, ptyCheck, sessionCheck, tmuxCheck } from "./doctorSystem.ts";
import type { Io } from "../../cli/cliIo.ts";

export async function examine(io: Io, readConfig: () => Config): Promise<Finding[]> {
  const host = localHost(io.platform);
  const system = await findingsOf([
    { name: "node", probe: nodeCheck },
    { name: "tmux", probe: () => tmuxCheck(io) },
    { name: "host", probe: () => hostCheck(host.name, host.processes.reportsNow) },
    { name: "terminal module", probe: () => ptyCheck(ptyProblem()) },
    { name: "descriptors", probe: descriptorCheck },
    { name: "user session", probe: () => sessionCheck(io) },
  ]);
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    return [...system, fail("configuration", toAppError(error).message)];
  }
  const usable = config.problems.size === 0 ? "every setting is usable" : "the daemon's own settings are usable";
  const findings = [...system, ok("configuration", `${usable}; \`tmuxwire config\` shows them`)];
  for (const adapter of ADAPTERS) {
    // An adapter that is not started is not checked.
    const off = config.offBecause(adapter.name);
    if (off !== undefined) {
      if (off !== "") findings.push(ok(adapter.name, `not served: ${off}`));
      continue;
    }
    const problem = config.problems.get(adapter.name);
    if (problem !== undefined) {
      findings.push(fail(adapter.name, problem.message));
      continue;
    }
    const checks = await adapter.checks?.(config[adapter.name], { daemon: config.daemon, env: io.env });
    findings.push(...(await findingsOf(checks ?? [])));
  }
  return findings;
}

/** Runs them one by one. */
async function findingsOf(checks: readonly Check[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of checks) findings.push(await findingOf(check));
  return findings;
}
