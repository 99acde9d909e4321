/**
 * The team contract's requests and responses (docs/contracts/team.md §2). Objects are strict, so a misspelt field is an
 * error. A schema message that begins with an error's name selects that error instead of `invalid_argument`.
 */
import * as v from "valibot";
import { isWellFormed } from "../text/wellFormed.ts";
import { filled } from "./described.ts";
import {
  AGENT_WAIT_NAMES,
  MESSAGE_OUTCOMES,
  NATIVE_MAX_AGENT_WAIT_MS,
  NATIVE_MAX_MESSAGE_TTL_SEC,
} from "./native/nativeAgentMessages.ts";
import { AGENT_STATE_NAMES } from "./native/nativeAgents.ts";

/** Bounds of the contract. */
export const TEAM_MAX_BODY_BYTES = 2_097_152;
export const TEAM_MAX_CAPTURE_LINES = 5_000;
export const TEAM_DEFAULT_CAPTURE_LINES = 1_000;
const TEAM_MAX_PROMPT_BYTES = 1_048_576;
export const TEAM_DEFAULT_PREFIX = "worker";

const IDENTIFIER = /^[a-zA-Z0-9._][a-zA-Z0-9._-]*$/;

/** `.` and `..` are directories, a leading dash is an option, and our own names are reserved. */
const isIdentifier = (text: string): boolean =>
  IDENTIFIER.test(text) && !/^\.{1,2}$/.test(text) && !text.startsWith("__tmuxwire-");

const LETTERS = 'of a-z, A-Z, 0-9, ".", "_" and "-"';
const named = (isName: (text: string) => boolean, maxChars: number, what: string) =>
  v.pipe(
    v.string(),
    v.check((text) => isName(text) && text.length <= maxChars, `invalid_identifier: must be ${what}`),
  );

const identifier = named(isIdentifier, 64, `1 to 64 ${LETTERS}, not beginning with "-"`);
/** A name that tmux reports, so it may be one that we would not create. */
const sessionName = named(isIdentifier, 128, `a name ${LETTERS}, not beginning with "-"`);
/** An id that teamd accepts; pi-team derives it from the user's name, which may be long. */
const agentId = named((text) => /^[a-zA-Z0-9._-]+$/.test(text), 256, `1 to 256 ${LETTERS}`);

const short = (maxChars: number) => v.pipe(v.string(), v.maxLength(maxChars));

const text = (maxBytes: number) =>
  v.pipe(
    v.string(),
    v.check((value) => !value.includes("\0") && isWellFormed(value), "must be well-formed text without NUL"),
    v.maxBytes(maxBytes),
  );

const WHOLE = "must be an integer from 1";
const whole = v.pipe(v.number(WHOLE), v.integer(WHOLE), v.minValue(1, WHOLE));
const wholeUpTo = (max: number) => v.pipe(whole, v.maxValue(max, `must be at most ${max}`));
/** Larger values are reduced to the bound, and the response says so. */
const lines = whole;
const timeoutMs = v.optional(wholeUpTo(NATIVE_MAX_AGENT_WAIT_MS));

const oneOf = <const Names extends readonly string[]>(names: Names) =>
  v.picklist(names, `must be one of ${names.join(", ")}`);

/** The team's teamd, if the caller knows it; otherwise it is found as the contract says. */
const teamd = v.strictObject({
  url: short(512),
  token: filled(4_096),
});

const caller = {
  teamId: identifier,
  agentId: v.optional(agentId),
  cwd: v.optional(short(4_096)),
};

const prompt = v.pipe(
  text(TEAM_MAX_PROMPT_BYTES),
  v.check((value) => value.trim() !== "", "must not be blank"),
);
/** A repeated request with the same key returns the first one's result. */
const idempotencyKey = v.optional(filled(256));

