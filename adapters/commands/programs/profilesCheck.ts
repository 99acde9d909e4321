/**
 * `tmuxwire profiles check`: whether the agents that run are still drawn as their profiles know them. The profiles are those
 * that are on disk now, so that one can be corrected until all is recognised, before the daemon is restarted with it.
 */
import { findPromptBox } from "../../../daemon/readiness/promptBox.ts";
import { MAX_ROW_CHARACTERS, type Profile } from "../../../daemon/readiness/profile.ts";
import type { Profiles } from "../../../daemon/readiness/profiles.ts";
import { readScreen } from "../../../daemon/readiness/screenReading.ts";
import { screenOf } from "../../../daemon/readiness/screenRows.ts";
import { newestOf } from "../../../daemon/readiness/versions.ts";
import { toAppError } from "../../../protocol/errors.ts";
import { notFound } from "../../../protocol/text/nearestName.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { printResult } from "../../cli/jsonOutput.ts";
import { table } from "../../cli/textTable.ts";
import type { NativeAgent, ServerClient } from "../../client/client.ts";
import { connect } from "../connection/clientConnection.ts";

/** What an agent shows at one moment. Foreign text. */
interface Shown {
  readonly title: string;
  readonly lines: readonly string[];
  readonly cursor: { readonly row: number; readonly col: number };
  readonly cols: number;
  /** As the daemon judges it, from everything that it knows; undefined if it changed meanwhile. */
  readonly state: NativeAgent["state"] | undefined;
}

interface ScreenCheck {
  /** Null: the profile knows of none. */
  readonly promptBox: "found" | "not found" | null;
  /** What the title alone says; null for nothing, or nothing certain. */
  readonly title: "idle" | "busy" | "asking" | null;
  readonly screen: "idle" | "busy" | "asking" | "unknown";
  /** The patterns that match a row. */
  readonly matching: Readonly<Record<"asking" | "busy" | "busyFooter" | "ready", readonly string[]>>;
  /** Empty: the screen is recognised. */
  readonly problems: readonly string[];
  /** What may be wrong with the profile, or not. */
  readonly notes: readonly string[];
}

