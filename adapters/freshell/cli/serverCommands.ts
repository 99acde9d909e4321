/** The server itself: its health and its addresses. */
import type { FreshellHealth, LanInfo } from "../../../protocol/api/freshell/freshellHttp.ts";
import { printable } from "../../bin/cli/textTable.ts";
import { freshellCommand } from "./freshellCommand.ts";

export const healthCommand = freshellCommand<FreshellHealth>({
  name: "health",
  summary: "tell whether the server and its tmux are running",
  perform: ({ session }) => session.open({ method: "GET", path: "/api/health" }),
  show: ({ version, ready }) =>
    `ok, version ${printable(version)}, ${ready ? "ready" : "not ready: tmux is not running"}\n`,
});

export const lanInfoCommand = freshellCommand<LanInfo>({
  name: "lan-info",
  summary: "list the addresses of the server's machine",
  perform: ({ session }) => session.call({ method: "GET", path: "/api/lan-info" }),
  show: ({ ips }) => ips.map((ip) => `${printable(ip)}\n`).join(""),
});
