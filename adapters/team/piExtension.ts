/**
 * The extension for pi (`tmuxwire/pi-extension`): four tools that call the tmuxwire daemon, which has the one connection to
 * the team's tmux. It runs inside pi, so it loads nothing native, keeps no state except where it started which worker,
 * writes no file, and starts no program except, if allowed, the daemon.
 */
import { randomUUID } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { resolve, dirname, isAbsolute, join, relative, sep } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import { DaemonClient, type DaemonClientOptions, TeamToolError } from "./teamd/daemonClient.ts";
import { defaultAgentId, discoverTeamd, discoverTeamId, type Environment } from "./teamd/discovery.ts";
import { teamErrorName, teamError } from "./teamErrors.ts";
import type { PiApi, PiContext, ToolCallEvent, ToolResult } from "./piApi.ts";
import { isToolName, type ToolName, TOOLS } from "./piTools.ts";
import { type Teamd, TeamdClient } from "./teamd/teamd.ts";

export interface PiExtensionOptions extends Omit<DaemonClientOptions, "env"> {
  /** Default: this process's environment. */
  readonly env?: Environment | undefined;
}

type Params = Readonly<Record<string, unknown>>;

interface ToolCall {
  readonly name: ToolName;
  readonly id: string;
  readonly params: Params;
  readonly signal: AbortSignal | undefined;
  readonly context: PiContext;
}

/** Tool calls that the handler has allowed and pi has not executed yet. */
const MAX_ALLOWED_CALLS = 256;
/** How many workers' directories are remembered. */
const MAX_REMEMBERED_WORKERS = 1_024;

export default function teamTmuxExtension(pi: PiApi, options: PiExtensionOptions = {}): void {
  const extension = new TeamTmux(options);
  for (const name of Object.keys(TOOLS) as ToolName[]) {
    const { label, description, parameters } = TOOLS[name];
    pi.registerTool({
      name,
      label,
      description,
      parameters,
      execute: (id, params, signal, _onUpdate, context) =>
        extension.execute({ name, id, params, signal, context: context ?? { hasUI: false } }),
    });
  }
  pi.on("tool_call", (...args) => extension.toolCall(args));
}

class TeamTmux {
  readonly #daemon: DaemonClient;
  readonly #options: PiExtensionOptions;
  readonly #allowed = new Set<string>();
  readonly #workers = new Map<string, string>();

  constructor(options: PiExtensionOptions) {
    this.#options = options;
    this.#daemon = new DaemonClient({ ...options, env: this.#env });
  }

