/** `/api/files`: what the page's editor reads and writes. Each path is checked each time. */
import { fileQuerySchema, fileWriteSchema, MAX_FILE_BODY_BYTES } from "../../../protocol/api/freshell/freshellFiles.ts";
import type { Route } from "../../kit/guard/routes.ts";
import { getQuery, post } from "../freshellRequests.ts";
import type { TerminalBook } from "../terminals/terminalBook.ts";
import { allowedPath, type AllowedPath } from "./allowedPath.ts";
import { TextFiles } from "./textFiles.ts";

export function fileRoutes(book: Pick<TerminalBook, "list">, homeDir: string): readonly Route[] {
  const files = new TextFiles();
  const allowed = (path: string): Promise<AllowedPath> =>
    allowedPath(
      path,
      homeDir,
      book.list().map(({ identity }) => identity.cwd),
    );
  return [
    getQuery("/api/files", fileQuerySchema, async (c, { path }) => c.json(await files.read(await allowed(path)))),
    post(
      "/api/files",
      fileWriteSchema,
      async (c, { path, text, etag }) => c.json(await files.write(await allowed(path), text, etag)),
      MAX_FILE_BODY_BYTES,
    ),
    getQuery("/api/files/list", fileQuerySchema, async (c, { path }) => c.json(await files.list(await allowed(path)))),
  ];
}
