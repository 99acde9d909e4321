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
import { PageFiles } from "../../kit/pageFiles.ts";

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

/**
 * The page that is a device (`/device/`): its files by name, read at the start. Everyone who reaches the listener can load
 * them; their data requires the token.
 */

/** Panes show web pages. */
const FRAMES = "frame-src http: https:";

/** @param directory where the built page is */
export function pageRoutes(directory: string): readonly Route[] {
  const files = new PageFiles(directory, [FRAMES]);
  const index: Omit<Route, "path"> = {
    method: "GET",
    head: true,
    auth: false,
    linkable: true,
    response: { 200: "text/html", 304: "none", 503: "text/plain" },
    errors: [],
    handle: (c) => files.respond(c, "index.html"),
  };
  return [
    { ...index, path: "/device" },
    { ...index, path: "/device/" },
    {
      method: "GET",
      head: true,
      path: "/device/:file{[A-Za-z0-9._-]+}",
      auth: false,
      response: { 200: "*/*", 304: "none", 404: "text/plain" },
      errors: [],
      handle: (c) => files.respond(c, c.req.param("file") ?? ""),
    },
  ];
}
