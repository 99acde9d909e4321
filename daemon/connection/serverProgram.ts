/**
 * Which tmux the server at a socket is, without talking to it: versions before and from 3.6 on cannot talk to each other,
 * and do not say so (docs/tmuxFacts.md, Versions). Linux tells which process listens, and its program says its version,
 * also when its file has been replaced by an upgrade. Elsewhere nothing is known, and nothing is claimed.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { AppError } from "../../protocol/errors.ts";
import { askVersion, releaseOf } from "./tmuxVersion.ts";

/** The first release that speaks otherwise (imsg passes descriptors in another way). */
const SPEAKS_ANEW = 306;

export interface ProgramQuestion {
  readonly socketPath: string;
  /** What `tmux -V` said of the program that our clients are made of. */
  readonly ours: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Why our clients cannot talk to the server at this socket; undefined when they can, or nothing is known. */
export class ServerProgram {
  #asked: { readonly program: string; readonly version: string | undefined } | undefined;

  async clash({ socketPath, ours, env }: ProgramQuestion): Promise<AppError | undefined> {
    const pid = listenerAt(socketPath);
    if (pid === undefined) return undefined;
    const path = `/proc/${pid}/exe`;
    const program = identityOf(pid, path);
    if (program === undefined) return undefined;
    // The same process of the same program has the same version: it is started once to say it.
    if (this.#asked?.program !== program) this.#asked = { program, version: await askVersion(path, env) };
    const { version } = this.#asked;
    if (version === undefined || speech(version) === speech(ours)) return undefined;
    return new AppError(
      "TMUX_UNAVAILABLE",
      `the tmux server at ${socketPath} (process ${pid}) is ${version}, and our ${ours} cannot talk to it: put the server's version first on PATH, or end that server, which ends the programs in it`,
      { details: { reason: "tmux_versions_differ", server: version, client: ours } },
    );
  }
}

const speech = (answer: string): "old" | "new" =>
  (releaseOf(answer.replace(/^tmux /, "")) ?? Infinity) < SPEAKS_ANEW ? "old" : "new";

function identityOf(pid: number, path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${pid} ${dev} ${ino}`;
  } catch {
    return undefined;
  }
}

/** The process of ours that listens at the socket. */
function listenerAt(socketPath: string): number | undefined {
  const inode = listeningInode(socketPath);
  if (inode === undefined) return undefined;
  const wanted = `socket:[${inode}]`;
  return readable(() => readdirSync("/proc"), [])
    .filter(
      (name) => /^\d+$/.test(name) && readable(() => readFileSync(`/proc/${name}/comm`, "utf8"), "").startsWith("tmux"),
    )
    .map(Number)
    .find((pid) =>
      readable(() => readdirSync(`/proc/${pid}/fd`), []).some(
        (fd) => readable(() => readlinkSync(`/proc/${pid}/fd/${fd}`), "") === wanted,
      ),
    );
}

/** `Num RefCount Protocol Flags Type St Inode Path`; the flag says that connections are accepted. */
function listeningInode(socketPath: string): string | undefined {
  for (const line of readable(() => readFileSync("/proc/net/unix", "utf8"), "").split("\n")) {
    const match = /^\S+ \S+ \S+ 00010000 \S+ \S+ +(\d+) (.+)$/.exec(line);
    if (match?.[2] === socketPath) return match[1];
  }
  return undefined;
}

/** What a process does not show us, or no longer, is as if it were not there. */
function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
