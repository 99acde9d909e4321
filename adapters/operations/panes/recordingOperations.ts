/** Recordings of panes that the daemon writes into its own folder. */
import { Readable } from "node:stream";
import type { RecordingRegistry, RecordingInfo } from "../../../daemon/recordings/recordingRegistry.ts";
import { openRecording } from "../../../daemon/recordings/recordingFiles.ts";
import { DEFAULT_RECORDING_BYTES, DEFAULT_RECORDING_SEC } from "../../../daemon/recordings/recordingLimits.ts";
import {
  type NativeRecording,
  recordingSchema,
  recordingsSchema,
  startRecordingSchema,
} from "../../../protocol/api/native/nativeRecordings.ts";
import { emptyRequestSchema } from "../../../protocol/api/native/nativeRequests.ts";
import { AppError } from "../../../protocol/errors.ts";
import { EXAMPLE_RECORDING } from "../examples.ts";
import { JUST_DONE, ON_TMUX, operation, type OperationContext, requirePart } from "../operation.ts";

export const recordingOperations = {
  startRecording: operation({
    summary: "Record a pane into a file that the daemon keeps.",
    description:
      "Writes asciicast, starting with the current screen. It ends with the pane, at a limit, or when it is stopped.",
    scope: "pane",
    input: startRecordingSchema,
    output: recordingSchema,
    errors: ["INVALID_ARGUMENT", "RESOURCE_LIMIT", ...ON_TMUX],
    example: { input: { maxSeconds: 3_600 }, output: EXAMPLE_RECORDING },
    run: async (context, { server, serverName, pane }, input) => {
      const { maxBytes = DEFAULT_RECORDING_BYTES, maxSeconds: maxSec = DEFAULT_RECORDING_SEC } = input;
      const version = input.version === 3 ? 3 : 2;
      const request = { version, maxBytes, maxSec, input: input.input ?? false } as const;
      return nativeRecording(await requireRecordings(context).start({ ...request, serverName, server, pane: pane.id }));
    },
  }),

  listRecordings: operation({
    summary: "List recordings.",
    description: "Includes active and finished ones.",
    scope: "daemon",
    input: emptyRequestSchema,
    output: recordingsSchema,
    errors: ["INVALID_ARGUMENT"],
    example: { input: {}, output: { recordings: [EXAMPLE_RECORDING] } },
    run: (context) => ({ recordings: requireRecordings(context).list().map(nativeRecording) }),
  }),

  stopRecording: operation({
    summary: "Stop a recording.",
    description: "Responds when its file is complete. A recording that has already ended stays as it is.",
    scope: "recording",
    input: emptyRequestSchema,
    output: recordingSchema,
    errors: ["INVALID_ARGUMENT", "NOT_FOUND"],
    example: {
      input: {},
      output: { ...EXAMPLE_RECORDING, recording: false, endedBy: "stopped" },
    },
    run: async (context, { recording }) => nativeRecording(await requireRecordings(context).stop(recording.id)),
  }),

  deleteRecording: operation({
    summary: "Delete a recording and its file.",
    description: "An active recording is stopped first.",
    scope: "recording",
    ...JUST_DONE,
    errors: ["INVALID_ARGUMENT", "NOT_FOUND"],
    run: async (context, { recording }) => {
      await requireRecordings(context).remove(recording.id);
      return { ok: true } as const;
    },
  }),
} as const;

/** @throws AppError INVALID_ARGUMENT */
export const requireRecordings = ({ recordings }: Pick<OperationContext, "recordings">): RecordingRegistry =>
  requirePart(recordings, "keeps no recordings; use `tmuxwire rec`");

/** A recording's file as written so far, as a response. @throws AppError INVALID_ARGUMENT, NOT_FOUND */
export async function recordingResponse(
  context: Pick<OperationContext, "recordings">,
  recording: string,
): Promise<Response> {
  const { path } = requireRecordings(context).find(recording);
  const file = await openRecording(path).catch((error: unknown) => {
    throw new AppError("NOT_FOUND", `the file of recording ${recording} is gone`, { cause: error });
  });
  const stream = Readable.toWeb(file.createReadStream()) as ReadableStream<Uint8Array>;
  return new Response(stream, { headers: { "content-type": "application/x-asciicast" } });
}

export function nativeRecording({ end, isRecording, durationMs, gaps, ...rest }: RecordingInfo): NativeRecording {
  return {
    ...rest,
    recording: isRecording,
    durationMs: durationMs === undefined ? null : Math.round(durationMs),
    gaps: gaps ?? null,
    endedBy: end ?? null,
  };
}
