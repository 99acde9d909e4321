/**
 * Sessions of coding agents (seed 002 §3.3, §6.3, §8.8): programs that the server runs and whose JSON it reads. An `sdk`
 * session stays for a conversation; a `codingcli` session gets one prompt, responds, and ends. This file has the requests of
 * clients: the frames of `/ws`, with upstream's names, and the bodies over HTTP. The events they receive are in
 * `sessionEvents.ts`.
 */
import * as v from "valibot";
import { wellFormedText } from "../../text/wellFormed.ts";
import { described, filled, optional } from "../described.ts";
import { anObject, argument, atMost, messages, notEmpty, sentText } from "./schemaParts.ts";
import { CODING_PROVIDERS, EFFORTS, PERMISSION_MODES, SANDBOXES } from "./sessionNames.ts";

const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/** A prompt is a command-line argument, which Linux limits to 128 KiB. */
const MAX_PROMPT_BYTES = 120_000;
const MAX_WORD_CHARS = 512;

/** A command-line argument; one that begins with a dash would be an option. */
const word = v.pipe(argument, atMost(MAX_WORD_CHARS), v.regex(/^[^-]/, "must not begin with a dash"));
const count = v.pipe(
  v.number("must be a number"),
  v.integer("must be an integer"),
  v.minValue(1, "must be at least 1"),
  v.maxValue(1_000_000, "must be at most 1000000"),
);

const common = {
  cwd: optional(argument, "An existing directory; default the home directory."),
  resumeSessionId: optional(word, "The program's own session to resume."),
  model: optional(word, "The model, by the program's name for it."),
};
const sdkOptions = {
  ...common,
  permissionMode: optional(word, "What it may do without asking."),
  effort: optional(v.picklist(EFFORTS, `must be ${EFFORTS.join(", ")}`), "The reasoning effort."),
};
const codingOptions = {
  ...common,
  prompt: described(
    v.pipe(
      argument,
      v.check(
        (prompt) => new TextEncoder().encode(prompt).length <= MAX_PROMPT_BYTES,
        `must have at most ${MAX_PROMPT_BYTES} bytes; an sdk session takes longer prompts`,
      ),
    ),
    "The prompt.",
  ),
  maxTurns: optional(count, "End after this many turns."),
  permissionMode: optional(
    v.picklist(PERMISSION_MODES, `must be ${PERMISSION_MODES.join(", ")}`),
    "What it may do unasked.",
  ),
  sandbox: optional(v.picklist(SANDBOXES, `must be ${SANDBOXES.join(", ")}`), "The sandbox it runs in."),
  keepStdinOpen: optional(
    v.boolean(),
    "Keep its input open for later messages. Some programs wait while their input is open.",
  ),
};
const codingProvider = v.picklist(CODING_PROVIDERS, `must be ${CODING_PROVIDERS.join(", ")}`);

/** `POST /api/agent-sessions`. */
export const createSessionSchema = v.variant(
  "provider",
  [
    v.strictObject({ provider: v.literal("sdk"), ...sdkOptions }),
    v.strictObject({ provider: v.literal("codingcli"), codingProvider, ...codingOptions }),
  ],
  "provider must be sdk or codingcli",
);
export type CreateSessionRequest = v.InferInput<typeof createSessionSchema>;
type Asked = v.InferOutput<typeof createSessionSchema>;
export type SdkOptions = Omit<Extract<Asked, { provider: "sdk" }>, "provider">;
export type CodingOptions = Omit<Extract<Asked, { provider: "codingcli" }>, "provider">;

/** Four characters for three bytes, the last ones padded. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const image = v.object({
  mediaType: v.picklist(IMAGE_TYPES, `must be ${IMAGE_TYPES.join(", ")}`),
  data: v.pipe(v.string("must be text"), notEmpty, v.regex(BASE64, "must be base64")),
});
export type SessionImage = v.InferOutput<typeof image>;
const images = v.optional(v.pipe(v.array(image), v.maxLength(20, "must have at most 20 images")));

/** `POST /api/agent-sessions/:provider/:id/send`. */
export const sessionSendSchema = v.strictObject({ text: described(sentText, "The prompt."), images });

const requestId = filled(256);
const ofSession = { sessionId: filled(MAX_WORD_CHARS) };

const permissionAnswer = {
  requestId,
  behavior: v.picklist(["allow", "deny"], "must be allow or deny"),
  /** Default: the input that the program asked for. */
  updatedInput: v.optional(anObject),
  updatedPermissions: v.optional(v.array(v.unknown())),
  /** Why it is denied. */
  message: v.optional(wellFormedText),
  /** Also stop the turn. */
  interrupt: v.optional(v.boolean()),
};
/** `POST /api/agent-sessions/:provider/:id/answer`. */
export const sessionAnswerSchema = v.strictObject(permissionAnswer);

/** Accepts any id, because a page may send another program's. */
const lenient = { resumeSessionId: v.optional(v.string()) };

/** The frames of clients, by their `type`. */
export const SESSION_MESSAGES = messages({
  "sdk.create": { requestId, ...sdkOptions, ...lenient },
  "sdk.attach": ofSession,
  "sdk.send": { ...ofSession, text: sentText, images },
  "sdk.interrupt": ofSession,
  "sdk.kill": ofSession,
  "sdk.permission.respond": { ...ofSession, ...permissionAnswer },
  "sdk.set-model": { ...ofSession, model: word },
  "sdk.set-permission-mode": { ...ofSession, permissionMode: word },
  "codingcli.create": { requestId, provider: codingProvider, ...codingOptions, ...lenient },
  "codingcli.input": { ...ofSession, data: v.pipe(wellFormedText, v.nonEmpty()) },
  "codingcli.kill": ofSession,
});
export type PermissionAnswer = v.InferOutput<typeof sessionAnswerSchema>;
