/**
 * Requests and responses of the Freshell contract over HTTP: one schema per request, from which validation, types and the
 * command line's help derive. Times are Unix milliseconds. Unknown fields are refused by name.
 */
import * as v from "valibot";
import { wellFormedText } from "../../text/wellFormed.ts";
import { described, optional } from "../described.ts";
import { layoutIdSchema } from "./deviceLayout.ts";
import { argument, atMost, noControls, notEmpty, sentText } from "./schemaParts.ts";

/** Maximum size of a body. */
export const FRESHELL_MAX_BODY_BYTES = 1_048_576;
/** 21 characters of 64: 126 random bits. */
export const TERMINAL_ID = /^[A-Za-z0-9_-]{21}$/;

export const TERMINAL_MODES = ["shell", "claude", "codex", "opencode", "gemini", "kimi"] as const;
export type TerminalMode = (typeof TERMINAL_MODES)[number];

/** A title is one line without control characters. */
const MAX_TITLE_CHARS = 200;
const title = v.pipe(sentText, atMost(MAX_TITLE_CHARS), noControls);

const whole = (min: number, max: number) =>
  v.pipe(
    v.number("must be a number"),
    v.integer("must be an integer"),
    v.minValue(min, `must be ${min} to ${max}`),
    v.maxValue(max, `must be ${min} to ${max}`),
  );
export const colsSchema = described(whole(2, 1_000), "Columns, 2 to 1000.");
export const rowsSchema = described(whole(2, 500), "Rows, 2 to 500.");

/** Device ids are also used as file names. */
export const DEVICE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The device's pane that a terminal is created for. */
export const madeForSchema = v.strictObject({
  deviceId: v.pipe(v.string("must be text"), v.regex(DEVICE_ID, "is 1 to 64 letters, digits, _ and -")),
  tabId: layoutIdSchema,
  paneId: layoutIdSchema,
});
export type MadeFor = v.InferOutput<typeof madeForSchema>;

/** The options of a new terminal, over HTTP and the WebSocket. */
export const terminalOptions = {
  mode: v.optional(described(v.picklist(TERMINAL_MODES), "The program: a shell, or the name of an agent."), "shell"),
  shell: v.optional(
    described(argument, "`system` for $SHELL, an absolute path, or a name from /etc/shells."),
    "system",
  ),
  cwd: optional(argument, "An existing directory; default the home directory."),
  cols: v.optional(colsSchema, 80),
  rows: v.optional(rowsSchema, 24),
  title: optional(title, "Its title."),
  resumeSessionId: optional(argument, "The agent's own session to resume, for agents that can."),
  pane: optional(
    madeForSchema,
    "The pane it is created for; sets FRESHELL_DEVICE_ID, FRESHELL_TAB_ID and FRESHELL_PANE_ID in its environment.",
  ),
};

export const createTerminalSchema = v.strictObject(terminalOptions);
export type CreateTerminalRequest = v.InferOutput<typeof createTerminalSchema>;

/** Keys as in `send-keys`, or text to be typed unchanged. */
export const terminalInputSchema = v.union(
  [
    v.strictObject({
      keys: described(
        v.pipe(v.array(wellFormedText), v.minLength(1, "must not be empty")),
        "Key names; any other word is text.",
      ),
      literal: v.optional(described(v.boolean(), "Treat no word as a key; join the words with one space."), false),
    }),
    v.strictObject({ data: described(sentText, "Typed unchanged.") }),
  ],
  "must be {keys, literal?} or {data}, and nothing else",
);
export const terminalInputResponseSchema = v.strictObject({
  /** The effect of the input comes after this. */
  outputSeq: v.number(),
});
export type TerminalInputResponse = Readonly<v.InferOutput<typeof terminalInputResponseSchema>>;

export const terminalResizeSchema = v.strictObject({ cols: colsSchema, rows: rowsSchema });
export type TerminalResizeRequest = v.InferInput<typeof terminalResizeSchema>;

export const queryFlag = v.pipe(
  v.picklist(["1", "0", "true", "false"], "must be 1 or 0"),
  v.transform((given) => given === "1" || given === "true"),
);
/** The query of a capture, with the option letters of `capture-pane`. */
export const terminalCaptureSchema = v.strictObject({
  S: optional(
    v.pipe(
      v.string(),
      v.regex(
        /^(?:-|-?\d{1,9})$/,
        "must be a line number (0 is the top of the screen, -1 the line above it), or - for all",
      ),
      v.transform((given): number | "oldest" => (given === "-" ? "oldest" : Number(given))),
    ),
    "The first line: 0 is the top of the screen, negative numbers are history, - is all of it.",
  ),
  J: v.optional(described(queryFlag, "Join wrapped lines."), "0"),
  e: v.optional(described(queryFlag, "Keep colours and attributes."), "0"),
});
export const terminalCaptureResponseSchema = v.strictObject({
  lines: v.pipe(v.array(v.string()), v.readonly()),
  outputSeq: v.number(),
  /** Whether the lines show exactly the output up to `outputSeq`. */
  exact: v.boolean(),
  cols: v.number(),
  rows: v.number(),
  status: v.picklist(["running", "exited"]),
});
export type TerminalCaptureResponse = Readonly<v.InferOutput<typeof terminalCaptureResponseSchema>>;

