/**
 * What the folders beside this file hold: one for each agent (those with an agent.json), so that adding an agent is adding a folder. Read from disk
 * where the sources run; a bundle holds what was there when it was made (`bundleAgents.mjs`).
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface AgentFolder {
  readonly name: string;
  /** agent.json. */
  readonly agent: unknown;
  /** profile.json, where screens of it were recorded. */
  readonly profile: unknown;
  /** plugin.js: what the agent loads to report its events. */
  readonly plugin: string | undefined;
}

/** Sorted by name. */
export function agentFolders(): readonly AgentFolder[] {
  const here = import.meta.dirname;
  const json = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));
  return readdirSync(here, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(here, entry.name, "agent.json")))
    .map(({ name }) => {
      const [agent, profile, plugin] = ["agent.json", "profile.json", "plugin.js"].map((file) =>
        join(here, name, file),
      );
      return {
        name,
        agent: json(agent!),
        profile: existsSync(profile!) ? json(profile!) : undefined,
        plugin: existsSync(plugin!) ? readFileSync(plugin!, "utf8") : undefined,
      };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}
