/** What the tmux of this test run makes of things, asked of a server that tmuxwire has not touched. */
import { privateSocket } from "./ownedFixture.ts";

/** As it writes a session's name. */
export async function asTmuxWrites(name: string): Promise<string> {
  await using socket = privateSocket();
  const args = ["new-session", "-d", "-P", "-F", "#{session_name}", "-s", name.replaceAll("#", "##"), "cat"];
  return socket.tmux("-f", "/dev/null", ...args).trim();
}
