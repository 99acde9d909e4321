/** The MCP tools that type: exact input, prompts, answers to dialogs, interrupts. */
import * as v from "valibot";
import { okSchema, type NativeReceipt, receiptSchema } from "../../../protocol/api/nativeResponses.ts";
import {
  chooseRequestSchema,
  deliveryResponseSchema,
  type NativeDelivery,
  submitRequestSchema,
} from "../../../protocol/api/nativeDelivery.ts";
import { inputRequestSchema } from "../../../protocol/api/nativeRequests.ts";
import { filled, optional } from "../../../protocol/api/described.ts";
import { mcpTool, PANE, type ToolOutput } from "./mcpTool.ts";

export const sendTool = mcpTool({
  name: "send",
  title: "Type into a pane",
  description:
    "Type text, keys or a paste into a pane, exactly and in order, as one job. Text is typed unchanged: add {kind: enter} to " +
    "press Enter. Returns at once, with the position before the effect: `wait` from it, or `capture` since it. For a shell " +
    "command prefer `run`; for a prompt to an agent program prefer `submit`; to type only if a certain program reads the " +
    "pane, name its `profile`.",
  effect: "works",
  isIdempotent: false,
  isOpenWorld: true,
  input: v.strictObject({ ...PANE, ...inputRequestSchema.entries }),
  output: receiptSchema,
  run: async (call, { server, pane, ...input }) => {
    const receipt = await call.onPane<NativeReceipt>("input", { server, pane }, input);
    return {
      text: `Typed into pane ${pane}; its effect comes after position ${receipt.position}.`,
      structured: receipt,
    };
  },
});

const key = {
  idempotencyKey: optional(filled(256), "Calls with the same key are performed once."),
};

export const submitTool = mcpTool({
  name: "submit",
  title: "Give a prompt to an agent",
  description:
    "Give a prompt to the coding agent or shell in a pane. Enter is pressed only once the screen shows the prompt, and the " +
    "result is confirmed. Fails with WRONG_STATE while the program is busy or has a dialog open. Then `wait` with `ready`.",
  effect: "works",
  isIdempotent: false,
  isOpenWorld: true,
  input: v.strictObject({ ...PANE, ...submitRequestSchema.entries, ...key }),
  output: deliveryResponseSchema,
  run: async (call, { server, pane, idempotencyKey, ...input }) =>
    delivered(await call.onPane<NativeDelivery>("submit", { server, pane }, input, { idempotencyKey })),
});

export const chooseTool = mcpTool({
  name: "choose",
  title: "Answer a dialog",
  description:
    "Answer the dialog that is open in a pane, which `list` shows under readiness: with one option by its index, several, or " +
    "text. Give `dialogId` so that a dialog opened meanwhile is not answered by mistake.",
  effect: "works",
  isIdempotent: false,
  isOpenWorld: true,
  input: v.strictObject({ ...PANE, ...chooseRequestSchema.entries, ...key }),
  output: deliveryResponseSchema,
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
    "Interrupt the program in a pane with its own keys (C-c, Escape, ...). The program keeps running. Returns when an agent's " +
    "turn has ended.",
  effect: "destroys",
  isIdempotent: false,
  isOpenWorld: false,
  input: v.strictObject(PANE),
  output: okSchema,
  run: async (call, named) => {
    const stopped = await call.onPane<object>("interrupt", named, {});
    return { text: `Interrupted pane ${named.pane}.`, structured: stopped };
  },
});
