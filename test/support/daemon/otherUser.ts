/** A process of another user: a client, a tmux server. Only root can start one. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** Nobody, who owns nothing and may do nothing. */
export const OTHER_UID = 65_534;

export const isRoot = process.getuid?.() === 0;

/** Say so where a test is skipped. */
export function tellSkip(what: string): void {
  if (!isRoot) process.stderr.write(`not root: ${what} needs a second user, its test is skipped\n`);
}

/** A tmux command of another user. Returns what it complained of; empty when it did as told. */
export function tmuxAsUser(uid: number, ...args: readonly string[]): string {
  const { status, stderr, error } = spawnSync("tmux", ["-f", "/dev/null", ...args], {
    uid,
    gid: uid,
    cwd: "/",
    encoding: "utf8",
  });
  return status === 0 ? "" : `${error?.message ?? stderr} (status ${status})`;
}

/**
 * A directory in which another user can start a tmux server, found by trying: a temporary directory may stand below one
 * that is closed to others. Undefined, and said, when there is none.
 */
export function parentForUser(uid: number, what: string): string | undefined {
  if (!isRoot) return undefined;
  const complaints: string[] = [];
  for (const parent of new Set([tmpdir(), "/tmp", "/var/tmp"])) {
    const directory = mkdtempSync(join(parent, "tmuxwire-"));
    try {
      chmodSync(directory, 0o1777);
      const socketPath = join(directory, "try");
      // A command of several words is started without the user's shell, which may be one that refuses.
      const complaint = tmuxAsUser(uid, "-S", socketPath, "new-session", "-d", "sleep", "600");
      if (complaint === "") tmuxAsUser(uid, "-S", socketPath, "kill-server");
      if (complaint === "") return parent;
      complaints.push(`${parent}: ${complaint.trim()}`);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  process.stderr.write(`user ${uid} can start tmux nowhere: ${what} is skipped (${complaints.join("; ")})\n`);
  return undefined;
}

const CLIENT = `
const [uid, raw] = [process.getuid(), JSON.parse(process.argv[1])];
const socket = require("net").connect(raw.port, raw.host, () => raw.closes ? socket.end(raw.text) : socket.write(raw.text));
let answer = "";
socket.on("data", (chunk) => { answer += chunk; });
socket.on("error", () => undefined);
socket.on("close", () => process.stdout.write(JSON.stringify({ uid, answer })));
`;

interface RawResponse {
  /** The client's own, to be sure that it was another's. */
  readonly uid: number;
  readonly answer: string;
}

/** Sends this text and reads until the other side ends. */
export async function asUser(
  uid: number,
  request: { readonly host?: string; readonly port: number; readonly text: string; readonly closes?: boolean },
): Promise<RawResponse> {
  const child = spawn(process.execPath, ["-e", CLIENT, JSON.stringify({ host: "127.0.0.1", ...request })], {
    uid,
    gid: uid,
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(await text(child.stdout)) as RawResponse;
}
