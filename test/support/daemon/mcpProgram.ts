/** The SDK's client over pipes to `tmuxwire mcp`. */
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { builtCli } from "./cliBuild.ts";
import { type Era, mcpPeer, type McpPeer } from "./mcpClient.ts";

export async function mcpOverPipes(
  env: Readonly<Record<string, string>>,
  era: Era,
  args: readonly string[] = [],
): Promise<McpPeer> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [builtCli(), "mcp", ...args],
    env: { ...env },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (data: Buffer) => {
    stderr += String(data);
  });
  return mcpPeer(transport, era, () => stderr);
}
