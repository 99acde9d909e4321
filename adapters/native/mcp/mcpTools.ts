/** Every MCP tool, and those a tier allows. */
import { createTool, killTool, listTool, splitTool } from "./layoutTools.ts";
import type { McpTier } from "./mcpTier.ts";
import type { McpTool } from "./mcpTool.ts";
import { captureTool, runTool } from "./paneTools.ts";
import { searchTool } from "./searchTool.ts";
import { chooseTool, interruptTool, sendTool, submitTool } from "./typingTools.ts";
import { waitAndSendTool, watchTool } from "./waitTools.ts";

const TOOLS = (tier: McpTier): readonly McpTool[] => [
  listTool,
  createTool,
  splitTool,
  runTool,
  sendTool,
  tier.isReadOnly ? watchTool : waitAndSendTool,
  captureTool,
  searchTool,
  submitTool,
  chooseTool,
  interruptTool,
  killTool,
];

export const toolsOf = (tier: McpTier): readonly McpTool[] => TOOLS(tier).filter(({ effect }) => tier.allows(effect));
