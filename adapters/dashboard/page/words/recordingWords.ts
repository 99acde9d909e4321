/** Texts of the list and the player of recordings. */
import type { NativeRecording } from "../../../../protocol/api/native/nativeRecordings.ts";
import { ageText } from "./age.ts";

/** `0:07`, `12:34`, `1:02:03`. */
export function timeText(sec: number): string {
  const whole = Math.max(0, Math.floor(sec));
  const [hours, minutes, seconds] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60), whole % 60];
  const tail = `${hours > 0 ? String(minutes).padStart(2, "0") : minutes}:${String(seconds).padStart(2, "0")}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}

export function recordingText(recording: NativeRecording, nowUnixMs: number): string {
  const { startedUnixMs, recording: isUnderWay, durationMs, bytes, input } = recording;
  const words = [
    isUnderWay ? "recording now" : `${ageText(startedUnixMs, nowUnixMs)} ago`,
    durationMs === null ? undefined : timeText(durationMs / 1_000),
    sizeText(bytes),
    input ? "holds what was typed" : undefined,
  ];
  return words.filter((word) => word !== undefined).join(" · ");
}

function sizeText(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
