/**
 * Files as a page edits them (`/api/files`): text in UTF-8, and an etag that shows whether somebody has changed it
 * since.
 */
import * as v from "valibot";
import { wellFormedText } from "../../text/wellFormed.ts";
import { described } from "../described.ts";
import { filePathSchema } from "./deviceLayout.ts";

/** Longest file that is read or written. */
export const MAX_FILE_BYTES = 10_485_760;
/** Longest body that writes one: JSON makes text longer. */
export const MAX_FILE_BODY_BYTES = 2 * MAX_FILE_BYTES + 65_536;

export const fileQuerySchema = v.strictObject({
  path: described(filePathSchema, "An absolute path, or one that begins with ~/."),
});

export const fileWriteSchema = v.strictObject({
  path: described(filePathSchema, "As in the query."),
  text: described(wellFormedText, "All that the file is to hold."),
  etag: described(
    v.nullable(v.pipe(v.string("must be text"), v.maxLength(64, "has at most 64 characters"))),
    "What was read last; null for a file that is not there yet. Another one is refused, and nothing is written.",
  ),
});

export const fileEntrySchema = v.strictObject({
  /** The real path. */
  path: v.string(),
  /** Of its content. */
  etag: v.string(),
  mtimeMs: v.number(),
  bytes: v.number(),
});
export type FileEntry = Readonly<v.InferOutput<typeof fileEntrySchema>>;

export const fileResponseSchema = v.strictObject({
  ...fileEntrySchema.entries,
  text: v.string(),
});
export type FileResponse = Readonly<v.InferOutput<typeof fileResponseSchema>>;

/** `GET /api/files/list`. */
export const folderResponseSchema = v.strictObject({
  path: v.string(),
  /** Folders first, by name; no more than a few thousand. */
  entries: v.pipe(
    v.array(
      v.strictObject({
        name: v.string(),
        kind: v.picklist(["file", "folder"]),
      }),
    ),
    v.readonly(),
  ),
  /** There are more. */
  cut: v.boolean(),
});
export type FolderResponse = Readonly<v.InferOutput<typeof folderResponseSchema>>;
