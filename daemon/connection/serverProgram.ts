/**
 * Finds the version of the tmux server at a socket without talking to it, because versions before 3.6 and from 3.6 on cannot
 * talk to each other, and do not say so (docs/tmuxFacts.md, Versions). If the host knows which process listens, that
 * process's program is run with `-V`, even if an upgrade has replaced the file. Otherwise the version is unknown.
 */
import { AppError } from "../../protocol/errors.ts";
import type { Host } from "../host/host.ts";
import { askVersion, releaseOf } from "./tmuxVersion.ts";

/** The first release with the new protocol (imsg passes descriptors differently). */
const SPEAKS_ANEW = 306;

interface ProgramQuestion {
  readonly socketPath: string;
  /** The version that `tmux -V` prints for the program that our clients run. */
  readonly ours: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Why our clients cannot talk to the server at this socket; undefined if they can, or if nothing is known. */
export class ServerProgram {
  readonly #host: Host;
  #asked: { readonly program: string; readonly version: string | undefined } | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  async clash({ socketPath, ours, env }: ProgramQuestion): Promise<AppError | undefined> {
    const { clients, processes, sockets } = this.#host;
    const pid = sockets.listenerOf(socketPath, "tmux");
    if (pid === undefined) return undefined;
    const path = processes.programOf(pid);
    const executable = processes.executableNow(pid);
    if (path === undefined || executable === undefined) return undefined;
    const program = `${pid} ${executable}`;
    // Run only once for the same process and program.
    if (this.#asked?.program !== program) this.#asked = { program, version: await askVersion(path, env, clients.run) };
    const { version } = this.#asked;
    if (version === undefined || speech(version) === speech(ours)) return undefined;
    return new AppError(
      "TMUX_UNAVAILABLE",
      `the tmux server at ${socketPath} (pid ${pid}) is ${version}, to which our ${ours} cannot connect: put the server's version first on PATH, or kill that server with the programs in it`,
      { details: { reason: "tmux_versions_differ", server: version, client: ours } },
    );
  }
}

const speech = (version: string): "old" | "new" =>
  (releaseOf(version.replace(/^tmux /, "")) ?? Infinity) < SPEAKS_ANEW ? "old" : "new";
