/** Prompts that are kept under a name, with places for what differs between agents. */
import type { AgentCard } from "./agentCard.ts";

/** In a template: what stands there for an agent. */
export const PLACEHOLDERS = ["{cwd}", "{branch}", "{name}"] as const;

/** What is not known of the agent stays as it is, for the person to write. */
export function filled(text: string, { running, project_path: project }: AgentCard): string {
  const values: Readonly<Record<string, string | null | undefined>> = {
    "{cwd}": running?.cwd ?? (project === "" ? undefined : project),
    "{branch}": running?.branch,
    "{name}": running?.name,
  };
  return text.replaceAll(/\{(?:cwd|branch|name)\}/g, (place) => values[place] ?? place);
}

/** Below what is written already. */
export const inserted = (written: string, text: string): string =>
  written.trim() === "" ? text : `${written}\n${text}`;
