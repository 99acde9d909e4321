/** The MCP tools that type: exact input, prompts, answers to dialogs, interrupts. */
import * as v from "valibot";
import type { NativeReceipt } from "../../../protocol/api/native/nativeResponses.ts";
import {
  chooseRequestSchema,
  type NativeDelivery,
  submitRequestSchema,
} from "../../../protocol/api/native/nativeDelivery.ts";
import { inputRequestSchema } from "../../../protocol/api/native/nativeRequests.ts";
import { filled, optional } from "../../../protocol/api/described.ts";
import { mcpTool, PANE, type ToolOutput } from "./mcpTool.ts";

const TYPED = {
  text: { type: "string", description: "Typed as it is." },
  paste: { type: "string", description: "Pasted." },
  keys: { type: "array", items: { type: "string" }, description: "tmux's names: C-c, Up, Escape." },
  enter: { type: "boolean", description: "Press Enter." },
  parts: {
    type: "array",
    items: { type: "object" },
    description: "Or these: {kind: text|paste, text or base64}, {kind: keys, keys}, {kind: enter}.",
  },
  profile: "Only if this profile's program reads the pane.",
} as const;

export const sendTool = mcpTool({
  name: "send",
  title: "Type into a pane",
  description:
    "Type into a pane, exactly, as one job: `text`, then `paste`, `keys`, and Enter with `enter: true`; or `parts` in any " +
    "order. Returns at once, with the position before the effect: `wait` from it, or `capture` since it. For a shell command " +
    "prefer `run`; for a prompt to an agent `submit`.",
  effect: "works",
  input: v.strictObject({ ...PANE, ...inputRequestSchema.entries }),
  words: TYPED,
  run: async (call, { server, pane, ...input }) => {
    const receipt = await call.onPane<NativeReceipt>("input", { server, pane }, input);
    return {
      text: `Typed into pane ${pane}; its effect comes after position ${receipt.position}.`,
      structured: receipt,
    };
  },
});

const key = {
  idempotencyKey: optional(filled(256), "Done once per key."),
};

export const submitTool = mcpTool({
  name: "submit",
  title: "Give a prompt to an agent",
  description:
    "Give a prompt to the coding agent or shell in a pane: Enter is pressed once the screen shows it, and the outcome is " +
    "confirmed. WRONG_STATE while the program is busy or asks. Then `wait` with `ready`.",
  effect: "works",
  input: v.strictObject({ ...PANE, ...submitRequestSchema.entries, ...key }),
  words: {
    text: "The prompt.",
    profile: "If the wrong program is detected.",
    whileBusy: "Default refuse, as of the next two.",
    whileTyping: "While its box or line holds text.",
    whileUnknown: "",
    clearFirst: "Empty its box or line first.",
    literal: "Text that begins with !, /, # or @ is no command.",
    gapMs: "",
    timeoutMs: "Default 10000.",
  },
  run: async (call, { server, pane, idempotencyKey, ...input }) =>
    delivered(await call.onPane<NativeDelivery>("submit", { server, pane }, input, { idempotencyKey })),
});

/** In place of `answer`. */
export const ANSWER_WORDS = {
  answer: null,
  option: { type: "integer", description: "One option's index, from 0." },
  options: {
    type: "array",
    items: { type: "array", items: { type: "integer" } },
    description: "Several: the indexes of each question.",
  },
  other: { type: "string", description: "Free text, where it takes that." },
  dialogId: "Only this dialog.",
  timeoutMs: "Default 10000.",
} as const;

export const chooseTool = mcpTool({
  name: "choose",
  title: "Answer a dialog",
  description:
    "Answer the dialog that is open in a pane (`list` shows it under readiness) with `option`, `options` or `other`. Give " +
    "`dialogId`, so that a dialog opened meanwhile is not answered by mistake.",
  effect: "works",
  input: v.strictObject({ ...PANE, ...chooseRequestSchema.entries, ...key }),
  words: ANSWER_WORDS,
  run: async (call, { server, pane, idempotencyKey, ...input }) =>
    delivered(await call.onPane<NativeDelivery>("choose", { server, pane }, input, { idempotencyKey })),
});

const delivered = (delivery: NativeDelivery): ToolOutput => ({
  text: `Outcome: ${delivery.outcome}, after ${Math.round(delivery.latencyMs)} ms; position ${delivery.position ?? "none"}.`,
  structured: delivery,
});

export const interruptTool = mcpTool({
  name: "interrupt",
  title: "Interrupt a program",
  description:
    "Interrupt the program in a pane with its own keys (C-c, Escape); it keeps running. Returns when an agent's turn has ended.",
  effect: "destroys",
  input: v.strictObject(PANE),
  run: async (call, named) => {
    const stopped = await call.onPane<object>("interrupt", named, {});
    return { text: `Interrupted pane ${named.pane}.`, structured: stopped };
  },
});
