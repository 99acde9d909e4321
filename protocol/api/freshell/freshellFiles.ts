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

export interface FileEntry {
  /** The real path. */
  readonly path: string;
  /** Of its content. */
  readonly etag: string;
  readonly mtimeMs: number;
  readonly bytes: number;
}

export interface FileResponse extends FileEntry {
  readonly text: string;
}

/** `GET /api/files/list`. */
export interface FolderResponse {
  readonly path: string;
  /** Folders first, by name; no more than a few thousand. */
  readonly entries: readonly { readonly name: string; readonly kind: "file" | "folder" }[];
  /** There are more. */
  readonly cut: boolean;
}
