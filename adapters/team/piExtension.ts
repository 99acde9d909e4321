/**
 * The extension for pi (`tmuxwire/pi-extension`): tools that call the tmuxwire daemon, which has the one connection to the
 * team's tmux. It runs inside pi, so it loads nothing native, keeps no state except where it started which worker, writes no
 * file, and starts no program except, if allowed, the daemon.
 */
import { randomUUID } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { resolve, dirname, isAbsolute, join, relative, sep } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import type { Fields } from "../../protocol/text/jsonObject.ts";
import { DaemonClient, type DaemonClientOptions, TeamToolError } from "./teamd/daemonClient.ts";
import { defaultAgentId, discoverTeamd, discoverTeamId, type Environment } from "./teamd/discovery.ts";
import { teamErrorWord, teamError } from "./teamErrors.ts";
import { MAX_ALLOWED_CALLS, MAX_REMEMBERED_WORKERS } from "./teamLimits.ts";
import { TOOLS, unknownParameter } from "./piTools.ts";
import { type Teamd, TeamdClient } from "./teamd/teamd.ts";

export interface PiExtensionOptions extends Omit<DaemonClientOptions, "env"> {
  /** Default: this process's environment. */
  readonly env?: Environment | undefined;
}

export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly details: unknown;
}

interface PiContext {
  readonly hasUI: boolean;
  readonly cwd?: string | undefined;
  readonly ui?: { notify(message: string, level?: "info" | "warning" | "error"): void } | undefined;
}

type Execute = (
  toolCallId: string,
  params: Fields,
  signal?: AbortSignal,
  onUpdate?: unknown,
  context?: PiContext,
) => Promise<ToolResult>;

export interface PiTool extends Readonly<Pick<(typeof TOOLS)[string], "label" | "description" | "parameters">> {
  readonly name: string;
  readonly execute: Execute;
}

/** The part of pi's extension interface that is used. */
export interface PiApi {
  registerTool(tool: PiTool): void;
  on(event: string, handler: (...args: unknown[]) => unknown): void;
}

interface ToolCallEvent {
  readonly toolName: string;
  readonly toolCallId?: string | undefined;
  readonly input?: Fields | undefined;
}

const START = "team_tmux_start";

export default function teamTmuxExtension(pi: PiApi, options: PiExtensionOptions = {}): void {
  const extension = new TeamTmux(options);
  for (const [name, { label, description, parameters }] of Object.entries(TOOLS)) {
    const execute: Execute = (id, params, signal, _onUpdate, context = { hasUI: false }) =>
      extension.execute(name, id, params, signal, context);
    pi.registerTool({ name, label, description, parameters, execute });
  }
  pi.on("tool_call", (...args) => extension.toolCall(args));
}

class TeamTmux {
  readonly #daemon: DaemonClient;
  readonly #env: Environment;
  readonly #homeDir: string;
  readonly #allowed = new Set<string>();
  readonly #workers = new Map<string, string>();

  constructor(options: PiExtensionOptions) {
    this.#env = options.env ?? process.env;
    this.#homeDir = options.homeDir ?? this.#env["HOME"] ?? homedir();
    this.#daemon = new DaemonClient({ ...options, env: this.#env });
  }

