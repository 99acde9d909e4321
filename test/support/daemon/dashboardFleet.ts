/**
 * Many agents as a person has them who looks at the dashboard's page: programs of the known profiles in windows of the
 * user's own tmux, five to a session, half of them jobs of a shell. The daemon finds them by their processes, as it finds real ones.
 */
import { join } from "node:path";
import { AGENT_DIRECTORY, AGENT_PROFILES, AgentChannel, type AgentName } from "../agents/agentPrograms.ts";
import type { CliSandbox } from "./cliSandbox.ts";

const WINDOWS_OF_A_SESSION = 5;

export interface FleetAgent {
  readonly name: string;
  readonly program: AgentName;
  readonly channel: AgentChannel;
  /** Its pane stays when it ends, and it is started there anew; otherwise it gets a new one. */
  readonly isShellJob: boolean;
  /** The pane that it is in, or was in last. */
  readonly pane: string;
  /** Starts it, the first time or anew. Returns the pane; it may not have drawn anything yet. */
  start(): string;
}

interface DashboardFleet extends AsyncDisposable {
  readonly socketPath: string;
  readonly agents: readonly FleetAgent[];
  tmux(...args: readonly string[]): string;
}

/** @param programs in turn, for as many agents as there are to be */
export async function dashboardFleet(
  sandbox: CliSandbox,
  count: number,
  programs: readonly AgentName[],
): Promise<DashboardFleet> {
  const socketPath = sandbox.path("run/tmux-user.sock");
  const tmux = (...args: readonly string[]): string => sandbox.tmux(socketPath, ...args).trim();
  const channels: AgentChannel[] = [];
  for (let at = 0; at < count; at += 1) channels.push(await AgentChannel.open(sandbox.root));
  const programOf = (at: number): AgentName => programs[at % programs.length]!;
  // An executable has no arguments of its own but the number of the agent that it is.
  const words = channels.map((channel, at) => channel.argv(programOf(at), { busyMs: 0 }).slice(2));
  const executable = (program: AgentName): string => `#!${process.execPath}
process.argv.splice(2, 1, ...${JSON.stringify(words)}[Number(process.argv[2])]);
void import(${JSON.stringify(join(AGENT_DIRECTORY, `${program}.mjs`))});
`;
  const used = [...new Set(programs.slice(0, count))];
  const scripts = Object.fromEntries(used.map((program) => [AGENT_PROFILES[program], executable(program)]));
  const bin = sandbox.binaries("bin", scripts);
  const size = ["-x", "100", "-y", "30"];
  for (let at = 0; at < count; at += WINDOWS_OF_A_SESSION) {
    const session = `s${at / WINDOWS_OF_A_SESSION}`;
    // A shell of the person's own, which also keeps the session.
    tmux("-f", "/dev/null", "new-session", "-d", "-s", session, ...size, "--", "/bin/sh");
  }
  tmux("set-option", "-g", "default-command", "exec /bin/sh");
  const agents = channels.map((channel, at): FleetAgent => {
    const name = `a${at}`;
    const session = `=s${Math.floor(at / WINDOWS_OF_A_SESSION)}:`;
    const argv = [join(bin, AGENT_PROFILES[programOf(at)]), String(at)];
    const isShellJob = at % 2 === 0;
    const inWindow = (...command: readonly string[]): string =>
      tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-n", name, "-t", session, ...command);
    let pane = "";
    return {
      name,
      program: programOf(at),
      channel,
      isShellJob,
      get pane() {
        return pane;
      },
      start: () => {
        if (!isShellJob) pane = inWindow("--", ...argv);
        else {
          if (pane === "") pane = inWindow("--", "/bin/sh");
          tmux("send-keys", "-t", pane, "-l", argv.join(" "));
          tmux("send-keys", "-t", pane, "Enter");
        }
        return pane;
      },
    };
  });
  return {
    socketPath,
    agents,
    tmux,
    [Symbol.asyncDispose]: async () => {
      for (const channel of channels) await channel[Symbol.asyncDispose]();
    },
  };
}
