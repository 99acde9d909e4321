/** What the tmux of this test run makes of things, asked of a server that tmuxwire has not touched. */
import { spawnSync } from "node:child_process";
import { featuresOf } from "../../../daemon/connection/tmuxFeatures.ts";
import { releaseOf } from "../../../daemon/connection/tmuxVersion.ts";
import { privateSocket } from "./ownedFixture.ts";

/** Its release, as `3.3a`. */
const VERSION = /[\d.]+\w?/.exec(spawnSync("tmux", ["-V"], { encoding: "utf8" }).stdout)?.[0] ?? "";

/** Whether a pane can be kept when its program has ended; who asks leaves tests out otherwise, and it is said why. */
export function keepsPanes(): boolean {
  const { keepsPanes: keeps } = featuresOf(VERSION);
  if (!keeps)
    console.log(`tmux ${VERSION} can end when the program of a kept pane does: tests that keep one are left out`);
  return keeps;
}

/** Whether it survives `refresh-client -l` for a control client; who asks leaves that out otherwise, and it is said why. */
export function survivesClipboardQuery(): boolean {
  const survives = (releaseOf(VERSION) ?? Infinity) >= 303;
  if (!survives) console.log(`tmux ${VERSION} dies of \`refresh-client -l\` for a control client: that is not typed`);
  return survives;
}

/** As it writes a session's name; what 3.4 adds to all that it prints is no part of that. */
export async function asTmuxWrites(name: string): Promise<string> {
  await using socket = privateSocket();
  const args = ["new-session", "-d", "-P", "-F", "#{session_name}", "-s", name.replaceAll("#", "##"), "cat"];
  const printed = socket.tmux("-f", "/dev/null", ...args).trim();
  const version = socket.tmux("display-message", "-p", "#{version}").trim();
  return Buffer.from(featuresOf(version).meant(Buffer.from(printed))).toString();
}

/** A title that begins with a command of a format, as it keeps it: from 3.7 without the `#`. */
export const asTmuxTitles = (title: string): string =>
  (releaseOf(VERSION) ?? Infinity) >= 307 ? title.replace(/^#\(/, "_(") : title;

/** The size of a window that the user makes with neither size nor a terminal, while `default-size` says 123x45. */
export async function asTmuxSizes(): Promise<string> {
  await using socket = privateSocket();
  const asked = ["start-server", ";", "set-option", "-g", "default-size", "123x45", ";"];
  const made = ["new-session", "-d", "-P", "-F", "#{window_width}x#{window_height}", "cat"];
  return socket.tmux("-f", "/dev/null", ...asked, ...made).trim();
}
