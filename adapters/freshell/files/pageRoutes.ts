/**
 * The page that is a device (`/device/`): its files by name, read at the start. Everyone who reaches the listener can load
 * them; their data requires the token.
 */
import { PageFiles } from "../../kit/pageFiles.ts";
import type { Route } from "../../kit/guard/routes.ts";

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
