/** The MCP tool that waits: one that may type first, and one for read-only clients. */
import * as v from "valibot";
import {
  type NativeCapture,
  type NativeWaitResponse,
  waitResponseSchema,
} from "../../../protocol/api/nativeResponses.ts";
import { described } from "../../../protocol/api/described.ts";
import { toAppError } from "../../../protocol/errors.ts";
import { waitRequestSchema } from "../../operations/waitSchema.ts";
import { DEFAULT_TEXT_BYTES, framed, shortened } from "./foreignText.ts";
import { CUT, mcpTool, PANE, TEXT_BOUND, type ToolCall, unlessGone } from "./mcpTool.ts";
import { shown } from "./paneTools.ts";

const waitOutput = v.object({
  ...waitResponseSchema.entries,
  timedOut: described(v.boolean(), "The wait timed out; `screen` is what the pane shows."),
  screen: described(v.nullable(v.string()), "The pane's current screen; null if the pane is gone."),
  ...CUT,
});

const WAIT_WORDS =
  "Wait until a pane has printed something, has fallen silent, is at a prompt, or its program is ready or has ended. It " +
  "returns as soon as that happens, so never poll with `capture`. All given predicates must hold; use `anyOf` for " +
  "alternatives. Returns the screen, also after a timeout (`timeoutMs`, default 30 s). With a position as `from`, output " +
  "since then counts too.";

interface Target {
  readonly server?: string | undefined;
  readonly pane: string;
}

type WaitInput = v.GenericSchema<unknown, Target & { readonly maxOutputBytes?: number | undefined }>;

function waitTool(input: WaitInput, effect: "reads" | "works", description: string) {
  return mcpTool({
    name: "wait",
    title: "Wait for a pane",
    description,
    effect,
    isIdempotent: false,
    isOpenWorld: effect === "works",
    input,
    output: waitOutput,
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
  `${WAIT_WORDS} With \`send\`, it is armed before the text is typed and the echo does not count: the safest way to type and wait.`,
);

const { send: _send, ...watching } = waitRequestSchema.entries;
export const watchTool = waitTool(v.strictObject({ ...PANE, ...watching, ...TEXT_BOUND }), "reads", WAIT_WORDS);

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
