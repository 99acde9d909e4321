/**
 * Reads the folder of recordings as an earlier daemon left it: finds our files, reads their first lines, and removes a
 * truncated last line, so that only whole lines are left.
 */
import { constants, type FileHandle, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { tryParse } from "../../protocol/api/parse.ts";
import type { CastVersion } from "../../protocol/text/asciicast.ts";
import { MAX_HEADER_BYTES, MAX_LINE_BYTES } from "./recordingLimits.ts";

const SUFFIX = ".cast";
const OURS = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;

/** A finished file. */
export interface KeptRecording {
  readonly id: string;
  readonly path: string;
  readonly server: string;
  readonly pane: string;
  readonly version: CastVersion;
  /** Whether it contains typed input as well. */
  readonly input: boolean;
  readonly startedUnixMs: number;
  readonly bytes: number;
}

export const recordingPath = (folder: string, id: string): string => join(folder, `${id}${SUFFIX}`);

export const recordingId = (startedUnixMs: number, random: string): string =>
  `${new Date(startedUnixMs)
    .toISOString()
    .replaceAll(/[-:]/g, "")
    .replace(/\.\d+Z$/, "Z")}-${random}`;

const headerSchema = v.object({
  version: v.picklist([2, 3]),
  timestamp: v.number(),
  tmuxwire: v.object({ server: v.string(), pane: v.string(), input: v.optional(v.boolean(), false) }),
});

/** Oldest first. Other files are left alone. */
export async function readRecordings(folder: string): Promise<readonly KeptRecording[]> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const ids = names.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
  const kept: KeptRecording[] = [];
  for (const id of ids.filter((each) => OURS.test(each)).toSorted()) {
    // oxlint-disable-next-line no-await-in-loop -- one file open at a time
    const recording = await readRecording(folder, id);
    if (recording !== undefined) kept.push(recording);
  }
  return kept;
}

async function readRecording(folder: string, id: string): Promise<KeptRecording | undefined> {
  const path = recordingPath(folder, id);
  const file = await openRecording(path, constants.O_RDWR).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    if (!(await file.stat()).isFile()) return undefined;
    const bytes = await wholeLines(file);
    const header = bytes === 0 ? undefined : await headerOf(file);
    if (header !== undefined) {
      const { version, timestamp, tmuxwire } = header;
      return { id, path, ...tmuxwire, version, startedUnixMs: timestamp * 1_000, bytes };
    }
    // The daemon ended before the first line was written.
    if (bytes === 0) await rm(path, { force: true });
    return undefined;
  } finally {
    await file.close();
  }
}

/** Does not follow a link, which could point to another file. @throws the system's Error */
export const openRecording = (path: string, access = constants.O_RDONLY): Promise<FileHandle> =>
  open(path, access | constants.O_NOFOLLOW | constants.O_NONBLOCK);

/** Removes an incomplete last line. Returns how many bytes are left. */
async function wholeLines(file: FileHandle): Promise<number> {
  const { size } = await file.stat();
  const length = Math.min(size, MAX_LINE_BYTES);
  const tail = Buffer.alloc(length);
  await file.read(tail, 0, length, size - length);
  const whole = tail.lastIndexOf(10) + 1;
  // We never write a line this long.
  if (whole === 0 && size > length) return size;
  const left = size - length + whole;
  if (left < size) await file.truncate(left);
  return left;
}

async function headerOf(file: FileHandle): Promise<v.InferOutput<typeof headerSchema> | undefined> {
  const start = Buffer.alloc(MAX_HEADER_BYTES);
  const { bytesRead } = await file.read(start, 0, start.length, 0);
  const end = start.subarray(0, bytesRead).indexOf(10);
  try {
    const parsed = tryParse(headerSchema, JSON.parse(start.toString("utf8", 0, end)));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}
