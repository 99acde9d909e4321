/** Converts validated JSON to the daemon's types: input parts, where to start, what to wait for. */
import type * as v from "valibot";
import type { CaptureOptions, InputPart } from "../../../daemon/tmux/io.ts";
import type { StreamStart } from "../../../daemon/panes/subscription.ts";
import { typedBytes } from "../../../daemon/panes/input/typedBytes.ts";
import type { WaitPane } from "../../../daemon/waits/waitReading.ts";
import type { WaitRequest } from "../../../daemon/waits/waitRequest.ts";
import type { NativeInputPart } from "../../../protocol/api/native/nativeRequests.ts";
import { invalidArgument } from "../../../protocol/errors.ts";
import { parsePosition } from "../../../protocol/position.ts";
import type { waitRequestSchema } from "./waitSchema.ts";

const encoder = new TextEncoder();

/** @throws AppError INVALID_ARGUMENT */
export function inputParts(parts: readonly NativeInputPart[]): InputPart[] {
  return parts.map((part, index): InputPart => {
    switch (part.kind) {
      case "enter":
        return { kind: "keys", keys: ["Enter"] };
      case "keys":
        return { kind: "keys", keys: part.keys };
      case "text":
      case "paste":
        return { kind: part.kind, bytes: bytesOf(part, index) };
    }
  });
}

function bytesOf(part: { readonly text?: string | undefined; readonly base64?: string | undefined }, index: number) {
  if ((part.text === undefined) === (part.base64 === undefined)) {
    throw invalidArgument(`parts.${index}: give either text or base64`);
  }
  return part.text === undefined ? new Uint8Array(Buffer.from(part.base64 ?? "", "base64")) : encoder.encode(part.text);
}

/** The bytes whose echo will appear in the output. */
const echoedBytes = (parts: readonly InputPart[]): Uint8Array =>
  Buffer.concat(parts.flatMap((part) => (part.kind === "keys" ? [] : [part.bytes])));

/** @throws AppError INVALID_ARGUMENT */
export function streamStart(text: string): StreamStart {
  if (text === "now" || text === "snapshot") return { kind: text };
  const tail = /^tail:(\d{1,6})$/.exec(text);
  if (tail?.[1] !== undefined) return { kind: "tail", lines: Number(tail[1]) };
  return { kind: "position", position: parsePosition(text) };
}

/** @param sent what is typed once the wait is armed @throws AppError INVALID_ARGUMENT */
export function waitRequest(
  body: v.InferOutput<typeof waitRequestSchema>,
  sent: readonly InputPart[] | undefined,
  pane: WaitPane,
): WaitRequest {
  const { from, on, send: _send, ...predicates } = body;
  if (on === "screen" && ![body, ...(body.anyOf ?? [])].some(({ pattern }) => pattern !== undefined))
    throw invalidArgument("on: screen needs a pattern");
  const start = from === undefined ? undefined : streamStart(from);
  if (start?.kind === "snapshot") throw invalidArgument("from must be now, tail:N or a position");
  const echo = sent && { excludeEcho: echoedBytes(sent), sends: typedBytes(sent) };
  const screen = { capture: (options: CaptureOptions) => pane.server.capture(pane.id, options) };
  return { ...predicates, from: start, ...echo, screen: on === "screen" ? screen : undefined, pane };
}