export const teamStartSchema = v.strictObject({
  ...caller,
  taskPrompt: prompt,
  /** Which agent works, a name from the catalogue; default: that of `team.workerArgv`. */
  agent: v.optional(identifier),
  threadId: v.optional(identifier),
  sessionPrefix: v.optional(identifier),
  /** Exactly this session, instead of the next one with a prefix; if it exists, nothing is done. */
  sessionName: v.optional(identifier),
  lines: v.optional(lines),
  title: v.optional(v.pipe(text(1_024), v.nonEmpty())),
  idempotencyKey,
  teamd: v.optional(teamd),
});
export type TeamStartRequest = v.InferOutput<typeof teamStartSchema>;

export const teamListSchema = v.strictObject({ ...caller, sessionPrefix: v.optional(identifier) });
export type TeamListRequest = v.InferOutput<typeof teamListSchema>;

/** Of attach, interrupt, kill and restart. */
export const teamSessionSchema = v.strictObject({ ...caller, sessionName });
export type TeamSessionRequest = v.InferOutput<typeof teamSessionSchema>;

export const teamSendSchema = v.strictObject({
  ...caller,
  sessionName,
  message: prompt,
  when: v.optional(oneOf(["idle", "now"])),
  ttlSec: v.optional(wholeUpTo(NATIVE_MAX_MESSAGE_TTL_SEC)),
  wait: v.optional(oneOf(["none", "taken", "done"])),
  timeoutMs,
  idempotencyKey,
});
export type TeamSendRequest = v.InferOutput<typeof teamSendSchema>;

export const teamWaitSchema = v.strictObject({
  ...caller,
  sessionName,
  for: v.optional(
    v.pipe(
      v.array(oneOf(AGENT_WAIT_NAMES), "must be a list"),
      v.minLength(1),
      v.maxLength(AGENT_WAIT_NAMES.length, "names one twice"),
    ),
  ),
  stalledSec: v.optional(wholeUpTo(3_600)),
  timeoutMs,
});
export type TeamWaitRequest = v.InferOutput<typeof teamWaitSchema>;

export const teamCaptureSchema = v.strictObject({
  ...caller,
  sessionName,
  lines: v.optional(lines),
  threadId: v.optional(identifier),
  teamd: v.optional(teamd),
});
export type TeamCaptureRequest = v.InferOutput<typeof teamCaptureSchema>;

export const teamCaptureResponseSchema = v.strictObject({
  sessionName: v.string(),
  /** Rows of `text`, without the marker. */
  lines: v.number(),
  requestedLines: v.number(),
  /** Rows with line feeds between them, as `tmux capture-pane -p -S -LINES -E -` prints them. Foreign text. */
  text: v.string(),
  truncated: v.boolean(),
  /** With `threadId`: whether it was posted there. */
  posted: v.optional(v.boolean()),
});
export type TeamCapture = v.InferOutput<typeof teamCaptureResponseSchema>;

export const TEAM_START_OUTCOMES = [
  "submitted",
  "queued",
  "echoed_unconfirmed",
  "not_echoed",
  "indeterminate",
  "refused",
  "not_ready",
  "ended",
  "unfinished",
] as const;
/**
 * The outcome of the prompt. The first five are those of a delivery (docs/contracts/native.md). `refused`: the worker could
 * not take it in its state, and nothing was typed. `not_ready`: the worker was not ready in time. `ended`: its program ended
 * before it was ready. `unfinished`: an earlier start did not finish, and this request cannot finish it.
 */
export type TeamStartOutcome = (typeof TEAM_START_OUTCOMES)[number];

export const teamStartResponseSchema = v.strictObject({
  /** As tmux reports it (`.` becomes `_`). */
  sessionName: v.string(),
  /** False if it already existed and nothing was done. */
  created: v.boolean(),
  windowName: v.string(),
  paneId: v.string(),
  socketPath: v.string(),
  attachCommand: v.string(),
  captureHint: v.string(),
  threadId: v.nullable(v.string()),
  threadCreated: v.boolean(),
  /** Whether `outcome` is `submitted` or `queued`; if not, check the session before relying on it. */
  promptSubmitted: v.boolean(),
  outcome: v.picklist(TEAM_START_OUTCOMES),
  /**
   * Why the worker is not working on the prompt and what to do, including its last output, which is foreign text. Null if it
   * is working on it.
   */
  reason: v.nullable(v.string()),
  /** Whether its program has ended; the session is kept. */
  dead: v.boolean(),
  /** As in `TeamSession`. */
  exitStatus: v.nullable(v.number()),
  /** Milliseconds from the session's creation until it was ready for a prompt; null if it was not ready in time. */
  readyMs: v.nullable(v.number()),
  capture: v.optional(teamCaptureResponseSchema),
});
export type TeamStart = Readonly<v.InferOutput<typeof teamStartResponseSchema>>;

