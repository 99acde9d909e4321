/**
 * What a client of the native API sends (docs/contracts/native.md): one schema per body and query, from which validation,
 * types, OpenAPI and the client's typings come. Objects are strict: a misspelt field is an error, not a surprise.
 */
import * as v from "valibot";

/** Bounds of the contract. */
export const NATIVE_MAX_BODY_BYTES = 2_097_152;
export const NATIVE_MAX_PARTS = 256;
export const NATIVE_MAX_KEYS = 1_024;
export const NATIVE_MAX_RUN_BYTES = 65_536;
export const NATIVE_MAX_OUTPUT_BYTES = 8_388_608;
export const NATIVE_DEFAULT_OUTPUT_BYTES = 1_048_576;
export const NATIVE_MAX_TIMEOUT_MS = 3_600_000;
export const NATIVE_DEFAULT_TIMEOUT_MS = 30_000;
export const NATIVE_MAX_SIZE = 1_000;
export const NATIVE_MAX_LINES = 5_000;

const LONE_SURROGATE = /\p{Surrogate}/u;

export const wellFormedText = v.pipe(
  v.string(),
  v.check((value) => !LONE_SURROGATE.test(value), "text must be well-formed Unicode: it has half of a surrogate pair"),
);
const text = wellFormedText;
const base64 = v.pipe(v.string(), v.base64("base64 must be standard base64 with padding"));
const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
export const timeoutMs = v.optional(whole(1, NATIVE_MAX_TIMEOUT_MS));

export const inputPartSchema = v.variant("kind", [
  v.strictObject({ kind: v.literal("text"), text: v.optional(text), base64: v.optional(base64) }),
  v.strictObject({ kind: v.literal("paste"), text: v.optional(text), base64: v.optional(base64) }),
  v.strictObject({
    kind: v.literal("keys"),
    keys: v.pipe(v.array(v.pipe(v.string(), v.nonEmpty(), v.maxLength(48))), v.maxLength(NATIVE_MAX_KEYS)),
  }),
  v.strictObject({ kind: v.literal("enter") }),
]);
export type NativeInputPart = v.InferInput<typeof inputPartSchema>;

const parts = v.pipe(v.array(inputPartSchema), v.minLength(1), v.maxLength(NATIVE_MAX_PARTS));

export const inputRequestSchema = v.strictObject({ parts });
export type NativeInputRequest = v.InferInput<typeof inputRequestSchema>;

export const createSessionSchema = v.strictObject({
  name: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(256))),
  cwd: v.optional(v.pipe(v.string(), v.startsWith("/", "cwd must be an absolute path"), v.maxLength(4_096))),
  /** argv; the user's shell when absent. */
  command: v.optional(v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(1_024))),
  cols: v.optional(whole(1, NATIVE_MAX_SIZE)),
  rows: v.optional(whole(1, NATIVE_MAX_SIZE)),
  remainOnExit: v.optional(v.boolean()),
});
export type NativeCreateSession = v.InferInput<typeof createSessionSchema>;

export const sizeRequestSchema = v.strictObject({ cols: whole(1, NATIVE_MAX_SIZE), rows: whole(1, NATIVE_MAX_SIZE) });
export type NativeSize = v.InferInput<typeof sizeRequestSchema>;

/** Where reading begins. Streams take all forms, waits all but `snapshot`. */
export const fromSchema = v.pipe(
  v.string(),
  v.regex(
    /^(?:now|snapshot|tail:\d{1,6}|[0-9A-Za-z]{1,32}:\d{1,16})$/,
    "from is now, snapshot, tail:LINES or a position such as k3Jd9:1024",
  ),
);

export const runRequestSchema = v.strictObject({
  command: v.pipe(text, v.nonEmpty(), v.maxLength(NATIVE_MAX_RUN_BYTES)),
  timeoutMs,
  /** Output kept; what came before it is a declared gap. */
  maxOutputBytes: v.optional(whole(1, NATIVE_MAX_OUTPUT_BYTES)),
  /** `text`: escape sequences dropped. `raw`: the bytes, base64. */
  format: v.optional(v.picklist(["text", "raw"])),
});
export type NativeRunRequest = v.InferInput<typeof runRequestSchema>;

export const captureRequestSchema = v.strictObject({
  /** The last lines of history and screen; absent: the visible screen. */
  lines: v.optional(whole(1, NATIVE_MAX_LINES)),
  joined: v.optional(v.boolean()),
  ansi: v.optional(v.boolean()),
});
export type NativeCaptureRequest = v.InferInput<typeof captureRequestSchema>;

/** `readiness`: events of that name as well, the state at the beginning first. */
export const streamQuerySchema = v.strictObject({ from: v.optional(fromSchema), readiness: v.optional(v.boolean()) });
/** `after`: the id of the last event that is known, where no `Last-Event-ID` can be sent. `readiness`: that of every pane as well. */
export const eventIdSchema = v.pipe(v.string(), v.regex(/^[0-9A-Za-z]{1,32}:\d{1,15}$/, "after is the id of an event"));
export const eventsQuerySchema = v.strictObject({
  after: v.optional(eventIdSchema),
  readiness: v.optional(v.boolean()),
});
/** A request that needs no words. */
export const emptyRequestSchema = v.strictObject({});
