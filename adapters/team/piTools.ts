/** The four tools' names, descriptions and schemas for the model (docs/contracts/team.md §4). */
import type { ObjectSchema } from "./piApi.ts";

const objectSchema = (properties: Readonly<Record<string, object>>, required: readonly string[]): ObjectSchema => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false,
});

const string = (description: string): object => ({ type: "string", description });
const lineCount = (description: string): object => ({ type: "integer", minimum: 1, description });

const SESSION_NAME = string("Exact session name, as team_tmux_start or team_tmux_list gave it.");

export const TOOLS = {
  team_tmux_start: {
    label: "Start worker",
    description:
      "Start an interactive pi worker in its own tmux session, submit taskPrompt to it, and announce it in a team thread " +
      "(made when threadId is absent). The session stays after the worker ends. Returns the session name and how to attach.",
    parameters: objectSchema(
      {
        taskPrompt: string("The worker's task, submitted as one message exactly as given."),
        threadId: string("Existing thread to announce the worker in."),
        sessionPrefix: string(
          'Sessions are called PREFIX-1, PREFIX-2, …; letters, digits, ".", "_", "-". Default: worker.',
        ),
        cwd: string("The worker's directory. Default: the present one."),
        lines: lineCount("Return at most this many last lines of the worker's screen."),
        title: string("Title of the thread that is made."),
      },
      ["taskPrompt"],
    ),
  },
  team_tmux_list: {
    label: "List workers",
    description: "List the team's tmux sessions, ended ones included.",
    parameters: objectSchema({ sessionPrefix: string("Only sessions whose name begins so.") }, []),
  },
  team_tmux_attach: {
    label: "How to attach",
    description: "Return the command with which a person attaches to a worker's session. Attaches nothing.",
    parameters: objectSchema({ sessionName: SESSION_NAME }, ["sessionName"]),
  },
  team_tmux_capture: {
    label: "Capture worker",
    description:
      "Return the last lines of a worker's screen and history (default 1000, at most 5000), also of one that has ended; " +
      "with threadId, post them there as well.",
    parameters: objectSchema(
      {
        sessionName: SESSION_NAME,
        lines: lineCount("How many lines of history."),
        threadId: string("Thread to post the text to."),
      },
      ["sessionName"],
    ),
  },
} as const satisfies Record<string, { label: string; description: string; parameters: ObjectSchema }>;

export type ToolName = keyof typeof TOOLS;

export const isToolName = (name: string): name is ToolName => Object.hasOwn(TOOLS, name);
