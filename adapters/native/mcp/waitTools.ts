/** The MCP tool that waits: one that may type first, and one for read-only clients. */
import * as v from "valibot";
import type { NativeCapture, NativeWaitResponse } from "../../../protocol/api/native/nativeResponses.ts";
import { toAppError } from "../../../protocol/errors.ts";
import { waitRequestSchema } from "../../operations/panes/waitSchema.ts";
import { DEFAULT_TEXT_BYTES, framed, shortened } from "./foreignText.ts";
import { mcpTool, PANE, TEXT_BOUND, type ToolCall, unlessGone } from "./mcpTool.ts";
import type { Words } from "./modelSchema.ts";
import { shown } from "./paneTools.ts";

const WAIT_WORDS =
  "Wait until a pane prints something, falls silent, is at a prompt, or its program is ready or has ended. Returns as soon " +
  "as that happens, with the screen; also after a timeout (`timedOut`). Never poll with `capture`. All that is given must " +
  "hold; `anyOf` has alternatives.";
const PREDICATE_WORDS = {
  pattern: null,
  text: { type: "string", description: "It prints this text." },
  regex: {
    type: "string",
    description: "Or a match of this (RE2), ^ and $ at every line; also with multiline: false, dotAll.",
  },
  ignoreCase: { type: "boolean" },
  stableSec: "No output for so long.",
  exit: "The program has ended.",
  prompt: "The output ends like a shell's prompt.",
  gone: "The pane is gone.",
  ready: {
    enum: [true, "starting", "idle", "busy", "asking", "dead", "unknown"],
    description: "The program's state.",
  },
  bell: "It rings.",
  title: { type: "string", description: "The pane's title has this text." },
  cursorStillSec: "The cursor stands still for so long.",
  anyOf: {
    type: "array",
    items: { type: "object" },
    description: "Alternatives: objects of members text to cursorStillSec.",
  },
  from: "Count output since: now (default), tail:LINES, or a position from a result.",
  on: { enum: ["stream", "screen"], description: "screen: redrawn rows, too." },
  timeoutMs: "Default 30000.",
} as const;

interface Target {
  readonly server?: string | undefined;
  readonly pane: string;
}

type WaitInput = v.GenericSchema<unknown, Target & { readonly maxOutputBytes?: number | undefined }>;

function waitTool(input: WaitInput, effect: "reads" | "works", description: string, words: Words) {
  return mcpTool({
    name: "wait",
    title: "Wait for a pane",
    description,
    effect,
    input,
    words,
    run: async (call, { server, pane, maxOutputBytes = DEFAULT_TEXT_BYTES, ...predicates }) => {
      const target = { server, pane };
      const response = await waited(call, target, predicates);
      const screen = await unlessGone(call.onPane<NativeCapture>("capture", target, {}));
      const larger = `capture pane ${pane} with a larger maxOutputBytes`;
      const { text, cut, note } = shortened(shown(screen?.lines ?? []), maxOutputBytes, larger);
      const matched = response.matched.map(({ predicate }) => predicate).join(", ");
      const outcome = response.timedOut ? "Timed out" : `Matched (${matched})`;
      const said = `${outcome}, after ${Math.round(response.elapsedMs)} ms; position ${response.position}.`;
      return {
        text: `${said}${note}\n${screen === undefined ? "The pane is gone." : framed(text)}`,
        structured: {
          ...response,
          screen: screen === undefined ? null : text,
          ...cut,
          untrusted: ["screen", "matched"],
        },
      };
    },
  });
}

export const waitAndSendTool = waitTool(
  v.strictObject({ ...PANE, ...waitRequestSchema.entries, ...TEXT_BOUND }),
  "works",
  `${WAIT_WORDS} With \`send\`, it is armed before the text is typed, and the echo does not count: the safest way to do both.`,
  {
    ...PREDICATE_WORDS,
    send: { type: "object", description: "text, paste, keys, enter or parts, as `send` takes them." },
  },
);

const { send: _send, ...watching } = waitRequestSchema.entries;
export const watchTool = waitTool(
  v.strictObject({ ...PANE, ...watching, ...TEXT_BOUND }),
  "reads",
  WAIT_WORDS,
  PREDICATE_WORDS,
);

interface Waited extends NativeWaitResponse {
  readonly timedOut: boolean;
}

/** A timeout is a result, not an error: the screen shows what to do next. @throws AppError */
async function waited(call: ToolCall, target: Target, input: object): Promise<Waited> {
  try {
    return { ...(await call.onPane<NativeWaitResponse>("wait", target, input)), timedOut: false };
  } catch (thrown) {
    const { code, details = {} } = toAppError(thrown);
    if (code !== "TIMEOUT") throw thrown;
    const { position } = await call.onPane<NativeCapture>("capture", target, {});
    const { elapsedMs, gaps } = details as Pick<NativeWaitResponse, "elapsedMs" | "gaps">;
    return { matched: [], position, elapsedMs, gaps, timedOut: true };
  }
}
