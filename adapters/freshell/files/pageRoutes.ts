/**
 * The page that is a device (`/device/`): its files by name, read at the start. Everyone who reaches the listener can load
 * them; their data requires the token.
 */
import { PageFiles } from "../../http/pageFiles.ts";
import type { Route } from "../../http/routes.ts";

const NAME = /^[A-Za-z0-9._-]{1,64}$/;
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
    handle: (c) => files.respond(c, "index.html"),
  };
  return [
    { ...index, path: "/device" },
    { ...index, path: "/device/" },
    {
      method: "GET",
      head: true,
      path: "/device/:file",
      places: { file: NAME },
      auth: false,
      handle: (c, { file = "" }) => files.respond(c, file),
    },
  ];
}
