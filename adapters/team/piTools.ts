/** The tools' names, descriptions and schemas for the model (docs/contracts/team.md §4). */
import type { Fields } from "../../protocol/text/jsonObject.ts";

/** The JSON schema of an object. */
interface ObjectSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly additionalProperties: false;
}

interface ToolRow {
  readonly label: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
  /** What it needs a UI and, inside the project, a lease for; absent: nothing. */
  readonly guarded?: string;
  /** It may post to a thread, so the daemon is told of teamd. */
  readonly posts?: true;
  /** With an idempotency key it happens once, however often it is sent. */
  readonly once?: true;
}

const objectSchema = (required: readonly string[], properties: Readonly<Record<string, object>>): ObjectSchema => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false,
});

const string = (description: string): object => ({ type: "string", description });
const whole = (description: string): object => ({ type: "integer", minimum: 1, description });

const choice = (description: string, ...names: readonly string[]): object => ({
  type: "string",
  enum: names,
  description,
});

const TIMEOUT_MS = whole("Stop waiting after this many milliseconds; default 600000.");
const SESSION_NAME = string("Exact session name, as team_tmux_start or team_tmux_list gave it.");

export const TOOLS: Readonly<Record<string, ToolRow>> = {
  team_tmux_start: {
    label: "Start worker",
    description:
      "Start an interactive pi worker in its own tmux session, submit taskPrompt to it, and announce it in a team thread " +
      "(made when threadId is absent). The session stays after the worker ends. Returns the session name and how to attach.",
    parameters: objectSchema(["taskPrompt"], {
      taskPrompt: string("The worker's task, submitted as one message exactly as given."),
      threadId: string("Existing thread to announce the worker in."),
      sessionPrefix: string(
        'Sessions are called PREFIX-1, PREFIX-2, …; letters, digits, ".", "_", "-". Default: worker.',
      ),
      cwd: string("The worker's directory. Default: the present one."),
      lines: whole("Return at most this many last lines of the worker's screen."),
      title: string("Title of the thread that is made."),
      agent: string("Another agent than pi, by its command, such as claude or codex."),
    }),
    guarded: "Start",
    posts: true,
    once: true,
  },
  team_tmux_list: {
    label: "List workers",
    description: "List the team's tmux sessions, ended ones included, with what the worker in each is doing.",
    parameters: objectSchema([], { sessionPrefix: string("Only sessions whose name begins so.") }),
  },
  team_tmux_attach: {
    label: "How to attach",
    description: "Return the command with which a person attaches to a worker's session. Attaches nothing.",
    parameters: objectSchema(["sessionName"], { sessionName: SESSION_NAME }),
  },
  team_tmux_capture: {
    label: "Capture worker",
    description:
      "Return the last lines of a worker's screen and history (default 1000, at most 5000), also of one that has ended; " +
      "with threadId, post them there as well.",
    parameters: objectSchema(["sessionName"], {
      sessionName: SESSION_NAME,
      lines: whole("How many lines of history."),
      threadId: string("Thread to post the text to."),
    }),
    guarded: "Capture",
    posts: true,
  },
  team_tmux_send: {
    label: "Tell worker",
    description:
      "Tell a running worker something more, as one message. It waits until the worker takes a prompt (when: idle), is typed " +
      "once, and goes to this worker alone. Returns when the worker has taken it; with wait: done when the turn that it " +
      "began is over, with the worker's last words, or when the worker asks something.",
    parameters: objectSchema(["sessionName", "message"], {
      sessionName: SESSION_NAME,
      message: string("The message, exactly as given."),
      when: choice("When to type it; default: idle.", "idle", "now"),
      ttlSec: whole("Give up if it was not typed within this many seconds; default 86400."),
      wait: choice("What to wait for before returning; default: taken.", "none", "taken", "done"),
      timeoutMs: TIMEOUT_MS,
    }),
    guarded: "Send",
    once: true,
  },
  team_tmux_wait: {
    label: "Wait for worker",
    description:
      "Wait until a worker is done with what it was told, asks something, or has ended (default: the first of these), is " +
      "ready for a prompt, or has been busy without any output for stalledSec. Returns which, its last words, and what it asks.",
    parameters: objectSchema(["sessionName"], {
      sessionName: SESSION_NAME,
      for: {
        type: "array",
        items: { type: "string", enum: ["ready", "asking", "done", "ended", "stalled"] },
        minItems: 1,
        description: "Any of these ends the wait.",
      },
      stalledSec: whole("Default 120."),
      timeoutMs: TIMEOUT_MS,
    }),
  },
  team_tmux_interrupt: {
    label: "Interrupt worker",
    description: "Interrupt a worker's turn with its own keys; it then takes a prompt again.",
    parameters: objectSchema(["sessionName"], { sessionName: SESSION_NAME }),
    guarded: "Interrupt",
  },
  team_tmux_kill: {
    label: "Kill worker",
    description: "End a worker and its session, whatever it is doing. Its screen is gone: capture it first.",
    parameters: objectSchema(["sessionName"], { sessionName: SESSION_NAME }),
    guarded: "Kill",
  },
  team_tmux_restart: {
    label: "Restart worker",
    description:
      "End a worker and start it again in a session of the same name, in its directory; it goes on with its conversation " +
      "where that is known (resumed says so).",
    parameters: objectSchema(["sessionName"], { sessionName: SESSION_NAME }),
    guarded: "Restart",
  },
};

/** A parameter that a tool does not have. */
export const unknownParameter = (tool: string, params: Fields): string | undefined =>
  Object.keys(params).find((key) => !Object.hasOwn(TOOLS[tool]?.parameters.properties ?? {}, key));
