/**
 * The command lines of ssh: one process that stays connected and forwards (the master, ssh(1) -M), and short ones that ask it
 * for something through its control socket. Nothing secret is in them: every user of the machine can read them.
 */
import { AppError, invalidArgument } from "../../protocol/errors.ts";
import { shellWord } from "../../protocol/text/shellWord.ts";

/** Printed by the master's `LocalCommand` once it is logged in and its control socket listens. */
export const CONNECTED = "connected";

const MAX_DESTINATION_CHARS = 512;

const option = (...values: readonly string[]): readonly string[] => values.flatMap((value) => ["-o", value]);

export interface SshDestination {
  /** As ssh takes it: `build`, `me@build.example`, `ssh://me@build.example:2222`. */
  readonly destination: string;
  /** Instead of the user's ssh configuration. */
  readonly configFile?: string | undefined;
}

/**
 * The one process that stays. What the user's configuration says of the host holds, but for what would share the connection,
 * open others' ports through it, or run something in it.
 * @throws AppError INVALID_ARGUMENT
 */
export function masterArguments({ destination, configFile }: SshDestination, controlPath: string): readonly string[] {
  return [
    ...(configFile === undefined ? [] : ["-F", configFile]),
    "-S",
    controlPath,
    "-NTax",
    ...option("BatchMode=yes", "ConnectTimeout=10"),
    // A connection that is dead is found within 10 s.
    ...option("ServerAliveInterval=3", "ServerAliveCountMax=2"),
    ...option("ControlMaster=yes", "ControlPersist=no"),
    // Ours is added later, by `forwardArguments`.
    ...option("ClearAllForwardings=yes", "ExitOnForwardFailure=yes", "StreamLocalBindUnlink=yes", "Tunnel=no"),
    ...option("PermitLocalCommand=yes", `LocalCommand=echo ${CONNECTED}`, "RemoteCommand=none", "RequestTTY=no"),
    // Failures are told apart by what it prints.
    ...option("LogLevel=INFO"),
    "--",
    requireDestination(destination),
  ];
}

/**
 * A connection that a person opens in a terminal, where ssh may ask; it goes on in the background, for the link to use.
 * @throws AppError INVALID_ARGUMENT
 */
export function loginArguments({ destination, configFile }: SshDestination, loginPath: string): readonly string[] {
  return [
    ...(configFile === undefined ? [] : ["-F", configFile]),
    "-S",
    loginPath,
    "-MNTfax",
    ...option("ControlPersist=yes", "ConnectTimeout=10", "ServerAliveInterval=3", "ServerAliveCountMax=2"),
    ...option("ClearAllForwardings=yes", "Tunnel=no", "PermitLocalCommand=no", "RemoteCommand=none", "RequestTTY=no"),
    "--",
    requireDestination(destination),
  ];
}

/** Reads no configuration, and cannot connect by itself when the master is gone: `ProxyCommand` would have to. */
const throughMaster = (controlPath: string): readonly string[] => [
  "-F",
  "none",
  "-S",
  controlPath,
  "-T",
  ...option("BatchMode=yes", "ControlMaster=no", "ProxyCommand=false"),
];

/** For commands, ssh wants the name of a host, which the control socket stands for. */
const ANY_HOST = ["--", "host"];

export const commandArguments = (controlPath: string, command: string): readonly string[] => [
  ...throughMaster(controlPath),
  ...ANY_HOST,
  command,
];

/** A session with a terminal of its own, which sshd hangs up when the session ends. */
export const terminalArguments = (controlPath: string, command: string): readonly string[] => [
  ...throughMaster(controlPath),
  "-tt",
  ...option("EscapeChar=none"),
  ...ANY_HOST,
  command,
];

/** @param local and `remote`: paths without `:`, `%`, `$` and `\`, which mean something to ssh */
export const forwardArguments = (controlPath: string, local: string, remote: string): readonly string[] => [
  ...throughMaster(controlPath),
  ...option("ExitOnForwardFailure=yes", "StreamLocalBindUnlink=yes"),
  "-O",
  "forward",
  "-L",
  `${local}:${remote}`,
  ...ANY_HOST,
];

/** Lasts as long as the login does. */
export const alongArguments = (loginPath: string): readonly string[] => [
  ...throughMaster(loginPath),
  "-O",
  "proxy",
  "-N",
  ...ANY_HOST,
];

export const cancelArguments = (controlPath: string, local: string, remote: string): readonly string[] => [
  ...throughMaster(controlPath),
  "-O",
  "cancel",
  "-L",
  `${local}:${remote}`,
  ...ANY_HOST,
];

export const checkArguments = (controlPath: string): readonly string[] => [
  ...throughMaster(controlPath),
  "-O",
  "check",
  ...ANY_HOST,
];

export const exitArguments = (controlPath: string): readonly string[] => [
  ...throughMaster(controlPath),
  "-O",
  "exit",
  ...ANY_HOST,
];

/**
 * A line for the user's shell on the host, whichever it is.
 * @throws AppError INVALID_ARGUMENT
 */
export const hostInfoCommandLine = (program: string): string => `${requireProgram(program)} host-info`;

/** Decodes its first argument and runs it with the others. */
const RUN_DECODED = `eval "shift; $(printf %b "$1")"`;

/**
 * A script of `sh` with these arguments, words of a shell already, as a line for the user's shell, whichever it is: csh takes
 * no line end in quotes, and a `!` even there for its own.
 */
export function scriptLine(script: string, ...words: readonly string[]): string {
  const octal = (char: string): string => `\\0${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
  const encoded = script.replaceAll(/[\n!'\\]/g, octal);
  return ["exec", "/bin/sh", "-c", shellWord(RUN_DECODED), "tmuxwire", shellWord(encoded), ...words].join(" ");
}

/** A program on the host as a word for its shell: only a path of odd characters is quoted, and `~` stays one. @throws AppError INVALID_ARGUMENT */
export function requireProgram(program: string): string {
  if (program === "" || /^-|\p{C}/u.test(program)) {
    const shown = JSON.stringify(program.slice(0, 100));
    throw invalidArgument(`${shown} is no path of a program: give its path on the host`);
  }
  return /^[\w./~+-]+$/.test(program) ? program : shellWord(program);
}

/**
 * What a shell would read as its own is refused, as newer releases of ssh do: the user's configuration may hand a host's name
 * to one (`ProxyCommand`, `Match exec`).
 * @throws AppError INVALID_ARGUMENT
 */
export function requireDestination(destination: string): string {
  const isOdd = /^-|[\s\p{C}'"`$\\;&<>|(){}]/u.test(destination);
  if (destination !== "" && destination.length <= MAX_DESTINATION_CHARS && !isOdd) return destination;
  throw new AppError(
    "INVALID_ARGUMENT",
    `${JSON.stringify(destination.slice(0, 100))} is no destination for ssh: give a host as \`build\`, \`me@build.example\` or \`ssh://me@build.example:2222\``,
  );
}
