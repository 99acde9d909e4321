/** `/api/files`: what the page's editor reads and writes. Each path is checked each time. */
import {
  fileEntrySchema,
  fileQuerySchema,
  fileResponseSchema,
  fileWriteSchema,
  folderResponseSchema,
  MAX_FILE_BODY_BYTES,
} from "../../../protocol/api/freshell/freshellFiles.ts";
import type { Route } from "../../kit/guard/routes.ts";
import { endpoint, GET, POST } from "../freshellRequests.ts";
import type { TerminalRegistry } from "../terminals/terminalRegistry.ts";
import { allowedPath, type AllowedPath, TextFiles } from "./textFiles.ts";

export function fileRoutes(terminals: Pick<TerminalRegistry, "list">, homeDir: string): readonly Route[] {
  const files = new TextFiles();
  const allowed = (path: string): Promise<AllowedPath> =>
    allowedPath(
      path,
      homeDir,
      terminals.list().map(({ identity }) => identity.cwd),
    );
  return [
    endpoint({
      ...GET,
      path: "/api/files",
      request: fileQuerySchema,
      response: { 200: fileResponseSchema },
      errors: ERRORS,
      handle: async (c, { path }) => c.json(await files.read(await allowed(path))),
    }),
    endpoint({
      ...POST,
      path: "/api/files",
      maxJsonBytes: MAX_FILE_BODY_BYTES,
      request: fileWriteSchema,
      response: { 200: fileEntrySchema },
      errors: [...ERRORS, "REVISION_CONFLICT"],
      handle: async (c, { path, text, etag }) => c.json(await files.write(await allowed(path), text, etag)),
    }),
    endpoint({
      ...GET,
      path: "/api/files/list",
      request: fileQuerySchema,
      response: { 200: folderResponseSchema },
      errors: ERRORS,
      handle: async (c, { path }) => c.json(await files.list(await allowed(path))),
    }),
  ];
}

const ERRORS = ["INVALID_ARGUMENT", "INVALID_TARGET", "UNAUTHORIZED", "NOT_FOUND", "RESOURCE_LIMIT"] as const;
