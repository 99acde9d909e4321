/** Commands for recordings that the daemon writes; `tmuxwire rec` writes one itself. */
import type { NativeRecording } from "../../client/client.ts";
import { type GivingPositional, operationCommand } from "./operationCommand.ts";
import { PANE } from "./paneArguments.ts";
import { table } from "../../cli/textTable.ts";

const RECORDING: GivingPositional = {
  gives: "recording",
  name: "RECORDING",
  description: "its id, from `tmuxwire recordings`",
};

/** For the daemon's recordings and those of `tmuxwire rec`. */
export const BOUND_OPTIONS = {
  maxBytes: { name: "max-bytes", value: "BYTES" },
  maxSeconds: { name: "max-seconds", value: "SECONDS" },
  version: { name: "cast-version", value: "VERSION" },
} as const;

export const startRecordingCommand = operationCommand<NativeRecording>({
  operation: "startRecording",
  name: "start-recording",
  positionals: [PANE],
  tweak: BOUND_OPTIONS,
  examples: [{ line: "tmuxwire start-recording work", does: "prints its id; the daemon keeps recording" }],
  show: ({ io }, { id }) => io.out(`${id}\n`),
});

export const recordingsCommand = operationCommand<{ readonly recordings: readonly NativeRecording[] }>({
  operation: "listRecordings",
  name: "recordings",
  examples: [{ line: "tmuxwire recordings", does: "with their files" }],
  show: ({ io }, { recordings }) =>
    io.out(table(["RECORDING", "SERVER", "PANE", "STATE", "BYTES", "FILE"], recordings.map(recordingRow))),
});

const recordingRow = ({ id, server, pane, recording, input, endedBy, bytes, path }: NativeRecording): string[] => [
  id,
  server,
  pane,
  `${recording ? "recording" : endedBy === null ? "ended" : `ended (${endedBy})`}${input ? ", with input" : ""}`,
  String(bytes),
  path,
];

export const stopRecordingCommand = operationCommand<NativeRecording>({
  operation: "stopRecording",
  name: "stop-recording",
  positionals: [RECORDING],
  examples: [
    { line: "tmuxwire stop-recording 20261120T064247Z-1f2e3d4c", does: "prints the path of the finished file" },
  ],
  show: ({ io }, { path }) => io.out(`${path}\n`),
});

export const deleteRecordingCommand = operationCommand({
  operation: "deleteRecording",
  name: "delete-recording",
  positionals: [RECORDING],
  examples: [{ line: "tmuxwire delete-recording 20261120T064247Z-1f2e3d4c", does: "and its file" }],
});
