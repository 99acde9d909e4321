/** The SDK's client over HTTP, for both eras of the protocol (over pipes: mcpProgram.ts). */
import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";

/** Without a tier, in order. */
export const MCP_TOOLS = [
  ..."answer_agent capture choose create end_agent interrupt interrupt_agent kill list list_agents run".split(" "),
  ..."search send split start_agent submit tell wait wait_agent".split(" "),
];

/** `modern`: the revision 2026-07-28, whose requests stand alone. */
export type Era = "legacy" | "modern";

export interface McpPeer extends AsyncDisposable {
  readonly client: Client;
  /** What came back; an error is a rejection with its text. */
  call(name: string, input: object, options?: Parameters<Client["callTool"]>[1]): Promise<Record<string, unknown>>;
  /** As it came, errors included. */
  raw(name: string, input: object): Promise<CallToolResult>;
  /** What the command has said on stderr. */
  readonly stderr: () => string;
}

export async function mcpOverHttp(url: string, era: Era, token?: string): Promise<McpPeer> {
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  return mcpPeer(new StreamableHTTPClientTransport(new URL(url), { requestInit }), era, () => "");
}

export async function mcpPeer(transport: Transport, era: Era, stderr: () => string): Promise<McpPeer> {
  const client = new Client(
    { name: "tests", version: "0" },
    { versionNegotiation: { mode: era === "modern" ? "auto" : "legacy" } },
  );
  await client.connect(transport);
  const raw = (name: string, input: object, options?: Parameters<Client["callTool"]>[1]) =>
    client.callTool({ name, arguments: input as Record<string, unknown> }, options);
  return {
    client,
    raw,
    stderr,
    call: async (name, input, options) => {
      const { isError, structuredContent, content } = await raw(name, input, options);
      if (isError === true) throw new Error(textOf(content));
      return structuredContent as Record<string, unknown>;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const textOf = (content: CallToolResult["content"]): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
