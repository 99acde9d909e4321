/**
 * The add-in's request and responses (docs/contracts/addin.md §2, §3). The entries are in the order in which the contract
 * validates, so the first issue of a request is the one to report; the contract fixes every message word for word. The
 * adapter makes the checks that need the machine (whether `cwd` exists, tmux knows the key, RE2 accepts the pattern).
 */
import * as v from "valibot";
import { isWellFormed } from "../text/wellFormed.ts";
import { invalidArgument } from "../errors.ts";
import { isFields } from "../text/jsonObject.ts";

const ADDIN_ACTIONS = [
  "list_sessions",
  "create_session",
  "send_keys",
  "capture_pane",
  "send_and_capture",
  "kill_session",
] as const;

/** Bounds of the contract (docs/contracts/addin.md §1, §2); clients rely on each. */
export const ADDIN_MAX_BODY_BYTES = 262_144;
const ADDIN_MAX_TEXT_CHARS = 8_000;
const ADDIN_MAX_WAIT_FOR_CHARS = 256;
const ADDIN_MAX_LINES = 5_000;
const ADDIN_DEFAULT_LINES = 200;
const ADDIN_MIN_TIMEOUT_MS = 100;
const ADDIN_MAX_TIMEOUT_MS = 120_000;
const ADDIN_DEFAULT_TIMEOUT_MS = 5_000;
const ADDIN_MAX_WAIT_MS = 120_000;

const SESSION_NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;
const KEY_TOKEN = /^[A-Za-z0-9._:+-]{1,48}$/;

const trimmed = v.pipe(
  v.unknown(),
  v.transform((value) => {
    const text = typeof value === "string" ? value.trim() : "";
    return text === "" ? undefined : text;
  }),
);

const boundedInteger = (name: string, min: number, max: number) =>
  v.pipe(
    v.number(`${name} must be an integer.`),
    v.integer(`${name} must be an integer.`),
    v.minValue(min, `${name} must be between ${min} and ${max}.`),
    v.maxValue(max, `${name} must be between ${min} and ${max}.`),
  );

const literalTrue = v.pipe(
  v.unknown(),
  v.transform((value) => value === true),
);

const keyToken = v.pipe(
  v.string("keys must contain only strings."),
  v.transform((token) => token.trim()),
  v.check(
    (token) => token === "" || KEY_TOKEN.test(token),
    (issue) => `Invalid key token: ${issue.input}`,
  ),
);

export const addinFieldsSchema = v.pipe(
  v.custom<Record<string, unknown>>(isFields, "Request body must be a JSON object."),
  v.object({
    action: v.optional(v.pipe(trimmed, v.picklist(ADDIN_ACTIONS, "Invalid action.")), ""),
    session: v.optional(
      v.pipe(
        trimmed,
        v.check(
          (name) => name === undefined || SESSION_NAME.test(name),
          "Invalid session name. Use 1-64 chars: letters, numbers, ., _, :, -",
        ),
      ),
    ),
    cwd: v.optional(
      v.pipe(
        trimmed,
        v.check((path) => path === undefined || path.startsWith("/"), "cwd must be an absolute path."),
      ),
    ),
    text: v.optional(
      v.pipe(
        v.unknown(),
        v.transform((value) => (typeof value === "string" && value.trim() !== "" ? value : undefined)),
        v.check(
          (text) => text === undefined || text.length <= ADDIN_MAX_TEXT_CHARS,
          `text is too long (max ${ADDIN_MAX_TEXT_CHARS} characters).`,
        ),
        v.check(
          (text) => text === undefined || isWellFormed(text),
          "text must be well-formed Unicode: it has half of a surrogate pair.",
        ),
      ),
    ),
    keys: v.optional(
      v.pipe(
        v.array(keyToken, "keys must be an array of strings."),
        v.transform((tokens) => tokens.filter((token) => token !== "")),
      ),
      [],
    ),
    enter: v.optional(literalTrue, false),
    lines: v.optional(boundedInteger("lines", 1, ADDIN_MAX_LINES), ADDIN_DEFAULT_LINES),
    wait_for: v.optional(
      v.pipe(
        trimmed,
        v.check(
          (pattern) => pattern === undefined || pattern.length <= ADDIN_MAX_WAIT_FOR_CHARS,
          `wait_for is too long (max ${ADDIN_MAX_WAIT_FOR_CHARS} characters).`,
        ),
      ),
    ),
    timeout_ms: v.optional(
      boundedInteger("timeout_ms", ADDIN_MIN_TIMEOUT_MS, ADDIN_MAX_TIMEOUT_MS),
      ADDIN_DEFAULT_TIMEOUT_MS,
    ),
    wait_ms: v.optional(boundedInteger("wait_ms", 0, ADDIN_MAX_WAIT_MS), 0),
    join_wrapped: v.optional(literalTrue, false),
  }),
);

export type AddinFields = v.InferOutput<typeof addinFieldsSchema>;
export type AddinField = keyof AddinFields;