const sessionSchema = v.strictObject({
  name: v.string(),
  windows: v.number(),
  /** ISO 8601. */
  createdAt: v.string(),
  /** Whether every program in it has ended. */
  dead: v.boolean(),
  /** The exit status of its active pane; 128 + N after signal N. */
  exitStatus: v.nullable(v.number()),
  /** Terminals that show it. */
  attached: v.number(),
  /** The thread in which it was announced. */
  thread: v.nullable(v.string()),
  /** The agent that runs in its active pane, as in `/v1/agents` (docs/contracts/native.md); null if none does. */
  worker: v.nullable(v.string()),
  agent: v.nullable(v.string()),
  state: v.nullable(v.picklist(AGENT_STATE_NAMES)),
  /** When the state began; ISO 8601. */
  since: v.nullable(v.string()),
  /** Its latest prompt, if known; else the beginning of the one it was started with. Foreign text. */
  task: v.nullable(v.string()),
  cwd: v.nullable(v.string()),
});
export type TeamSession = v.InferOutput<typeof sessionSchema>;
export const teamSessionsSchema = v.strictObject({ sessions: v.array(sessionSchema) });
export type TeamSessions = v.InferOutput<typeof teamSessionsSchema>;

export const teamAttachResponseSchema = v.strictObject({
  sessionName: v.string(),
  socketPath: v.string(),
  argv: v.pipe(v.array(v.string()), v.readonly()),
  /** The same as a shell command line. */
  command: v.string(),
});
export type TeamAttach = v.InferOutput<typeof teamAttachResponseSchema>;

export const teamDoneSchema = v.strictObject({ sessionName: v.string(), ok: v.literal(true) });

export type TeamDone = v.InferOutput<typeof teamDoneSchema>;

export const teamSendResponseSchema = v.strictObject({
  sessionName: v.string(),
  messageId: v.string(),
  /** As of a message to an agent (docs/contracts/native.md). */
  outcome: v.picklist(MESSAGE_OUTCOMES),
  /** Why it waits, or was not delivered. */
  reason: v.nullable(v.string()),
  /** The worker's last words in the turn that the message began, with `wait: done`. Foreign text. */
  lastWords: v.nullable(v.string()),
  /** What the worker asks now. Foreign text. */
  question: v.nullable(v.string()),
});
export type TeamSent = v.InferOutput<typeof teamSendResponseSchema>;

export const teamWaitResponseSchema = v.strictObject({
  sessionName: v.string(),
  reached: v.picklist(AGENT_WAIT_NAMES),
  /** Foreign text, as are the last words. */
  question: v.nullable(v.string()),
  lastWords: v.nullable(v.string()),
  /** How long it waited. */
  elapsedMs: v.number(),
});
export type TeamWaited = v.InferOutput<typeof teamWaitResponseSchema>;

export const teamRestartResponseSchema = v.strictObject({
  sessionName: v.string(),
  paneId: v.string(),
  /** It goes on with its conversation; else that is not known, or the agent cannot. */
  resumed: v.boolean(),
  /** `late`: not ready in time. `dead`: its program ended. `asking`: it asks something first. */
  state: v.picklist(["ready", "late", "dead", "asking"]),
});
export type TeamRestart = v.InferOutput<typeof teamRestartResponseSchema>;

export interface TeamError {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly command?: string | undefined;
    readonly stderr?: string | undefined;
  };
}
