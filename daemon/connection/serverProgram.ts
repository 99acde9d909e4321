/**
 * Which tmux the server at a socket is, without talking to it: versions before 3.6 and from 3.6 on cannot talk to each
 * other, and do not say so (docs/tmuxFacts.md, Versions). Where the host knows which process listens, its program
 * reports its version, even if an upgrade has replaced the file. Elsewhere the version is unknown.
 */
import { AppError } from "../../protocol/errors.ts";
import type { Host } from "../host/host.ts";
import { askVersion, releaseOf } from "./tmuxVersion.ts";

/** The first release with the new protocol (imsg passes descriptors differently). */
const SPEAKS_ANEW = 306;

interface ProgramQuestion {
  readonly socketPath: string;
  /** What `tmux -V` says of the program that our clients run. */
  readonly ours: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Why our clients cannot talk to the server at this socket; undefined when they can, or nothing is known. */
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
    // The same process of the same program has the same version: it is run once.
    if (this.#asked?.program !== program) this.#asked = { program, version: await askVersion(path, env, clients.run) };
    const { version } = this.#asked;
    if (version === undefined || speech(version) === speech(ours)) return undefined;
    return new AppError(
      "TMUX_UNAVAILABLE",
      `the tmux server at ${socketPath} (process ${pid}) is ${version}, and our ${ours} cannot talk to it: put the server's version first on PATH, or end that server, which ends the programs in it`,
      { details: { reason: "tmux_versions_differ", server: version, client: ours } },
    );
  }
}

const speech = (version: string): "old" | "new" =>
  (releaseOf(version.replace(/^tmux /, "")) ?? Infinity) < SPEAKS_ANEW ? "old" : "new";
