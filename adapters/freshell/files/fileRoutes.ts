/** `/api/files`: what the page's editor reads and writes. Each path is checked each time. */
import { fileQuerySchema, fileWriteSchema, MAX_FILE_BODY_BYTES } from "../../../protocol/api/freshell/freshellFiles.ts";
import type { Route } from "../../http/routes.ts";
import { bodyOf, get, queryOf, requireNoQuery } from "../freshellRequests.ts";
import type { TerminalBook } from "../terminals/terminalBook.ts";
import { allowedPath, type AllowedPath } from "./allowedPath.ts";
import { TextFiles } from "./textFiles.ts";

interface FileRoutesOptions {
  readonly book: Pick<TerminalBook, "list">;
  readonly homeDir: string;
}

export function fileRoutes({ book, homeDir }: FileRoutesOptions): readonly Route[] {
  const files = new TextFiles();
  const allowed = (path: string): Promise<AllowedPath> =>
    allowedPath(
      path,
      homeDir,
      book.list().map(({ identity }) => identity.cwd),
    );
  return [
    get("/api/files", async (c) => {
      const { path } = queryOf(fileQuerySchema, c);
      return c.json(await files.read(await allowed(path)));
    }),
    {
      method: "POST",
      path: "/api/files",
      auth: true,
      maxJsonBytes: MAX_FILE_BODY_BYTES,
      handle: async (c) => {
        requireNoQuery(c);
        const { path, text, etag } = bodyOf(fileWriteSchema, c.get("json"));
        return c.json(await files.write(await allowed(path), text, etag));
      },
    },
    get("/api/files/list", async (c) => {
      const { path } = queryOf(fileQuerySchema, c);
      return c.json(await files.list(await allowed(path)));
    }),
  ];
}
