/** What clients of the daemon wait for on a server, in words: `servers`, `show`, `ls` and `follow` say it alike. */
import type { NativeServer } from "../../client/client.ts";

export const waitingText = ({ sinceUnixMs }: NonNullable<NativeServer["waiting"]>): string =>
  `until the server is calm since ${timeText(sinceUnixMs)}`;

export const timeText = (unixMs: number): string => new Date(unixMs).toISOString().replace(/\.\d+Z/, "Z");
