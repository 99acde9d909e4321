/**
 * Finds teamd: from the environment, a token file, or the `runtime.json` that teamd keeps in its team's directory, in the
 * order of pi-team's own client (docs/contracts/team.md §1). Reads only.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fieldsOf, parseJson } from "../../../protocol/text/jsonObject.ts";
import { teamError } from "../teamErrors.ts";
import { MAX_TEAMD_FILE_CHARS, MAX_TEAMS } from "../teamLimits.ts";
import { type Teamd, TeamdClient } from "./teamd.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

interface DiscoveryInputs {
  readonly env: Environment;
  readonly homeDir: string;
  /** Only this team. */
  readonly teamId?: string | undefined;
}

const set = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

/** Converts a name to an agent's name as pi-team's client does. */
const asAgentName = (name: string | undefined): string =>
  (set(name) ?? "").replaceAll(/[^a-zA-Z0-9._-]+/g, "-").replaceAll(/^-+|-+$/g, "");

/** The default author of posts: the name that pi-team's client uses, so that its leases apply to us. */
export function defaultAgentId(env: Environment): string {
  const given = set(env["PI_AGENT_ID"]);
  if (given !== undefined) return given;
  const user = [env["USER"], env["LOGNAME"], env["USERNAME"]].map(asAgentName).find((name) => name !== "");
  return user === undefined ? `agent-${process.pid}` : `${user}-auto`;
}

/** Undefined if none is found. */
export async function discoverTeamd(inputs: DiscoveryInputs): Promise<Teamd | undefined> {
  const agentId = defaultAgentId(inputs.env);
  return (await fromEnvironment(inputs, agentId)) ?? (await fromRuntimeFile(inputs, agentId));
}

/** Whose teamd a request means, which may say where it is. */
interface TeamdRequest {
  readonly teamId: string;
  readonly agentId?: string | undefined;
  readonly teamd?: Pick<Teamd, "url" | "token"> | undefined;
}

/** @throws AppError teamd_unavailable, invalid_argument */
export type TeamdOf = (request: TeamdRequest) => Promise<TeamdClient>;

export const teamdFinder =
  ({ env, homeDir }: DiscoveryInputs): TeamdOf =>
  async ({ teamId, agentId = defaultAgentId(env), teamd }) => {
    const found = teamd ?? (await discoverTeamd({ env, homeDir, teamId }));
    if (found !== undefined) return new TeamdClient({ url: found.url, token: found.token, teamId, agentId });
    throw teamError("teamd_unavailable", `found no teamd for team ${teamId}; run \`teamd --team ${teamId}\``);
  };

/** The team of the request, whether or not its teamd runs; enough for listing and attaching. */
export async function discoverTeamId(inputs: DiscoveryInputs): Promise<string | undefined> {
  return inputs.teamId ?? set(inputs.env["PI_TEAM_ID"]) ?? (await discoverTeamd(inputs))?.teamId;
}

async function fromEnvironment({ env, teamId }: DiscoveryInputs, agentId: string): Promise<Teamd | undefined> {
  const named = set(env["PI_TEAM_ID"]);
  if (named === undefined || (teamId !== undefined && teamId !== named)) return undefined;
  let [url, token] = [set(env["PI_TEAMD_URL"]), set(env["PI_TEAMD_TOKEN"])];
  const file = set(env["PI_TEAMD_TOKEN_FILE"]);
  if ((url === undefined || token === undefined) && file !== undefined) {
    const kept = await readTokenFile(file);
    url ??= kept.url;
    token ??= kept.token;
  }
  return url === undefined || token === undefined ? undefined : { url, token, teamId: named, agentId };
}

async function fromRuntimeFile(inputs: DiscoveryInputs, agentId: string): Promise<Teamd | undefined> {
  const { env, homeDir } = inputs;
  const root = set(env["PI_TEAM_WORKSPACE_ROOT"]) ?? join(homeDir, ".pi", "teams");
  const wanted = inputs.teamId ?? set(env["PI_TEAM_ID"]);
  const names = wanted === undefined ? await readdir(root).catch(() => []) : [wanted];
  const found = await Promise.all(
    names.slice(0, MAX_TEAMS).map(async (name) => {
      const path = join(root, name, "runtime.json");
      const stats = await stat(path).catch(() => undefined);
      return stats === undefined ? [] : [{ name, path, changedMs: stats.mtimeMs }];
    }),
  );
  for (const { name, path } of found.flat().sort((a, b) => b.changedMs - a.changedMs)) {
    const { url, token } = await readTokenFile(path);
    if (url !== undefined && token !== undefined) return { url, token, teamId: name, agentId };
  }
  return undefined;
}

/** Reads a JSON object, or a line that is the token. */
async function readTokenFile(path: string): Promise<Partial<Readonly<Record<"url" | "token", string | undefined>>>> {
  const text = (await readFile(path, "utf8").catch(() => "")).slice(0, MAX_TEAMD_FILE_CHARS).trim();
  if (!text.startsWith("{")) return { token: set(text.split(/\r?\n/u)[0]) };
  const { url, token } = fieldsOf(parseJson(text)) ?? {};
  return { url: set(url), token: set(token) };
}
