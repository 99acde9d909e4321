/**
 * Files that a page edits (`/api/files`): UTF-8 text, and an etag that shows whether the file has changed since.
 */
import * as v from "valibot";
import { wellFormedText } from "../../text/wellFormed.ts";
import { described } from "../described.ts";
import { filePathSchema } from "./deviceLayout.ts";

/** The largest file that is read or written. */
export const MAX_FILE_BYTES = 10_485_760;
/** The largest body of a write; JSON makes text longer. */
export const MAX_FILE_BODY_BYTES = 2 * MAX_FILE_BYTES + 65_536;

export const fileQuerySchema = v.strictObject({
  path: described(filePathSchema, "An absolute path, or one that begins with ~/."),
});

export const fileWriteSchema = v.strictObject({
  path: described(filePathSchema, "The same path as for reading."),
  text: described(wellFormedText, "The file's whole new content."),
  etag: described(
    v.nullable(v.pipe(v.string("must be text"), v.maxLength(64, "has at most 64 characters"))),
    "The etag from the last read; null for a new file. If it does not match, nothing is written.",
  ),
});

export const fileEntrySchema = v.strictObject({
  /** The real path. */
  path: v.string(),
  /** The etag of its content. */
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
  /** Folders first, sorted by name; at most a few thousand. */
  entries: v.pipe(
    v.array(
      v.strictObject({
        name: v.string(),
        kind: v.picklist(["file", "folder"]),
      }),
    ),
    v.readonly(),
  ),
  /** True if there are more entries. */
  cut: v.boolean(),
});
export type FolderResponse = Readonly<v.InferOutput<typeof folderResponseSchema>>;
