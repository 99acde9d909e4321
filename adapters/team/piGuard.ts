/**
 * Who may start and capture: the rule that pi-team has for writing. Without a person at the screen neither is allowed;
 * inside the project both need an active lease on the directory, which teamd knows. Elsewhere no lease applies.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { teamError } from "./teamErrors.ts";
import type { PiContext } from "./piApi.ts";
import { type Teamd, TeamdClient } from "./teamd.ts";

/** Why not; undefined when it may be done. @throws AppError teamd_unavailable */
export async function refusal(
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

export const noTeam = () =>
  teamError("teamd_unavailable", "no team was found: start teamd, or set PI_TEAM_ID, PI_TEAMD_URL and PI_TEAMD_TOKEN");

/** As leases name it: relative to the project of `cwd`, `.` for all of it; undefined outside. */
export function pathInProject(cwd: string, directory: string): string | undefined {
  const path = relative(projectRoot(real(cwd)), real(resolve(cwd, directory)));
  if (path === "") return ".";
  return path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path) ? undefined : path.split(sep).join("/");
}

/** The nearest directory above that is under version control; `cwd` itself where none is. */
function projectRoot(cwd: string): string {
  for (let at = cwd; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return cwd;
  }
}

/** Links resolved, so that none leads out of the project or into it unnoticed. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
