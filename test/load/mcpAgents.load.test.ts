/**
 * The agent programs that people run, offline, with a scripted model: each finds the tools of `tmuxwire mcp` and brings one
 * result to its model. Needs AGENT_KIT (the kit's folder) and TUI_INST (the programs' folder); says what is missing.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { MCP_TOOLS } from "../support/daemon/mcpClient.ts";
import { report } from "../support/daemon/loadReport.ts";

const { AGENT_KIT: KIT, TUI_INST: INST } = process.env;
const RUN = join(import.meta.dirname, "../support/agents/mcpAgentRun.mjs");
/** Where the scripted model is, in the namespace of its own that every program has. */
const MODEL = "http://127.0.0.1:4999/v1";

interface Program {
  readonly family: "anthropic" | "responses" | "gemini" | "chat";
  /** Below the program's folder. */
  readonly executable: string;
  readonly args: readonly string[];
  /** Files of its home, with the MCP server in them. */
  readonly files: (server: McpServerEntry) => Readonly<Record<string, string>>;
}
interface McpServerEntry {
  readonly command: string;
  readonly args: readonly string[];
}

const PROMPT = "list the panes";
const claude: Program = {
  family: "anthropic",
  executable: "node_modules/.bin/claude",
  args: ["-p", PROMPT, "--mcp-config", "mcp.json", "--strict-mcp-config", "--allowedTools", "mcp__tmuxwire__list"],
  files: (server) => ({ "mcp.json": JSON.stringify({ mcpServers: { tmuxwire: server } }) }),
};
const PROGRAMS: Readonly<Record<string, Program>> = {
  cc: claude,
  ccnew: claude,
  codex: {
    family: "responses",
    executable: "node_modules/.bin/codex",
    args: ["exec", "--skip-git-repo-check", PROMPT],
    files: ({ command, args }) => ({
      ".codex/config.toml": `model = "fake-model"
model_provider = "fake"
approval_policy = "never"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "${MODEL}"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
supports_websockets = false
[analytics]
enabled = false
[mcp_servers.tmuxwire]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}
`,
    }),
  },
  gemini: {
    family: "gemini",
    executable: "node_modules/@google/gemini-cli/bundle/gemini.js",
    args: ["-p", PROMPT, "--yolo"],
    files: (server) => ({
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
        model: { name: "gemini-2.5-flash" },
        mcpServers: { tmuxwire: { ...server, trust: true } },
      }),
    }),
  },
  opencode: {
    family: "chat",
    executable: "node_modules/.bin/opencode",
    args: ["run", PROMPT],
    files: ({ command, args }) => ({
      ".config/opencode/opencode.json": JSON.stringify({
        autoupdate: false,
        share: "disabled",
        model: "fake/fake-model",
        small_model: "fake/fake-model",
        enabled_providers: ["fake"],
        provider: {
          fake: {
            npm: "@ai-sdk/openai-compatible",
            name: "fake",
            options: { baseURL: MODEL, apiKey: "x" },
            models: {
              "fake-model": { name: "fake-model", tool_call: true, limit: { context: 100_000, output: 4_000 } },
            },
          },
        },
        mcp: { tmuxwire: { type: "local", command: [command, ...args], enabled: true } },
      }),
    }),
  },
};

const here = Object.keys(PROGRAMS).filter((name) => {
  const why =
    KIT === undefined || INST === undefined
      ? "AGENT_KIT (the kit's folder) and TUI_INST (the programs' folder) are not in the environment"
      : existsSync(join(INST, name))
        ? undefined
        : `no ${name} in TUI_INST`;
  if (why !== undefined) process.stderr.write(`mcp agents: ${name}: ${why}: skipped\n`);
  return why === undefined;
});

let sandbox: CliSandbox;
beforeAll(async () => {
  sandbox = cliSandbox();
  await sandbox.serve();
  await sandbox.run(["new", "shown-to-the-model", "--", "cat"]);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

// Without a program the lines above say why.
test.skipIf(here.length === 0).each(here.length === 0 ? ["cc"] : here)(
  "%s finds the tools and brings a result",
  (name) => {
    const { family, executable, args, files } = PROGRAMS[name]!;
    const home = sandbox.path(`home-${name}`);
    const server = {
      command: process.execPath,
      args: [builtCli(), "mcp", "--no-autostart", "--socket", sandbox.socketPath, "--token-file", sandbox.tokenPath],
    };
    for (const [path, text] of Object.entries(files(server))) {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), text);
    }
    const node22 = join(INST ?? "", "node22/node_modules/.bin/node");
    const program = join(INST ?? "", name, executable);
    const line = executable.endsWith(".js") ? [existsSync(node22) ? node22 : process.execPath, program] : [program];
    const { stdout, stderr } = spawnSync(
      join(KIT ?? "", "bin/offline"),
      [process.execPath, RUN, family, home, ...line, ...args],
      { encoding: "utf8", timeout: 120_000, env: { PATH: process.env["PATH"] ?? "" } },
    );
    if (stdout === "") throw new Error(stderr);
    const {
      offered,
      result = "",
      said,
    } = JSON.parse(stdout) as {
      offered: readonly string[];
      result?: string;
      said: string;
    };
    report("mcp agents", { program: name, tools: offered.length, resultBytes: result.length });
    const found = { tools: offered.map((tool) => tool.replace(/^.*tmuxwire[_/]+/, "")).toSorted(), result, said };
    expect(found).toMatchObject({ tools: MCP_TOOLS, result: expect.stringContaining("shown-to-the-model") as string });
  },
);