/** The fields in the order in which the contract validates them. */
export const ADDIN_FIELD_ORDER = Object.keys(addinFieldsSchema.pipe[1].entries) as readonly AddinField[];

export interface AddinInput {
  readonly text: string | undefined;
  /** The tokens, and `Enter` last if requested. */
  readonly keys: readonly string[];
}

export interface AddinCapture {
  readonly lines: number;
  readonly joinWrapped: boolean;
  /** The pause before the capture. */
  readonly waitMs: number;
}

export interface AddinWait {
  readonly pattern: string;
  readonly timeoutMs: number;
}

/** A validated request, with only the fields that its action needs. */
export type AddinRequest =
  | { readonly action: "list_sessions" }
  | { readonly action: "create_session"; readonly session: string | undefined; readonly cwd: string | undefined }
  | { readonly action: "send_keys"; readonly session: string; readonly input: AddinInput }
  | { readonly action: "capture_pane"; readonly session: string; readonly capture: AddinCapture }
  | {
      readonly action: "send_and_capture";
      readonly session: string;
      readonly input: AddinInput;
      readonly capture: AddinCapture;
      readonly wait: AddinWait | undefined;
    }
  | { readonly action: "kill_session"; readonly session: string };

/** The last checks: what each action requires. @throws AppError INVALID_ARGUMENT */
export function narrowAddinRequest(fields: AddinFields): AddinRequest {
  const { action } = fields;
  switch (action) {
    case "list_sessions":
      return { action };
    case "create_session":
      return { action, session: fields.session, cwd: fields.cwd };
    case "kill_session":
      return { action, session: requireSession(fields) };
    case "capture_pane":
      return { action, session: requireSession(fields), capture: captureOf(fields) };
    case "send_keys":
      return { action, session: requireSession(fields), input: requireInput(fields) };
    case "send_and_capture":
      return {
        action,
        session: requireSession(fields),
        input: requireInput(fields),
        capture: captureOf(fields),
        wait: fields.wait_for === undefined ? undefined : { pattern: fields.wait_for, timeoutMs: fields.timeout_ms },
      };
  }
}

function requireSession(fields: AddinFields): string {
  if (fields.session !== undefined) return fields.session;
  throw invalidArgument(`session is required for ${fields.action}`);
}

function requireInput(fields: AddinFields): AddinInput {
  const { text } = fields;
  const keys = fields.enter ? [...fields.keys, "Enter"] : fields.keys;
  if (text !== undefined || keys.length > 0) return { text, keys };
  throw invalidArgument(`${fields.action} requires at least one of: text, keys, or enter=true.`);
}

const captureOf = (fields: AddinFields): AddinCapture => ({
  lines: fields.lines,
  joinWrapped: fields.join_wrapped,
  waitMs: fields.wait_ms,
});

/** Our addition: where in the pane's output the response is (docs/contracts/addin.md §3). */
const metadataSchema = v.strictObject({
  outputSeq: v.number(),
  epoch: v.string(),
  elapsedMs: v.number(),
  matchedText: v.exactOptional(v.string()),
  /** Until the timeout, `wait_for` matched only the echo of the typed text. */
  matchedEcho: v.exactOptional(v.literal(true)),
  /** The last capture; only with status 408. */
  output: v.exactOptional(v.string()),
});
export type AddinMetadata = v.InferOutput<typeof metadataSchema>;

export const addinSuccessSchema = v.strictObject({
  ok: v.literal(true),
  action: v.picklist(ADDIN_ACTIONS),
  session: v.exactOptional(v.string()),
  sessions: v.exactOptional(v.array(v.string())),
  output: v.exactOptional(v.string()),
  metadata: v.exactOptional(metadataSchema),
});
export type AddinSuccess = v.InferOutput<typeof addinSuccessSchema>;

export const addinFailureSchema = v.strictObject({
  ok: v.literal(false),
  error: v.string(),
  metadata: v.exactOptional(metadataSchema),
});
export type AddinFailure = v.InferOutput<typeof addinFailureSchema>;

export const addinHealthSchema = v.union([
  v.strictObject({
    ok: v.literal(true),
    mode: v.literal("tmux"),
    backend: v.literal("tmux"),
    tmuxVersion: v.string(),
    socketPath: v.string(),
    sessions: v.number(),
  }),
  v.strictObject({ ok: v.literal(true), mode: v.literal("stub"), backend: v.literal("stub"), sessions: v.number() }),
]);
/** With status 503: why no action can work now. */
export const addinUnhealthySchema = v.strictObject({
  ok: v.literal(false),
  error: v.string(),
  mode: v.literal("tmux"),
  backend: v.literal("tmux"),
  state: v.picklist(["connecting", "degraded", "closed"]),
});
export type AddinHealth = v.InferOutput<typeof addinHealthSchema> | v.InferOutput<typeof addinUnhealthySchema>;