  get #env(): Environment {
    return this.#options.env ?? process.env;
  }

  get #homeDir(): string {
    return this.#options.homeDir ?? this.#env["HOME"] ?? homedir();
  }

  /** pi calls this before it executes a tool call; the arguments come in either order. */
  async toolCall(args: readonly unknown[]): Promise<{ readonly block: true; readonly reason: string } | undefined> {
    const event = args.find((arg): arg is ToolCallEvent => hasKey(arg, "toolName"));
    const context = args.find((arg): arg is PiContext => hasKey(arg, "hasUI")) ?? { hasUI: false };
    if (event === undefined || !isToolName(event.toolName)) return undefined;
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
  async execute(call: ToolCall): Promise<ToolResult> {
    const { name, id, params, context } = call;
    try {
      requireKnown(name, params);
      // Usually checked by the handler already; checked here for hosts that call no handler.
      if (!this.#allowed.delete(id)) {
        const reason = await this.#refusal(name, params, context);
        if (reason !== undefined) throw new TeamToolError("blocked", reason);
      }
      return await this.#run(call);
    } catch (error) {
      throw toolError(error);
    }
  }

  async #run({ name, id, params, signal, context }: ToolCall): Promise<ToolResult> {
    const team = await this.#team();
    switch (name) {
      case "team_tmux_start": {
        const cwd = this.#directory(params, context);
        const idempotencyKey = `${id}:${randomUUID()}`;
        const body = { ...params, ...team.caller, cwd, idempotencyKey, teamd: team.teamd };
        const result = await this.#daemon.call("start", body, signal);
        this.#remember(result["sessionName"], cwd);
        return toolResult(result);
      }
      case "team_tmux_list":
        return toolResult(await this.#daemon.call("list", { ...params, ...team.caller }, signal));
      case "team_tmux_attach":
        return toolResult(await this.#daemon.call("attach", { ...params, ...team.caller }, signal));
      case "team_tmux_capture": {
        const result = await this.#daemon.call("capture", { ...params, ...team.caller, teamd: team.teamd }, signal);
        return toolResult(result, typeof result["text"] === "string" ? result["text"] : undefined);
      }
    }
  }

  async #refusal(name: ToolName, params: Params, context: PiContext): Promise<string | undefined> {
    const findTeamd = (): Promise<Teamd | undefined> => this.#teamd();
    switch (name) {
      case "team_tmux_start":
        return refusal("Start", this.#directory(params, context), context, findTeamd);
      case "team_tmux_capture": {
        const worker = this.#workers.get(String(params["sessionName"]));
        return refusal("Capture", worker ?? context.cwd ?? process.cwd(), context, findTeamd);
      }
      case "team_tmux_list":
      case "team_tmux_attach":
        return undefined;
    }
  }

  #directory(params: Params, context: PiContext): string {
    const cwd = context.cwd ?? process.cwd();
    return typeof params["cwd"] === "string" ? resolve(cwd, params["cwd"]) : cwd;
  }

  #teamd(): Promise<Teamd | undefined> {
    return discoverTeamd({ env: this.#env, homeDir: this.#homeDir });
  }

  async #team(): Promise<{ readonly caller: object; readonly teamd: object | undefined }> {
    const teamd = await this.#teamd();
    const teamId = teamd?.teamId ?? (await discoverTeamId({ env: this.#env, homeDir: this.#homeDir }));
    if (teamId === undefined) throw noTeam();
    const caller = { teamId, agentId: teamd?.agentId ?? defaultAgentId(this.#env) };
    return { caller, teamd: teamd === undefined ? undefined : { url: teamd.url, token: teamd.token } };
  }

  #remember(sessionName: unknown, cwd: string): void {
    if (typeof sessionName !== "string" || this.#workers.size >= MAX_REMEMBERED_WORKERS) return;
    this.#workers.set(sessionName, cwd);
  }
}

/** For hosts that do not check parameters. @throws TeamToolError */
function requireKnown(name: ToolName, params: Params): void {
  const unknown = Object.keys(params).find((key) => !Object.hasOwn(TOOLS[name].parameters.properties, key));
  if (unknown === undefined) return;
  throw new TeamToolError("invalid_argument", `${unknown}: ${name} has no such parameter`);
}

const toolResult = (details: object, text = JSON.stringify(details, undefined, 2)): ToolResult => ({
  content: [{ type: "text", text }],
  details,
});

function toolError(error: unknown): Error {
  if (!(error instanceof AppError)) return error instanceof Error ? error : new Error(String(error));
  return new TeamToolError(teamErrorName(error) ?? error.code.toLowerCase(), error.message, { cause: error });
}

const hasKey = (value: unknown, key: string): boolean => typeof value === "object" && value !== null && key in value;

/**
 * Who may start and capture follows pi-team's rule for writing. Without a UI neither is allowed; inside the project both
 * need an active lease on the directory, which teamd knows. Elsewhere no lease applies.
 * Returns why it is refused; undefined if it is allowed. @throws AppError teamd_unavailable
 */
async function refusal(
  what: "Start" | "Capture",
  directory: string,
  context: PiContext,
  findTeamd: () => Promise<Teamd | undefined>,
): Promise<string | undefined> {
  if (!context.hasUI) return `${what} blocked: conservative mode requires UI and an active lease.`;
  const path = pathInProject(context.cwd ?? process.cwd(), directory);
  if (path === undefined) return undefined;
  const teamd = await findTeamd();
  if (teamd === undefined) throw noTeam();
  const { allow, reason } = await new TeamdClient(teamd).canWrite(path);
  if (allow) return undefined;
  const refused = `${what} blocked: active lease required (${reason}).`;
  context.ui?.notify(refused, "warning");
  return refused;
}

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