  /** pi calls this before it executes a tool call; the arguments come in either order. */
  async toolCall(args: readonly unknown[]): Promise<{ readonly block: true; readonly reason: string } | undefined> {
    const event = args.find((arg): arg is ToolCallEvent => hasKey(arg, "toolName"));
    const context = args.find((arg): arg is PiContext => hasKey(arg, "hasUI")) ?? { hasUI: false };
    if (event === undefined || !Object.hasOwn(TOOLS, event.toolName)) return undefined;
    const reason = await this.#refusal(event.toolName, event.input ?? {}, context).catch((error: unknown) => {
      const words = toolError(error).message;
      if (context.hasUI) context.ui?.notify(words, "warning");
      return words;
    });
    if (reason !== undefined) return { block: true, reason };
    if (event.toolCallId !== undefined && this.#allowed.size < MAX_ALLOWED_CALLS) this.#allowed.add(event.toolCallId);
    return undefined;
  }

  /** @throws TeamToolError */
  async execute(
    name: string,
    id: string,
    params: Fields,
    signal: AbortSignal | undefined,
    context: PiContext,
  ): Promise<ToolResult> {
    try {
      // For hosts that do not check parameters.
      const unknown = unknownParameter(name, params);
      if (unknown !== undefined) {
        throw new TeamToolError("invalid_argument", `${unknown}: ${name} has no such parameter`);
      }
      // Usually checked by the handler already; checked here for hosts that call no handler.
      if (!this.#allowed.delete(id)) {
        const reason = await this.#refusal(name, params, context);
        if (reason !== undefined) throw new TeamToolError("blocked", reason);
      }
      const { posts, once } = TOOLS[name] ?? {};
      const teamd = await this.#teamd();
      const teamId = teamd?.teamId ?? (await discoverTeamId({ env: this.#env, homeDir: this.#homeDir }));
      if (teamId === undefined) throw noTeam();
      const isStart = name === START;
      const cwd = directoryOf(params, context);
      const result = await this.#daemon.call(
        name.replace("team_tmux_", ""),
        {
          ...params,
          teamId,
          agentId: teamd?.agentId ?? defaultAgentId(this.#env),
          ...(isStart ? { cwd } : {}),
          ...(once ? { idempotencyKey: `${id}:${randomUUID()}` } : {}),
          ...(posts && teamd !== undefined ? { teamd: { url: teamd.url, token: teamd.token } } : {}),
        },
        signal,
      );
      const { sessionName, text } = result;
      if (isStart && typeof sessionName === "string" && this.#workers.size < MAX_REMEMBERED_WORKERS) {
        this.#workers.set(sessionName, cwd);
      }
      const shown =
        name === "team_tmux_capture" && typeof text === "string" ? text : JSON.stringify(result, undefined, 2);
      return { content: [{ type: "text", text: shown }], details: result };
    } catch (error) {
      throw toolError(error);
    }
  }

  /**
   * Who may start and capture follows pi-team's rule for writing. Without a UI neither is allowed; inside the project both
   * need an active lease on the directory (of a worker, as far as this extension started it), which teamd knows. Elsewhere
   * no lease applies. Returns why it is refused; undefined if it is allowed. @throws AppError teamd_unavailable
   */
  async #refusal(name: string, params: Fields, context: PiContext): Promise<string | undefined> {
    const { guarded } = TOOLS[name] ?? {};
    if (guarded === undefined) return undefined;
    if (!context.hasUI) return `${guarded} blocked: conservative mode requires UI and an active lease.`;
    const worker = name === START ? undefined : this.#workers.get(String(params["sessionName"]));
    const path = pathInProject(context.cwd ?? process.cwd(), worker ?? directoryOf(params, context));
    if (path === undefined) return undefined;
    const teamd = await this.#teamd();
    if (teamd === undefined) throw noTeam();
    const { allow, reason } = await new TeamdClient(teamd).canWrite(path);
    if (allow) return undefined;
    const refused = `${guarded} blocked: active lease required (${reason}).`;
    context.ui?.notify(refused, "warning");
    return refused;
  }

  #teamd(): Promise<Teamd | undefined> {
    return discoverTeamd({ env: this.#env, homeDir: this.#homeDir });
  }
}

const directoryOf = ({ cwd: wanted }: Fields, { cwd = process.cwd() }: PiContext): string =>
  typeof wanted === "string" ? resolve(cwd, wanted) : cwd;

function toolError(error: unknown): Error {
  if (!(error instanceof AppError)) return error instanceof Error ? error : new Error(String(error));
  return new TeamToolError(teamErrorWord(error), error.message, error);
}

const hasKey = (value: unknown, key: string): boolean => typeof value === "object" && value !== null && key in value;

const noTeam = () =>
  teamError("teamd_unavailable", "found no team: start teamd, or set PI_TEAM_ID, PI_TEAMD_URL and PI_TEAMD_TOKEN");

/** A directory as leases name it: relative to the project of `cwd`, `.` for the whole project; undefined outside of it. */
export function pathInProject(cwd: string, directory: string): string | undefined {
  const path = relative(projectRoot(real(cwd)), real(resolve(cwd, directory)));
  if (path === "") return ".";
  return path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path) ? undefined : path.split(sep).join("/");
}

/** The nearest directory above that has a `.git`; else `cwd` itself. */
function projectRoot(cwd: string): string {
  for (let at = cwd; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return cwd;
  }
}

/** The path with symbolic links resolved, so that no link leads out of the project or into it unnoticed. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