interface AgentCheck extends Partial<ScreenCheck> {
  readonly name: string;
  readonly agent: string;
  readonly server: string;
  readonly pane: string;
  readonly version: string | null;
  /** The newest that the profile was tested with. */
  readonly seenWith: string | null;
  readonly state: NativeAgent["state"];
  readonly why: string;
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/** @param only an agent's name or id, or a profile's. Returns the exit code: 1 unless all are recognised. */
export async function checkAgents(call: CommandCall, profiles: Profiles, only: string | undefined): Promise<number> {
  const client = await connect(call);
  const { signal } = call.io;
  const list = async (): Promise<readonly NativeAgent[]> =>
    (await client.perform<{ agents: readonly NativeAgent[] }>("listAgents", {}, {}, { signal })).agents;
  const all = await list();
  const wanted = all.filter(({ id, name, agent }) => only === undefined || [id, name, agent].includes(only));
  if (only !== undefined && wanted.length === 0) requireProfile(profiles, only, all);
  const agents: AgentCheck[] = [];
  for (const agent of wanted) {
    const check = await checkAgent(client, profiles, agent, signal);
    if (check !== undefined) agents.push(check);
  }
  await printResult(call, { agents }, agents.length === 0 ? "no agent runs\n" : drawn(agents));
  return agents.every(({ problems }) => problems.length === 0) ? 0 : 1;
}

/** A profile of which no agent runs has nothing that could be wrong. @throws AppError NOT_FOUND */
function requireProfile(profiles: Profiles, name: string, agents: readonly NativeAgent[]): void {
  const names = profiles.all.map((profile) => profile.name);
  if (names.includes(name)) return;
  const message = `neither an agent nor a profile is called ${JSON.stringify(name)}; run \`tmuxwire agents\``;
  throw notFound(message, name, [...names, ...agents.map((agent) => agent.name)]);
}

/** Undefined: it has ended meanwhile. */
async function checkAgent(
  client: ServerClient,
  profiles: Profiles,
  { id, name, agent, server, pane, version }: NativeAgent,
  signal: AbortSignal,
): Promise<AgentCheck | undefined> {
  const there = client.on(server).pane(pane);
  const now = (): Promise<NativeAgent> => client.perform("showAgent", { agent: id }, {}, { signal });
  try {
    const before = await Promise.all([now(), there.info({ signal })]);
    const capture = await there.capture({ ansi: true, signal });
    // What has changed between is not held against the profile.
    const [{ state, sinceUnixMs, why }, { title }] = await Promise.all([now(), there.info({ signal })]);
    if (state === "ended") return undefined;
    const isSameState = before[0].state === state && before[0].sinceUnixMs === sinceUnixMs;
    const isKnown = profiles.all.some((profile) => profile.kind === "agent" && profile.name === agent);
    const profile = isKnown ? profiles.named(agent, version ?? undefined) : undefined;
    const shown = {
      ...capture,
      title: before[1].title === title ? title : "",
      state: isSameState ? state : undefined,
    };
    const seenWith = newestOf(profile?.seenWith ?? []) ?? null;
    const check =
      profile === undefined ? { problems: ["there is no profile for it"], notes: [] } : checkScreen(profile, shown);
    return { name, agent, server, pane, version, seenWith, state, why, ...check };
  } catch (error) {
    if (toAppError(error).code === "NOT_FOUND") return undefined;
    throw error;
  }
}

export function checkScreen(profile: Profile, shown: Shown): ScreenCheck {
  const screen = screenOf(shown, profile.screen.rows);
  const { rows } = screen;
  const box = findPromptBox(profile, rows);
  const matching = (patterns: readonly RegExp[], first = 0): readonly string[] =>
    patterns.filter((one) => rows.slice(first).some(({ text }) => one.test(text))).map(({ source }) => source);
  const { asking, busy, busyFooter, ready, promptBox, boxExcludesDialog } = profile.screen;
  const rule = profile.titles.find(({ pattern }) => pattern.test(shown.title.slice(0, MAX_ROW_CHARACTERS)));
  const reading = readScreen(profile, screen).state;
  const check = {
    promptBox: promptBox === undefined ? null : box === undefined ? "not found" : "found",
    title: rule === undefined || rule.ambiguous ? null : rule.state,
    screen: reading === "none" ? "unknown" : reading,
    matching: {
      asking: matching(asking, box !== undefined && boxExcludesDialog ? box.last + 1 : 0),
      busy: matching(busy),
      busyFooter: box === undefined ? [] : matching(busyFooter, box.last + 1),
      ready: matching(ready),
    },
  } as const;
  return { ...check, ...found(check, shown.state) };
}

/** The daemon's states in the words of profiles. */
const READING = { ready: "idle", busy: "busy", asking: "asking" } as const;

function found(
  { promptBox, title, screen }: Omit<ScreenCheck, "matching" | "problems" | "notes">,
  state: Shown["state"],
): Pick<ScreenCheck, "problems" | "notes"> {
  if (state === "starting") return { problems: [], notes: [] };
  const judged = state === "ready" || state === "busy" || state === "asking" ? READING[state] : undefined;
  // A dialog may open while the title still says that it works.
  const said = title === "busy" && judged === "asking" ? judged : (title ?? judged);
  const who = title !== null && said === title ? "its title says" : "it is";
  const silent = said === "busy" || said === "asking" ? `${said} rules: none match while ${who} ${said}` : undefined;
  if (screen === "unknown") {
    const box = promptBox === "not found" ? ["prompt box: not found"] : [];
    return { problems: [...box, silent ?? "rules: none match its screen"], notes: [] };
  }
  if (screen !== "idle" || silent === undefined) return { problems: [], notes: [] };
  // Some draw nothing but their box while an answer is streaming.
  return said === "asking" ? { problems: [silent], notes: [] } : { problems: [], notes: [silent] };
}

function drawn(agents: readonly AgentCheck[]): string {
  const rows = agents.map(({ name, agent, version, seenWith, state, problems, notes }) => [
    name,
    agent,
    version ?? "-",
    seenWith ?? "-",
    state,
    [...(problems.length === 0 ? ["recognised"] : problems), ...notes].join("; "),
  ]);
  return table(["NAME", "AGENT", "VERSION", "SEEN WITH", "STATE", "SCREEN"], rows);
}
