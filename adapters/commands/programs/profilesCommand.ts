/**
 * `tmuxwire profiles` lists the daemon's profiles of programs and checks them against the agents that run; `tmuxwire profile
 * record` records screens for a new one.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runtimePaths } from "../../../daemon/ops/runtimePaths.ts";
import type { Profile } from "../../../daemon/readiness/profile.ts";
import type { ReadinessState } from "../../../daemon/readiness/readiness.ts";
import { READINESS_STATE_NAMES } from "../../../protocol/api/native/nativeReadiness.ts";
import { AppError } from "../../../protocol/errors.ts";
import { readAgents } from "../../agents/catalogue.ts";
import { readUserFile, replaceUserFile } from "../../hooks/userFiles.ts";
import { CLIENT_OPTIONS, connect } from "../connection/clientConnection.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { printResult } from "../../cli/jsonOutput.ts";
import type { Io } from "../../cli/cliIo.ts";
import { PANE } from "../operations/paneArguments.ts";
import { usageError } from "../../cli/parseCommand.ts";
import { table } from "../../cli/textTable.ts";

/** A larger file of recorded screens could not be reviewed by a person. */
const MAX_RECORDED_BYTES = 4_194_304;

interface Row {
  readonly name: string;
  readonly kind: string;
  readonly source: string;
  readonly seenWith: readonly string[];
  readonly state: string;
}

