/**
 * The requests of the native API (docs/contracts/native.md): one schema per body and query, from which validation, types,
 * OpenAPI and the client's typings derive. Objects are strict, so a misspelt field is an error.
 */
import * as v from "valibot";
import { wellFormedText } from "../../text/wellFormed.ts";
import { described, filled, optional, whole } from "../described.ts";
import { recognized } from "../parse.ts";
import { isPlainInput, MAX_INPUT_KEYS, MAX_INPUT_PARTS, MAX_KEY_CHARS, MAX_PROFILE_CHARS } from "../plainInput.ts";

/** Bounds of the contract. */
export const NATIVE_MAX_BODY_BYTES = 2_097_152;
const NATIVE_MAX_RUN_BYTES = 65_536;
const NATIVE_MAX_OUTPUT_BYTES = 8_388_608;
export const NATIVE_DEFAULT_OUTPUT_BYTES = 1_048_576;
const NATIVE_MAX_TIMEOUT_MS = 3_600_000;
export const NATIVE_DEFAULT_TIMEOUT_MS = 30_000;
const NATIVE_MAX_SIZE = 1_000;
const NATIVE_MAX_LINES = 20_000;

const base64 = v.pipe(v.string(), v.base64("base64 must be standard base64 with padding"));
export const timeoutMs = optional(
  whole(1, NATIVE_MAX_TIMEOUT_MS),
  "Give up after this many milliseconds; default 30000.",
);

const given = {
  text: optional(wellFormedText, "The text to type; give either this or base64."),
  base64: optional(base64, "The bytes to type, in base64; give either this or text."),
};
const inputPartSchema = v.variant("kind", [
  v.strictObject({ kind: described(v.literal("text"), "Text or bytes, typed unchanged."), ...given }),
  v.strictObject({
    kind: described(v.literal("paste"), "A paste, bracketed if the program has asked for it."),
    ...given,
  }),
  v.strictObject({
    kind: described(v.literal("keys"), "Keys, by tmux's names."),
    keys: described(
      v.pipe(v.array(filled(MAX_KEY_CHARS)), v.maxLength(MAX_INPUT_KEYS)),
      "Key names such as C-c, Up or Escape.",
    ),
  }),
  v.strictObject({ kind: described(v.literal("enter"), "The Enter key.") }),
]);
export type NativeInputPart = v.InferInput<typeof inputPartSchema>;

const parts = described(
  v.pipe(v.array(inputPartSchema), v.minLength(1), v.maxLength(MAX_INPUT_PARTS)),
  "What to type, in order.",
);

const inputProfile = optional(
  filled(MAX_PROFILE_CHARS),
  "Only for the program of this profile, a name from `tmuxwire profiles`; refused with WRONG_STATE if another reads the pane.",
);

export const inputRequestSchema = recognized(v.strictObject({ parts, profile: inputProfile }), isPlainInput);
export type NativeInputRequest = v.InferInput<typeof inputRequestSchema>;

const cols = described(whole(1, NATIVE_MAX_SIZE), "Width in columns.");
const rows = described(whole(1, NATIVE_MAX_SIZE), "Height in rows.");

const directory = v.pipe(v.string(), v.startsWith("/", "cwd must be an absolute path"), v.maxLength(4_096));

/** The program of a new pane. */
export const programEntries = {
  command: optional(
    v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(1_024)),
    "The program and its arguments; if omitted, the user's shell.",
  ),
  cwd: optional(directory, "Where the program runs: an absolute path."),
};

export const createSessionSchema = v.strictObject({
  name: optional(filled(256), "Its name; if omitted, the daemon picks one."),
  ...programEntries,
  cwd: optional(directory, "Where the program runs: an absolute path; default: your home directory."),
  cols: v.optional(cols),
  rows: v.optional(rows),
  remainOnExit: optional(v.boolean(), "Keep the pane readable after its program has ended."),
});
export type NativeCreateSession = v.InferInput<typeof createSessionSchema>;

export const sizeRequestSchema = v.strictObject({ cols, rows });
export type NativeSize = v.InferInput<typeof sizeRequestSchema>;

/** Where reading starts. Streams take all forms, waits all but `snapshot`. */
export const fromSchema = v.pipe(
  v.string(),
  v.regex(
    /^(?:now|snapshot|tail:\d{1,6}|[0-9A-Za-z]{1,32}:\d{1,16})$/,
    "from must be now, snapshot, tail:LINES or a position such as k3Jd9:1024",
  ),
  v.description("Where to start: now, snapshot, tail:LINES, or a position such as k3Jd9:1024."),
);

export const runRequestSchema = v.strictObject({
  command: described(
    v.pipe(wellFormedText, v.nonEmpty(), v.maxLength(NATIVE_MAX_RUN_BYTES)),
    "The command line for the shell.",
  ),
  timeoutMs: optional(
    v.nullable(whole(1, NATIVE_MAX_TIMEOUT_MS)),
    "Give up after this many milliseconds; default 30000, null for no timeout.",
  ),
  maxOutputBytes: optional(
    whole(1, NATIVE_MAX_OUTPUT_BYTES),
    "How many bytes of output to keep; older output is reported as a gap. Default 1 MiB.",
  ),
  format: optional(
    v.picklist(["text", "raw"]),
    "The format of the output: text without escape sequences (default), or raw bytes in base64.",
  ),
});
export type NativeRunRequest = v.InferInput<typeof runRequestSchema>;

export const captureRequestSchema = v.strictObject({
  lines: optional(
    whole(1, NATIVE_MAX_LINES),
    "The last lines of history and screen, up to 20000; default: the visible screen.",
  ),
  joined: optional(v.boolean(), "Join wrapped lines."),
  ansi: optional(v.boolean(), "Keep colours and attributes."),
});
export type NativeCaptureRequest = v.InferInput<typeof captureRequestSchema>;

export const streamQuerySchema = v.strictObject({
  from: v.optional(fromSchema),
  readiness: optional(v.boolean(), "Also report what the program is doing: the current state, then every change."),
  input: optional(v.boolean(), "Also report input typed through the daemon."),
});
export const eventIdSchema = v.pipe(
  v.string(),
  v.regex(/^[0-9A-Za-z]{1,32}:\d{1,15}$/, "after must be the id of an event"),
);
export const eventsQuerySchema = v.strictObject({
  after: optional(eventIdSchema, "The id of the last received event, or of a tree; the stream resumes after it."),
  readiness: optional(v.boolean(), "Also report what the programs are doing."),
  agents: optional(v.boolean(), "Also report the coding agents: those that appear, change and end."),
});
/** For operations that take only a target. */
export const emptyRequestSchema = v.strictObject({});
