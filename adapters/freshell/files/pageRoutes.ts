/**
 * The page that is a device (`/device/`): its files by their names, read at the start. Everybody who reaches the listener may
 * load them; what they show wants the token.
 */
import { PageFiles } from "../../http/pageFiles.ts";
import type { Route } from "../../http/routes.ts";

const NAME = /^[A-Za-z0-9._-]{1,64}$/;
/** Panes show pages of the web. */
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
