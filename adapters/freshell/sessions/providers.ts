/** The programs of sessions, as data: how each is started, and what parses its lines. */
import type { CodingProvider } from "../../../protocol/api/freshell/sessionNames.ts";
import type { CodingOptions, SdkOptions } from "../../../protocol/api/freshell/sessions.ts";
import { AppError } from "../../../protocol/errors.ts";
import { claudeEvents } from "../../agents/claude/claudeStream.ts";
import { codexEvents } from "../../agents/codex/codexStream.ts";
import type { CodingParser } from "../../agents/agentStream.ts";

interface StreamingProvider {
  readonly args: (options: CodingOptions) => readonly string[];
  /** One for each session. */
  readonly parser: () => CodingParser;
}

/** An option with its value, where there is one. */
const option = (name: string, value: string | number | undefined): readonly string[] =>
  value === undefined ? [] : [name, String(value)];

/** A prompt that begins with a dash would be taken for an option, or for the end of them. */
const isPlain = (prompt: string): boolean => !prompt.startsWith("-");

/** Claude Code's own ids: it would search for any other by name. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isClaudeSession = (id: string): boolean => UUID.test(id);

/** Programs without a JSON stream are not here. */
const STREAMING: Readonly<Partial<Record<CodingProvider, StreamingProvider>>> = {
  claude: {
    args: ({ prompt, resumeSessionId, model, maxTurns, permissionMode }) => {
      const options = [
        "--output-format",
        "stream-json",
        "--verbose",
        ...option("--resume", resumeSessionId),
        ...option("--model", model),
        ...option("--max-turns", maxTurns),
        ...option("--permission-mode", permissionMode),
      ];
      return isPlain(prompt) ? ["-p", prompt, ...options] : ["-p", ...options, "--", prompt];
    },
    parser: claudeEvents,
  },
  codex: {
    args: ({ prompt, model, sandbox }) => [
      "exec",
      "--json",
      ...option("--model", model),
      ...option("--sandbox", sandbox),
      ...(isPlain(prompt) ? [prompt] : ["--", prompt]),
    ],
    parser: codexEvents,
  },
};

/** @throws AppError INVALID_ARGUMENT */
export function streamingProvider(name: CodingProvider, { resumeSessionId }: CodingOptions): StreamingProvider {
  const provider = STREAMING[name];
  if (provider === undefined) {
    throw new AppError("INVALID_ARGUMENT", `Provider not supported: ${name}`, { details: { reason: "provider" } });
  }
  if (name === "codex" && resumeSessionId !== undefined) {
    throw new AppError(
      "INVALID_ARGUMENT",
      'codex goes on with a session in a terminal only: POST /api/terminals with mode:"codex" and resumeSessionId',
    );
  }
  if (name === "claude") requireClaudeSession(resumeSessionId);
  return provider;
}

/** @throws AppError INVALID_ARGUMENT */
export function sdkArgs({ resumeSessionId, model, permissionMode, effort }: SdkOptions): readonly string[] {
  requireClaudeSession(resumeSessionId);
  return [
    "--output-format",
    "stream-json",
    "--input-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    // It asks over the pipe.
    "--permission-prompt-tool",
    "stdio",
    ...option("--resume", resumeSessionId),
    ...option("--model", model),
    ...option("--permission-mode", permissionMode),
    ...(permissionMode === "bypassPermissions" ? ["--allow-dangerously-skip-permissions"] : []),
    ...option("--effort", effort),
  ];
}

function requireClaudeSession(id: string | undefined): void {
  if (id === undefined || isClaudeSession(id)) return;
  throw new AppError(
    "INVALID_ARGUMENT",
    "resumeSessionId must be the UUID of a session of claude: use its cliSessionId",
  );
}
