/**
 * The catalogue of agents: what is known of each, from its folder beside this file. An agent's name is its folder's and,
 * where nothing else is configured, its command. Nothing else names an agent (test/architecture/agents.test.ts).
 */
import * as v from "valibot";
import { faultText } from "../../protocol/api/faultWords.ts";
import { parse } from "../../protocol/api/parse.ts";
import { agentFolders } from "./agentFolders.ts";

const words = v.array(v.string());

/** How it is made to report its events to the dashboard. */
const reporting = {
  /** The variable that names its configuration directory, and the default, below the home directory. */
  variable: v.string(),
  directory: words,
  /** Below that directory. */
  file: words,
};
/** Commands that it runs at its events. */
const commands = {
  events: v.array(
    v.strictObject({
      /** The agent's name for it. */
      name: v.string(),
      /** Its name in the dashboard's route. */
      route: v.string(),
      /** Matches the tools or kinds it is about. */
      matcher: v.optional(v.string()),
    }),
  ),
  /** What stands in the file for one event, with `{matcher}` (left out where there is none) and `{command}`. */
  entry: v.looseObject({}),
  /** Instead of the usual command; another one would make every installation an outdated one. */
  command: v.optional(v.string()),
  /** Lines of the script that it runs: what is checked before an event is posted. */
  guard: v.optional(words, []),
  /** Printed after an installation. */
  notes: v.optional(words, []),
};

const agentSchema = v.strictObject({
  /** What it is called in sentences, and on a button. */
  title: v.string(),
  label: v.string(),
  /** Variables that it sets for the programs it runs: one that finds them believes that it runs inside. */
  marks: v.optional(words, []),
  /** Arguments that, with a session's id behind them, go on with that session in a terminal. */
  resume: v.optional(words),
  /**
   * Arguments of its first start alone, each with the word behind it. They choose a conversation: beside `resume` another
   * one, or they are refused. Or they give it a prompt.
   */
  once: v.optional(words, []),
  /** What a person enters as a prompt to end it. */
  exit: v.optional(v.string()),
  /** The option that tells a teammate, which it starts in a pane, its own session's id. */
  leads: v.optional(v.string()),
  /** It has a JSON mode, which `NAMEStream.ts` in its folder reads: for one prompt, or for a conversation as well. */
  stream: v.optional(v.picklist(["prompt", "conversation"])),
  /** `NAMETranscript.ts` in its folder reads the conversations that it keeps on disk. */
  transcript: v.optional(v.boolean()),
  hooks: v.optional(
    v.variant("install", [
      /** Its settings have our hooks among its own. */
      v.strictObject({
        install: v.literal("merge"),
        ...reporting,
        ...commands,
        /** The variable replaces the home directory instead. */
        replacesHome: v.optional(v.boolean(), false),
        /** A project has such settings, too. */
        inProjects: v.optional(v.boolean(), false),
        /** Its JSON may hold comments. */
        takesComments: v.optional(v.boolean(), false),
      }),
      /** It reads every file in a folder: one of them is ours. */
      v.strictObject({ install: v.literal("file"), ...reporting, ...commands }),
      /** It loads code: `plugin.js`, which posts the events itself. */
      v.strictObject({ install: v.literal("plugin"), ...reporting, firstLines: v.optional(words, []) }),
    ]),
  ),
});

export interface Agent extends v.InferOutput<typeof agentSchema> {
  readonly name: string;
  /** As in its file (`agentProfiles.ts`); none where no screens of it were recorded. */
  readonly profile: unknown;
  /** The code that it loads to report its events. */
  readonly plugin: string | undefined;
}

const MEMBERS = { noun: "member" } as const;

/** Every agent, sorted by name. */
export const readAgents = (): readonly Agent[] =>
  agentFolders().map(({ name, agent, profile, plugin }) => ({
    ...parse(agentSchema, agent, (fault) => new Error(`${name}/agent.json: ${faultText(fault, "it")}`), MEMBERS),
    name,
    profile,
    plugin,
  }));