export const profilesCommand: CommandSpec = {
  name: "profiles",
  summary: "list profiles, or check them against running agents",
  details: [
    "Your own profiles are the *.json files in $XDG_CONFIG_HOME/tmuxwire/profiles (~/.config/tmuxwire/profiles); the daemon " +
      "reads them when it starts. Exits with 2 if one of them, or the directory, is refused.",
    "`check` compares the screens of all agents, or of those that NAME names, with the profiles as they are on disk now, and " +
      "exits with 1 unless all are recognised.",
  ],
  positionals: [
    { name: "ACTION", description: "what to do instead of listing them", choices: ["check"], optional: true },
    { name: "NAME", description: "an agent's name or id, or a profile's name", optional: true, names: "agent" },
  ],
  options: CLIENT_OPTIONS.filter(({ name }) => name !== "server"),
  examples: [
    { line: "tmuxwire profiles", does: "one line each, with the versions it was tried with" },
    { line: "tmuxwire profiles check", does: "which agents are drawn as their profiles do not know them" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const directory = directoryOf(call.io);
    const [action, only] = call.positionals;
    // Loaded here: no other command needs them.
    const { readUserProfiles } = await import("../../../daemon/readiness/userProfiles.ts");
    const { Profiles } = await import("../../../daemon/readiness/profiles.ts");
    const { profilesOf } = await import("../../agents/agentProfiles.ts");
    const own = readUserProfiles(directory);
    const ours = profilesOf(readAgents());
    const yours = own.flatMap(({ profile }) => profile ?? []);
    if (action !== undefined) {
      const { checkAgents } = await import("./profilesCheck.ts");
      return checkAgents(call, new Profiles(ours, yours), only);
    }
    const stateIn = await recordedStates(directory);
    const names = new Set(yours.filter(({ versions }) => versions === undefined).map(({ name }) => name));
    const profiles: Row[] = [
      ...own.map(({ file, profile, refused }) =>
        profile === undefined
          ? { name: file, kind: "-", source: "own", seenWith: [], state: `refused: ${refused}` }
          : rowOf(profile, `${inUse(profile)}${stateIn(profile)}`),
      ),
      ...new Profiles(ours).all.map((profile) =>
        rowOf(profile, names.has(profile.name) ? "replaced by your own" : inUse(profile)),
      ),
    ];
    const rows = profiles.map(({ name, kind, source, seenWith, state }) => [
      name,
      kind,
      source,
      seenWith.length === 0 ? "-" : seenWith.join(","),
      state,
    ]);
    await printResult(call, { profiles }, table(["NAME", "KIND", "SOURCE", "SEEN WITH", "STATE"], rows));
    return own.some(({ refused }) => refused !== undefined) ? 2 : 0;
  },
};

export const profileCommand: CommandSpec = {
  name: "profile",
  summary: "record a pane's screen for a profile",
  details: [
    "Adds the pane's current screen to NAME.md beside your own profiles. Say with --state what the program is doing, and " +
      "record as many states as you can; `tmuxwire profiles` then tests NAME.json against all of them.",
  ],
  positionals: [
    { name: "ACTION", description: "what to do", choices: ["record"] },
    { name: "NAME", description: "the profile's name" },
    PANE,
  ],
  options: [
    {
      name: "state",
      type: "text",
      value: "STATE",
      description: "what the program is doing now",
      choices: READINESS_STATE_NAMES,
      default: "unknown",
    },
    { name: "as", type: "text", value: "TITLE", description: "a title for the screen", default: "the time" },
    ...CLIENT_OPTIONS,
  ],
  examples: [
    { line: "tmuxwire profile record mine work --state idle", does: "its screen while it waits for a prompt" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options, positionals } = call;
    const [, name = "", pane = ""] = positionals;
    if (!/^[a-z][a-z0-9-]{0,31}$/.test(name)) throw usageError("NAME must be a-z, 0-9 and -, and begin with a letter");
    const client = (await connect(call)).pane(pane);
    const [{ title, command }, { lines, cursor, cols, rows }] = await Promise.all([
      client.info({ signal: io.signal }),
      client.capture({ ansi: true, signal: io.signal }),
    ]);
    const state = (options.text("state") ?? "unknown") as ReadinessState;
    const { writeRecordedScreen } = await import("../../../daemon/readiness/recordedScreens.ts");
    const screen = writeRecordedScreen({
      name: options.text("as") ?? new Date().toISOString(),
      state,
      judged: state,
      title,
      command,
      cursor,
      cols,
      rows,
      labels: [],
      question: [],
      lines,
    });
    const file = join(directoryOf(io), `${name}.md`);
    const before = Buffer.from(readUserFile(file) ?? "");
    const section = Buffer.from(`${before.length === 0 || before.at(-1) === 10 ? "" : "\n"}${screen}`);
    if (before.length + section.length > MAX_RECORDED_BYTES) {
      throw new AppError("RESOURCE_LIMIT", `${file} is full; move it away or remove screens from it`);
    }
    replaceUserFile(file, Buffer.concat([before, section]), 0o600);
    await printResult(call, { file, state }, `${file}\n`);
    return 0;
  },
};

const directoryOf = ({ env, homeDir }: Io): string => runtimePaths(env, homeDir).profilesPath;

const inUse = ({ versions }: Profile): string => (versions === undefined ? "in use" : `in use for ${versions}`);

const rowOf = ({ name, kind, source, seenWith }: Profile, state: string): Row => ({
  name,
  kind,
  source,
  seenWith,
  state,
});

/** A profile's result on the screens recorded for it. */
async function recordedStates(directory: string): Promise<(profile: Profile) => string> {
  const { judgeRecorded, readRecordedScreens } = await import("../../../daemon/readiness/recordedScreens.ts");
  return (profile) => {
    let document: string;
    try {
      document = readFileSync(join(directory, `${profile.name}.md`), "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === "ENOENT" ? "" : `, cannot read its recorded screens (${code})`;
    }
    const screens = readRecordedScreens(document).filter(({ state }) => READINESS_STATE_NAMES.includes(state));
    const wrong = screens.filter((screen) => judgeRecorded(profile, screen) !== screen.judged);
    const names = wrong.slice(0, 3).map(({ name }) => name);
    const words = wrong.length === 0 ? "" : `, wrong: ${names.join("; ")}`;
    return `, ${screens.length - wrong.length} of ${screens.length} recorded screens right${words}`;
  };
}