/** A terminal as in listings and responses. */
export const terminalEntrySchema = v.strictObject({
  terminalId: v.string(),
  title: v.string(),
  mode: v.picklist(TERMINAL_MODES),
  status: v.picklist(["running", "exited"]),
  createdAt: v.number(),
  lastActivityAt: v.number(),
  cwd: v.string(),
  cols: v.number(),
  rows: v.number(),
  /** Whether a client is attached. */
  hasClients: v.boolean(),
  /** The program's pid; null once it has ended. */
  pid: v.nullable(v.number()),
  /** Present once it has ended, if known; 128 plus the signal's number for a killed program. */
  exitCode: v.optional(v.number()),
  /** The retained output. */
  bufferRef: v.strictObject({
    outputSeq: v.number(),
    tailSeq: v.number(),
  }),
  /** Set if it was created for a device's pane and no device has confirmed that a pane shows it. */
  orphan: v.exactOptional(v.literal(true)),
});
export type TerminalEntry = Readonly<v.InferOutput<typeof terminalEntrySchema>>;

export const terminalKillResponseSchema = v.strictObject({
  ok: v.literal(true),
  /** Null if unknown. */
  exitCode: v.nullable(v.number()),
});
export type TerminalKillResponse = Readonly<v.InferOutput<typeof terminalKillResponseSchema>>;

const idText = v.pipe(v.string(), notEmpty);
/** The options of a wait: at least one predicate; all given ones must hold together (seed 002 §8.3). */
export const waitOptions = {
  target: described(
    v.union(
      [
        v.strictObject({ terminalId: idText }),
        v.strictObject({ sessionRef: v.strictObject({ provider: idText, sessionId: idText }) }),
      ],
      "must be {terminalId} or {sessionRef:{provider,sessionId}}",
    ),
    "The terminal or session to wait for.",
  ),
  pattern: optional(sentText, "Wait until the output contains this."),
  literal: optional(v.boolean(), "The pattern is plain text (default)."),
  regex: optional(v.boolean(), "The pattern is a regular expression in RE2 syntax."),
  from: optional(
    v.pipe(v.string(), v.regex(/^(?:now|tail:[1-9]\d{0,6})$/, "must be now or tail:N, with N lines from 1")),
    "Where the pattern's search starts: now, or tail:N for the last N lines.",
  ),
  stableSec: optional(v.number("must be a number"), "Wait until there has been no output for this many seconds."),
  exit: optional(v.boolean(), "Wait until the program has ended."),
  prompt: optional(v.boolean(), "Wait until the output ends in what looks like a shell prompt. Best effort."),
  timeoutSec: optional(v.pipe(v.number("must be a number"), v.gtValue(0, "must be above 0")), "Default 30 seconds."),
};
export const freshellWaitSchema = v.strictObject(waitOptions);

const freshellWaitMatchSchema = v.strictObject({
  predicate: v.picklist(["pattern", "stable", "exit", "prompt"]),
  text: v.optional(v.string()),
  /** The position after the matched text. */
  outputSeq: v.optional(v.number()),
});
export type FreshellWaitMatch = Readonly<v.InferOutput<typeof freshellWaitMatchSchema>>;
export const freshellWaitResponseSchema = v.strictObject({
  matched: v.pipe(v.array(freshellWaitMatchSchema), v.readonly()),
  outputSeq: v.number(),
  exitCode: v.optional(v.number()),
  /** For a session that has ended: `SessionEntry.failure`. */
  failure: v.optional(v.string()),
  elapsedMs: v.number(),
});
export type FreshellWaitResponse = Readonly<v.InferOutput<typeof freshellWaitResponseSchema>>;

export const deviceSchema = {
  deviceId: described(
    v.pipe(v.string(), v.regex(DEVICE_ID, "is 1 to 64 letters, digits, _ and -")),
    "A permanent name for the device.",
  ),
  deviceLabel: described(title, "What people call it."),
  deviceType: described(v.picklist(["browser", "cli"]), "A page, or a command line."),
};
export const deviceSessionSchema = v.strictObject(deviceSchema);
export type DeviceSessionRequest = v.InferInput<typeof deviceSessionSchema>;
export const refreshSchema = v.strictObject({ refreshToken: idText });

export const deviceSessionResponseSchema = v.strictObject({
  deviceToken: v.string(),
  refreshToken: v.string(),
  /** When the device token expires. */
  expiresAt: v.number(),
  deviceId: v.string(),
  scopes: v.pipe(v.array(v.string()), v.readonly()),
});
export type DeviceSessionResponse = Readonly<v.InferOutput<typeof deviceSessionResponseSchema>>;

export const freshellHealthSchema = v.strictObject({
  app: v.literal("freshell"),
  ok: v.literal(true),
  version: v.string(),
  /** Whether tmux is available. */
  ready: v.boolean(),
});
export type FreshellHealth = Readonly<v.InferOutput<typeof freshellHealthSchema>>;
export const lanInfoSchema = v.strictObject({
  ips: v.pipe(v.array(v.string()), v.readonly()),
});
export type LanInfo = Readonly<v.InferOutput<typeof lanInfoSchema>>;
export const freshellOkSchema = v.strictObject({
  ok: v.literal(true),
});
export type FreshellOk = Readonly<v.InferOutput<typeof freshellOkSchema>>;
