/** Operations that take until a pane has done something: waits, and commands in its shell. */
import type { PaneInfo } from "../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { runResponseSchema, waitResponseSchema } from "../../../protocol/api/native/nativeResponses.ts";
import {
  NATIVE_DEFAULT_OUTPUT_BYTES,
  NATIVE_DEFAULT_TIMEOUT_MS,
  runRequestSchema,
} from "../../../protocol/api/native/nativeRequests.ts";
import { AppError } from "../../../protocol/errors.ts";
import { formatGap, formatPosition, gapWithin } from "../../../protocol/position.ts";
import { AnsiStripper, stripRoom } from "../../../daemon/panes/vt/ansi.ts";
import { inputParts, waitRequest } from "./inputs.ts";
import { ON_TMUX, operation, type OperationContext, POSITION_HEADER } from "../operation.ts";
import { waitResponse, wholeMicros } from "../outputs.ts";
import { waitRequestSchema } from "./waitSchema.ts";

export const waitOperations = {
  wait: operation({
    summary: "Wait for output, silence, a prompt or the program's end.",
    description:
      "All predicates must hold. With `send`, the wait is armed before the text is typed, and the echo does not count.",
    scope: "pane",
    input: waitRequestSchema,
    output: waitResponseSchema,
    errors: ["INVALID_ARGUMENT", "TIMEOUT", "RESOURCE_LIMIT", "UNSUPPORTED_PATTERN_ENGINE", ...ON_TMUX],
    long: true,
    example: {
      input: { pattern: { regex: "(passed|failed)$" }, timeoutMs: 60_000 },
      output: {
        matched: [{ predicate: "pattern", text: "42 passed", from: "k3Jd9:1100", to: "k3Jd9:1109" }],
        position: "k3Jd9:1109",
        elapsedMs: 812.4,
        gaps: [],
      },
    },
    plainText: ({ matched, position, gaps }) => ({
      text: matched.flatMap(({ text }) => (text === undefined ? [] : `${text}\n`)).join(""),
      headers: { [POSITION_HEADER]: position, ...gapsHeader(gaps) },
    }),
    run: async (context, { server, pane }, input, { signal }) => {
      const parts = input.send === undefined ? undefined : inputParts(input.send.parts);
      const request = waitRequest(input, parts, { server, id: pane.id, readiness: context.readiness });
      const source = server.output(pane.id);
      if (parts === undefined) return waitResponse(await context.waits.wait(source, request, { signal }));
      const send = (beforeWrite: () => void) => server.input(pane.id, parts, { beforeWrite, signal });
      return waitResponse(await context.waits.sendAndWait(source, request, send, { signal }));
    },
  }),

  run: operation({
    summary: "Run a command in a pane's shell.",
    description: "Returns its output and exit status. The shell must be at its prompt.",
    scope: "pane",
    input: runRequestSchema,
    output: runResponseSchema,
    errors: ["INVALID_ARGUMENT", "INCONSISTENT_STATE", "WRONG_STATE", "TIMEOUT", "RESOURCE_LIMIT", ...ON_TMUX],
    long: true,
    streams: true,
    example: {
      input: { command: "make test", timeoutMs: 60_000 },
      output: {
        output: "42 passed\n",
        exitCode: 0,
        from: "k3Jd9:1100",
        to: "k3Jd9:1111",
        gaps: [],
        method: "osc133",
        elapsedMs: 812.4,
      },
    },
    plainText: ({ output, exitCode, to, gaps }, { format }) => ({
      text: format === "raw" ? Buffer.from(output, "base64") : output,
      headers: {
        [POSITION_HEADER]: to,
        ...(exitCode === null ? {} : { "tmuxwire-exit-status": String(exitCode) }),
        ...gapsHeader(gaps),
      },
    }),
    run: async (
      context,
      { server, pane },
      { command, timeoutMs, maxOutputBytes, format },
      { signal, onOutput, onTyped },
    ) => {
      const release = claimRun(context, server, pane);
      try {
        const result = await context.runCommand(
          { server, pane: pane.id, clock: context.clock },
          {
            command,
            timeoutMs: timeoutMs === null ? undefined : (timeoutMs ?? NATIVE_DEFAULT_TIMEOUT_MS),
            maxOutputBytes: maxOutputBytes ?? NATIVE_DEFAULT_OUTPUT_BYTES,
            signal,
            onOutput,
            onTyped,
          },
        );
        return {
          output: format === "raw" ? Buffer.from(result.bytes).toString("base64") : plainText(result.bytes),
          exitCode: result.exitCode ?? null,
          from: formatPosition(result.from),
          to: formatPosition(result.to),
          gaps: result.gaps.map((gap) => formatGap(gapWithin(result.from.epoch, gap))),
          method: result.method,
          elapsedMs: wholeMicros(result.elapsedMs),
        };
      } finally {
        release();
      }
    },
  }),
} as const;

const gapsHeader = (gaps: readonly object[]): Readonly<Record<string, string>> =>
  gaps.length === 0 ? {} : { "tmuxwire-gaps": String(gaps.length) };

/** Allows one `run` per pane: a second one would type into the first one's command. @throws AppError INCONSISTENT_STATE */
function claimRun({ running }: OperationContext, server: TmuxServer, { id }: PaneInfo): () => void {
  const panes = running.get(server) ?? new Set();
  running.set(server, panes);
  if (panes.has(id))
    throw new AppError("INCONSISTENT_STATE", `another run is active in pane ${id}; wait for it to end`);
  panes.add(id);
  return () => void panes.delete(id);
}

function plainText(bytes: Uint8Array): string {
  const out = Buffer.allocUnsafe(stripRoom(bytes.length));
  const length = new AnsiStripper().strip(bytes, out, 0, 0, { mark: () => undefined });
  return out.toString("utf8", 0, length);
}
