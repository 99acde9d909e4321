/**
 * A host to reach over ssh: a real sshd on the loopback interface with keys of its own, behind which the same user has other
 * directories, another PATH, and with them a tmuxwire and a tmux server of their own. As root and as anybody else.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { userInfo } from "node:os";
import process from "node:process";
import { findProgram } from "../../../daemon/host/findProgram.ts";
import { localHost } from "../../../daemon/host/localHost.ts";
import { eventually } from "../clock/eventually.ts";
import { Waiters } from "../clock/waiters.ts";
import { builtCli } from "./cliBuild.ts";
import { behind, type CliSandbox, cliSandbox } from "./cliSandbox.ts";

interface SshHostOptions {
  /** More lines for sshd_config; the first of a keyword counts. */
  readonly sshd?: readonly string[];
  /** More lines for the client's configuration of the host `build`. */
  readonly client?: readonly string[];
  /** A pattern of names for it; default `build`. */
  readonly names?: string;
  readonly hasTmuxwire?: boolean;
  readonly hasTmux?: boolean;
  /** A shell command that sshd, and with it everything on the host, has behind it in a mount namespace of its own; as root. */
  readonly mounts?: (sandbox: CliSandbox) => string;
}

export interface SshHost extends AsyncDisposable {
  /** The host's directories, tmux and daemon. */
  readonly sandbox: CliSandbox;
  /** For `ssh -F`: knows the host as `build`. */
  readonly configFile: string;
  readonly port: number;
  /** The same, through another port. */
  configThrough(port: number): string;
  /** What sshd has logged. */
  log(): string;
  /** The first match in what sshd logs. */
  logged(pattern: RegExp): Promise<RegExpExecArray>;
  /** The server; each connection has processes below it. */
  sshdPid(): number;
  /** The daemon that listens on the host. */
  daemonPid(): number | undefined;
  /** No more connections; those that exist stay. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Another key from now on; sshd must be started anew. */
  changeKey(): void;
}

export async function sshHost(options: SshHostOptions = {}): Promise<SshHost> {
  const { hasTmuxwire = true, hasTmux = true } = options;
  const sandbox = cliSandbox();
  const path = (...parts: string[]): string => sandbox.path(...parts);
  const cli = `#!/bin/sh\nexec '${process.execPath}' '${builtCli()}' "$@"\n`;
  const binaries = sandbox.binaries("bin", hasTmuxwire ? { tmuxwire: cli } : {});
  if (hasTmux) symlinkSync((await program("tmux")) ?? "tmux", path("bin", "tmux"));
  // The system's own tmux must not be found, and without one nothing else is needed.
  const searched = hasTmux ? behind(binaries) : binaries;
  const port = await freePort();
  for (const name of ["hostKey", "userKey"]) makeKey(path(name));
  const environment: Readonly<Record<string, string>> = { ...sandbox.env, PATH: searched, TMUXWIRE_PORT: "0" };
  const config = [
    ...(options.sshd ?? []),
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${path("hostKey")}`,
    `AuthorizedKeysFile ${path("userKey.pub")}`,
    "PidFile none",
    "UsePAM no",
    "StrictModes no",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    `SetEnv ${Object.entries(environment)
      .map(([name, value]) => `"${name}=${value}"`)
      .join(" ")}`,
  ];
  writeFileSync(path("sshd_config"), `${config.join("\n")}\n`);
  const configFile = path("ssh_config");
  const client = [
    ...(options.client ?? []),
    "HostName 127.0.0.1",
    `Port ${port}`,
    `User ${userInfo().username}`,
    `IdentityFile ${path("userKey")}`,
    "IdentitiesOnly yes",
    "IdentityAgent none",
    `UserKnownHostsFile ${path("known_hosts")}`,
    "GlobalKnownHostsFile none",
  ];
  writeFileSync(configFile, `Host ${options.names ?? "build"}\n${client.map((line) => `  ${line}\n`).join("")}`);
  const [type, key] = readFileSync(path("hostKey.pub"), "utf8").split(" ");
  writeFileSync(path("known_hosts"), `[127.0.0.1]:${port} ${type} ${key}\n`);

  let log = "";
  let sshd: ChildProcess | undefined;
  const waiters = new Waiters();
  // sshd runs itself again for each connection, and wants to be called by its whole path.
  const executable = (await program("sshd")) ?? "sshd";
  // As root it wants a directory for its unprivileged part, which the system's service makes.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const logged: SshHost["logged"] = (pattern) => waiters.until(() => pattern.exec(log) ?? undefined);
  const stop = async (): Promise<void> => {
    const stopping = sshd;
    sshd = undefined;
    if (stopping === undefined || stopping.exitCode !== null) return;
    const ended = once(stopping, "exit");
    stopping.kill("SIGTERM");
    await ended;
  };
  const start = async (): Promise<void> => {
    const from = log.length;
    const words = [executable, "-D", "-e", "-f", path("sshd_config")];
    const mounted = ["unshare", "--mount", "sh", "-c", `${options.mounts?.(sandbox)} && exec "$@"`, "sh", ...words];
    const [file = "", ...args] = options.mounts === undefined ? words : mounted;
    sshd = spawn(file, args, { stdio: ["ignore", "ignore", "pipe"] });
    sshd.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      waiters.probe();
    });
    const gone = once(sshd, "exit").then(() => Promise.reject(new Error(`sshd ended: ${log.slice(from)}`)));
    gone.catch(() => undefined);
    await Promise.race([waiters.until(() => log.includes("Server listening", from) || undefined), gone]);
  };
  const daemonPid = (): number | undefined =>
    existsSync(sandbox.socketPath) ? localHost().sockets.listenerOf(sandbox.socketPath) : undefined;
  await start();
  return {
    sandbox,
    configFile,
    port,
    configThrough: (other) => {
      const file = path(`ssh_config_${other}`);
      writeFileSync(file, readFileSync(configFile, "utf8").replace(`Port ${port}`, `Port ${other}`));
      appendFileSync(path("known_hosts"), `[127.0.0.1]:${other} ${type} ${key}\n`);
      return file;
    },
    log: () => log,
    logged,
    sshdPid: () => sshd?.pid ?? -1,
    daemonPid,
    stop,
    start,
    changeKey: () => {
      for (const file of ["hostKey", "hostKey.pub"]) rmSync(path(file));
      makeKey(path("hostKey"));
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      const pid = daemonPid();
      if (pid !== undefined) process.kill(pid, "SIGTERM");
      await eventually(() => daemonPid() === undefined, 10);
      await sandbox[Symbol.asyncDispose]();
    },
  };
}

const program = (name: string): Promise<string | undefined> =>
  findProgram(name, `${process.env["PATH"] ?? ""}:/usr/local/sbin:/usr/sbin:/sbin`, "/");

function makeKey(file: string): void {
  const { status, stderr } = spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`ssh-keygen: ${stderr}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** Lines for a start-up file that the host's shell reads when it runs a command. */
export function addToStartup(host: SshHost, text: string): void {
  for (const file of [".bashrc", ".zshenv"]) appendFileSync(host.sandbox.path("home", file), text);
}

/** The pids of the ssh clients whose command line names this folder. */
export const sshClients = (root: string): readonly number[] =>
  readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
      return line.startsWith("ssh ") && line.includes(root) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
