/** What the tmux of this test run makes of things, asked of a server that tmuxwire has not touched. */
import { privateSocket } from "./ownedFixture.ts";

/** As it writes a session's name. */
export async function asTmuxWrites(name: string): Promise<string> {
  await using socket = privateSocket();
  const args = ["new-session", "-d", "-P", "-F", "#{session_name}", "-s", name.replaceAll("#", "##"), "cat"];
  return socket.tmux("-f", "/dev/null", ...args).trim();
}

/** The size of a window that the user makes with neither size nor a terminal, while `default-size` says 123x45. */
export async function asTmuxSizes(): Promise<string> {
  await using socket = privateSocket();
  const asked = ["start-server", ";", "set-option", "-g", "default-size", "123x45", ";"];
  const made = ["new-session", "-d", "-P", "-F", "#{window_width}x#{window_height}", "cat"];
  return socket.tmux("-f", "/dev/null", ...asked, ...made).trim();
}
